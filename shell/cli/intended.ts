/** What the API server would store of a resource in a file, for `diff`. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { converted } from "../../core/api/convert.ts";
import { API_VERSION } from "../../core/api/v1alpha2.ts";
import { type JsonObject, member, objectAt, put, stringAt, withMember } from "../../core/data/json.ts";
import { creation, replacement } from "../../core/plan/patch.ts";
import { groupPath } from "../../core/snapshot/kinds.ts";
import { Cluster, type ClusterError } from "../kubernetes/cluster.ts";
import { pathOf } from "../kubernetes/object_path.ts";
import { keyOfResource } from "./look.ts";

/** A resource of a file as the API server would store it, and what had to be guessed. */
export interface Intended {
  readonly resource: JsonObject;
  readonly note: string | undefined;
}

/**
 * A dry run by the API server: the response contains its defaults, rule violations and generation, and nothing is
 * written. If a dry run is not possible, the document is merged into the live object.
 */
export const intended = Effect.fn("intended")(function* (document: JsonObject, namespace: string) {
  const cluster = yield* Cluster;
  const name = stringAt(document, "metadata", "name") ?? "";
  const key = keyOfResource(namespace, name);
  const live = yield* cluster.get(key);
  // Merged in its own version: fields that only v1alpha2 has are kept, as with `kubectl apply`.
  const before = live === undefined ? undefined : converted(live, stringAt(document, "apiVersion") ?? "");
  const wanted = converted(laidOver(document, namespace, before), API_VERSION);
  const query = `?${new URLSearchParams({ dryRun: "All", fieldValidation: "Strict" })}`;
  const collection = `${groupPath(API_VERSION)}/namespaces/${encodeURIComponent(namespace)}/llamastackdistributions`;
  const path = pathOf(key);
  const asked = live === undefined || path === undefined
    ? cluster.send(creation(`${collection}${query}`, wanted))
    : cluster.send(replacement(`${path}${query}`, wanted));
  const answer = yield* Effect.result(asked);
  if (Result.isSuccess(answer)) {
    const stored: Intended = { resource: answer.success, note: undefined };
    return stored;
  }
  const error: ClusterError = answer.failure;
  // No permission, no CRD, no namespace: the operator's own rules are still checked.
  if (error._tag !== "Forbidden" && error._tag !== "NotFound") return yield* error;
  const guessed: Intended = {
    resource: wanted,
    note:
      `${name}: defaults and rules of the API server are not applied, because it rejected the dry run: ${error.detail}`,
  };
  return guessed;
});

/** As `kubectl replace` would send it; annotations that others wrote stay, as they do under `kubectl apply`. */
const laidOver = (document: JsonObject, namespace: string, live: JsonObject | undefined): JsonObject => {
  const metadata = withMember(objectAt(document, "metadata"), "namespace", namespace);
  if (live === undefined) return withMember(document, "metadata", metadata);
  const merged = (field: string): JsonObject => ({
    ...objectAt(live, "metadata", field),
    ...objectAt(metadata, field),
  });
  const status = member(live, "status");
  const placed = withMember(document, "metadata", {
    ...objectAt(live, "metadata"),
    labels: merged("labels"),
    annotations: merged("annotations"),
  });
  return put(placed, ["status"], status);
};
