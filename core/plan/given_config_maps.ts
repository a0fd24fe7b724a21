/** Without a cluster: a resource with the ConfigMaps that stand beside it in files, judged as a reconciliation judges them. */
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { type DerivationFailure, derive, type Derived, type Surroundings, warningsOf } from "../config/derive.ts";
import type { Rejection } from "../failure/rejection.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import type { CaBundleInvalid, ReferenceTooLarge } from "../failure/failures.ts";
import type { Warning } from "../failure/warning.ts";
import type { ConfigMaps } from "../config/config_map_content.ts";
import { permitted, type Reference, referencesOf } from "../snapshot/references.ts";
import { bundleWarnings, caBundleOf } from "./ca_bundle.ts";
import { type MissingReference, referenceFailures, withReferenceFailures } from "./reference_failures.ts";

export interface Given {
  readonly derived: Derived;
  /** Undefined if the resource has no bundle, or its ConfigMap is in no file. */
  readonly caBundlePem: string | undefined;
  readonly warnings: ReadonlyArray<Warning>;
}

/** `namespace/name` of each ConfigMap that the resource names. */
export const configMapsOf = (resource: Resource): ReadonlyArray<string> =>
  referencesOf(resource.spec).filter(({ kind }) => kind === "ConfigMap").map((reference) => idOf(reference, resource));

const idOf = ({ namespace, name }: Reference, resource: Resource): string =>
  `${namespace ?? resource.namespace ?? NAMESPACE_DEFAULT}/${name}`;

export type GivenFailure = DerivationFailure | MissingReference | ReferenceTooLarge | CaBundleInvalid;

/** `derive`, and what is wrong with the ConfigMaps. Of those that are in no file, and of Secrets, nothing is known. */
export const derivedWith = (
  resource: Resource,
  surroundings: Surroundings & { readonly configMaps: ConfigMaps },
): Result.Result<Given, Rejection<GivenFailure>> => {
  const { spec, namespace = NAMESPACE_DEFAULT } = resource;
  const { configMaps } = surroundings;
  const derived = derive(resource, surroundings);
  const references = permitted(referencesOf(spec), namespace, surroundings)
    .filter((reference) => reference.kind === "ConfigMap" && configMaps.has(idOf(reference, resource)));
  const bundle = caBundleOf(spec, references, configMaps, namespace);
  const failures = [
    ...withReferenceFailures(
      Result.isFailure(derived) ? derived.failure.failures : [],
      referenceFailures(references, { secrets: new Map(), configMaps, tooLarge: [] }, namespace),
    ),
    ...(Result.isFailure(bundle) ? [bundle.failure] : []),
  ];
  if (Result.isFailure(derived) || Result.isFailure(bundle) || failures.length > 0) {
    const warnings = Result.isFailure(derived) ? derived.failure.warnings : warningsOf(derived.success);
    return Result.fail({ failures, warnings });
  }
  const warnings = [...warningsOf(derived.success), ...bundleWarnings(bundle.success)];
  return Result.succeed({ derived: derived.success, caBundlePem: bundle.success, warnings });
};
