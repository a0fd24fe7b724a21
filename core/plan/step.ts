/** A decision is data: the steps in the order in which they are made, each with its reason. */
import { Data } from "effect";
import type { Manifest } from "../resources/blueprint.ts";
import type { Note } from "../status/events.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { ReconcileFailure } from "../failure.ts";

export interface ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export type Step = Data.TaggedEnum<{
  /** Server-side apply of one object; `blocks` says whether a refusal stops the steps behind it (R35). */
  Apply: { readonly manifest: Manifest; readonly why: string; readonly blocks: boolean };
  /** Deletes one object of ours, and only the one that was seen: the uid is a precondition. */
  Prune: { readonly key: ObjectKey; readonly uid: string; readonly why: string };
  /** Changes the number of pods and nothing else. */
  Scale: { readonly key: ObjectKey; readonly replicas: number; readonly why: string };
  /** Says something to the owner of the resource, once. */
  Announce: { readonly note: Note };
  SetStatus: { readonly status: Status; readonly why: string };
}>;
export const Step = Data.taggedEnum<Step>();

export interface Plan {
  readonly steps: ReadonlyArray<Step>;
  /** Look again after this many milliseconds, even if nothing changes; undefined: wait for a change. */
  readonly lookAgainMs: number | undefined;
  /** What stands in the way, for log and metrics. */
  readonly failures: ReadonlyArray<ReconcileFailure>;
}

export const keyOf = ({ apiVersion, kind, metadata }: Manifest): ObjectKey => ({
  apiVersion,
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
});
