/** Prevents writes of a replica that lost its lease. */
import * as Context from "effect/Context";
import { ClusterError } from "./cluster_error.ts";

/** Asked before each write; without leader election, and for what every replica writes, it lets everything through. */
export const Fence: Context.Reference<{ readonly mayWrite: () => boolean }> = Context.Reference(
  "llama-stack-operator/shell/Fence",
  { defaultValue: (): { readonly mayWrite: () => boolean } => ({ mayWrite: () => true }) },
);

/** Why writes are blocked. Counts as unreachable, so that it is not treated as a rejection of the object. */
export const fenced = (verb: string, path: string): ClusterError =>
  new ClusterError({
    verb,
    path: path.split("?")[0] ?? path,
    status: undefined,
    reason: NOT_LEADING,
    detail: "the lease was not renewed in time",
    retryAfterMs: undefined,
  });

/** An immediate retry would not help: reconciliation starts again when this replica leads again. */
export const isFenced = (error: ClusterError): boolean => error.reason === NOT_LEADING;

const NOT_LEADING = "NotLeading";
