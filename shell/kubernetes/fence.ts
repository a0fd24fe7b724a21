/** What stands between a replica that lost its lease and the API server. */
import * as Context from "effect/Context";
import { ClusterError } from "./cluster_error.ts";

/** Asked before each write; without leader election, and for what every replica writes, it lets everything through. */
export const Fence: Context.Reference<{ readonly mayWrite: () => boolean }> = Context.Reference(
  "llama-stack-operator/shell/Fence",
  { defaultValue: (): { readonly mayWrite: () => boolean } => ({ mayWrite: () => true }) },
);

/** Why nothing may be written. Counts as unreachable, so that nobody takes it for a refusal of the object. */
export const fenced = (verb: string, path: string): ClusterError =>
  new ClusterError({
    verb,
    path: path.split("?")[0] ?? path,
    status: undefined,
    reason: NOT_LEADING,
    detail: "the lease was not renewed in time",
    retryAfterMs: undefined,
  });

/** Trying again in a moment would not help: the pass starts anew where this replica leads again. */
export const isFenced = (error: ClusterError): boolean => error.reason === NOT_LEADING;

const NOT_LEADING = "NotLeading";
