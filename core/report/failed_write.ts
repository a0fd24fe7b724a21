/** The API server's response to a failed write → a failure for the status. */
import { DeletionRefused, ObjectRefused, type Unwritten, WriteFailed } from "../failure/failures.ts";
import { valuesRead } from "../plan/secret_values.ts";
import { withoutSecrets } from "../data/redaction.ts";
import { refusedFields } from "./refused_fields.ts";
import type { WriteStep } from "../plan/step.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { liveResource } from "../snapshot/live_resource.ts";

/** What the API server, or a webhook behind it, answered to a write. */
export interface Answered {
  /** For people. */
  readonly status: number;
  /** The API server could not answer as it should, whatever the object. */
  readonly isServerError: boolean;
  /** The API server's message, which may quote the request. */
  readonly detail: string;
  /** Paths in the object that it rejects. */
  readonly fields: ReadonlyArray<string>;
}

/**
 * Server errors resolve themselves; every other error is about the object. What follows on a number of pods or a field manager
 * rests on it, and waits.
 */
export const failedWrite = (
  step: WriteStep,
  { status, isServerError, detail, fields }: Answered,
  snapshot: ClusterSnapshot,
): Unwritten => {
  const shown = withoutSecrets(detail, valuesRead(snapshot));
  const path = ["metadata", "name"];
  if (step._tag === "Prune") {
    return new DeletionRefused({ path, kind: step.key.kind, name: step.key.name, detail: `${status} ${shown}` });
  }
  const { kind, name } = step._tag === "Apply" ? { kind: step.manifest.kind, ...step.manifest.metadata } : step.key;
  const blocks = step._tag !== "Apply" || step.blocks;
  return isServerError
    ? new WriteFailed({ path, kind, name, detail: `${status} ${shown}`, blocks })
    : new ObjectRefused({
      path,
      kind,
      name,
      detail: shown,
      setBy: step._tag === "Apply" ? refusedFields(step.manifest, liveResource(snapshot.resource).spec, fields) : [],
      blocks,
    });
};
