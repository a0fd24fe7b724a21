/**
 * Kubernetes types inside the API of the operator (volumes, env, affinity, …).
 *
 * Their schemas are the API server's own, recorded by `deno task record-kubernetes-types`; their TypeScript types are
 * those of the Kubernetes client library, converted to the JSON form. Types only: no code of the library runs.
 */
import * as Schema from "effect/Schema";
import type * as k8s from "@kubernetes/client-node";
import recorded from "./kubernetes_types.json" with { type: "json" };
import { structuralFindings, type StructuralSchema } from "./structural_check.ts";

/** What the client library calls Date or `_from` is a string or `from` in JSON. */
export type Wire<T> = T extends Date ? string
  : T extends ReadonlyArray<infer Item> ? ReadonlyArray<Wire<Item>>
  : T extends object ? { readonly [Key in keyof T as Key extends `_${infer Bare}` ? Bare : Key]: Wire<T[Key]> }
  : T;

export type EnvVar = Wire<k8s.V1EnvVar>;
export type Volume = Wire<k8s.V1Volume>;
export type VolumeMount = Wire<k8s.V1VolumeMount>;

interface Embedded {
  readonly Affinity: Wire<k8s.V1Affinity>;
  readonly EnvFromSource: Wire<k8s.V1EnvFromSource>;
  readonly EnvVar: EnvVar;
  readonly LocalObjectReference: Wire<k8s.V1LocalObjectReference>;
  readonly PodResourceClaim: Wire<k8s.CoreV1ResourceClaim> & { readonly resourceClaimName?: string };
  readonly PodSecurityContext: Wire<k8s.V1PodSecurityContext>;
  readonly ResourceRequirements: Wire<k8s.V1ResourceRequirements>;
  readonly Toleration: Wire<k8s.V1Toleration>;
  readonly TopologySpreadConstraint: Wire<k8s.V1TopologySpreadConstraint>;
  readonly Volume: Volume;
  readonly VolumeMount: VolumeMount;
}

/** The annotation by which the CRD writer puts the recorded schema in place. */
export const EMBEDDED_TYPE = "x-kubernetes-embedded-type";

/** The recorded structural schema of each Kubernetes type. */
export const EMBEDDED_SCHEMAS = recorded as unknown as Readonly<Record<keyof Embedded, StructuralSchema>>;

/** A field of one Kubernetes type, checked as the API server checks it. */
export const embedded = <Name extends keyof Embedded>(name: Name, doc?: string): Schema.Codec<Embedded[Name]> =>
  Schema.Json.annotate({ [EMBEDDED_TYPE]: name, ...(doc === undefined ? {} : { description: doc }) }).check(
    Schema.makeFilter((value) =>
      structuralFindings(EMBEDDED_SCHEMAS[name], value).map(({ path, detail }) => ({ path, issue: detail }))
    ),
    // The filter has just shown that the value has the recorded shape, which the type describes.
  ) as unknown as Schema.Codec<Embedded[Name]>;
