/** The secret values that the operator has read for a resource. */
import * as Redacted from "effect/Redacted";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

/** Every value that was read for the resource, to be looked for in texts. */
export const knownValues = ({ secrets }: Pick<ClusterSnapshot, "secrets">): ReadonlyArray<string> =>
  [...secrets.values()].flatMap((values) => Object.values(values).map(Redacted.value));
