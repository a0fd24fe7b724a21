/** What stands between a replica that lost its lease and the API server. */
import { Context, Effect } from "effect";
import { ClusterError } from "./cluster_error.ts";

/** Asked before each write; without leader election, and for what every replica writes, it lets everything through. */
export const Fence: Context.Reference<{ readonly mayWrite: Effect.Effect<boolean> }> = Context.Reference(
  "llama-stack-operator/shell/Fence",
  { defaultValue: () => ({ mayWrite: Effect.succeed(true) }) },
);

/** Fails where nothing may be written. Counts as unreachable, so that nobody takes it for a refusal of the object. */
export const fenced = (verb: string, path: string): Effect.Effect<void, ClusterError> =>
  Effect.gen(function* () {
    if (yield* (yield* Fence).mayWrite) return;
    return yield* new ClusterError({
      verb,
      path: path.split("?")[0] ?? path,
      status: undefined,
      reason: NOT_LEADING,
      detail: "the lease was not renewed in time",
      retryAfterMs: undefined,
    });
  });

/** Trying again in a moment would not help: the pass starts anew where this replica leads again. */
export const isFenced = (error: ClusterError): boolean => error.reason === NOT_LEADING;

const NOT_LEADING = "NotLeading";
