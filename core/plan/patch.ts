/**
 * A write to the API server as a value: what is sent, as which field manager, and the precondition under which it counts. The
 * shell only carries it there (shell/kubernetes/request.ts).
 */
import * as Data from "effect/Data";
import type { Status } from "../api/v1alpha2.ts";
import type { Json, JsonObject } from "../data/json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import type { ObjectKey } from "../snapshot/object_key.ts";

/** An apply is rejected with 409 where it does not hold, and nothing changes. */
export type Precondition = "must not exist" | "any" | { readonly version: string };

export type Patch = Data.TaggedEnum<{
  /**
   * Server-side apply. Forced: the operator takes ownership of the fields that it contains, whoever wrote them before.
   */
  ServerSideApply: {
    /** Whole, or the applied part of it. */
    readonly object: Manifest;
    readonly fieldManager: string;
    readonly precondition: Precondition;
  };
  /** Server-side apply of a part of an object that has no namespace. */
  ClusterApply: { readonly path: string; readonly part: JsonObject; readonly fieldManager: string };
  /** Replaces who owns which fields; the object itself does not change. */
  ManagedFields: {
    readonly key: ObjectKey;
    readonly version: string;
    readonly managedFields: ReadonlyArray<Json>;
  };
  /** Writes the object as it is, so that the API server stores it in its present version. */
  Touch: { readonly key: ObjectKey; readonly version: string };
  /** Replaces the status. Of the rest only name, uid and version are sent; the API server keeps what it stores. */
  UpdateStatus: {
    readonly resource: JsonObject;
    readonly status: Status;
    readonly fieldManager: string;
  };
  /** Deletes the object with that uid; an empty version matches any. */
  Delete: { readonly key: ObjectKey; readonly uid: string; readonly version: string };
  /** `collection` is a path, as `/api/v1/namespaces/a/secrets`. */
  Create: { readonly collection: string; readonly object: JsonObject };
  /** Replaces a whole object, which carries its own version, at its path. */
  Replace: { readonly path: string; readonly object: JsonObject };
}>;
export const Patch = Data.taggedEnum<Patch>();

export const creation = (collection: string, object: JsonObject): Patch => Patch.Create({ collection, object });

/** `object` carries the version that it replaces. */
export const replacement = (path: string, object: JsonObject): Patch => Patch.Replace({ path, object });
