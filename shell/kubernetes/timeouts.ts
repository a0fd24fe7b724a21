/** Timeouts for responses on a connection that may be dead; shorter only in tests. */
import * as Context from "effect/Context";
import { CALL_TIMEOUT_MS, WATCH_SILENCE_MS } from "../limits.ts";

export const Timeouts: Context.Reference<{ readonly callMs: number; readonly watchMs: number }> = Context.Reference(
  "llama-stack-operator/shell/Timeouts",
  { defaultValue: () => ({ callMs: CALL_TIMEOUT_MS, watchMs: WATCH_SILENCE_MS }) },
);
