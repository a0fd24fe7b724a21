/** How long an answer is waited for from a connection that may be dead; shorter only where a test cannot wait as long. */
import * as Context from "effect/Context";
import { CALL_TIMEOUT_MS, WATCH_SILENCE_MS } from "../limits.ts";

export const Timeouts: Context.Reference<{ readonly callMs: number; readonly watchMs: number }> = Context.Reference(
  "llama-stack-operator/shell/Patience",
  { defaultValue: () => ({ callMs: CALL_TIMEOUT_MS, watchMs: WATCH_SILENCE_MS }) },
);
