/** Prevents writes of a replica that lost its lease. */
import * as Context from "effect/Context";

/** Asked before each write; without leader election, and for what every replica writes, it lets everything through. */
export const Fence: Context.Reference<{ readonly mayWrite: () => boolean }> = Context.Reference(
  "llama-stack-operator/shell/Fence",
  { defaultValue: (): { readonly mayWrite: () => boolean } => ({ mayWrite: () => true }) },
);
