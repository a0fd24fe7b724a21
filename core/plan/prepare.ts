/**
 * From the observed state to the desired objects of a resource, or all failures.
 *
 * Resolve references → derive the config → resolve connections → build objects. The failures of all steps are
 * collected, and `PreparationFailure` is inferred from the failures that each step declares.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { type DecodeFailure, decodeResource, type Resource } from "../api/decode.ts";
import { storedWarnings } from "../admission/change_rules.ts";
import { derivation, type Derived, warningsOf } from "../config/derive.ts";
import { sha256Hex } from "../data/digest.ts";
import { TooManyReferences } from "../failure/failures.ts";
import { stringAt } from "../data/json.ts";
import { REFERENCED_OBJECTS_MAX } from "../data/limits.ts";
import type { Blueprint } from "../resources/blueprint.ts";
import { type Contents, type Objects, objectsOf } from "../resources/objects.ts";
import { blueprintOf, configContentOf, type Place } from "../resources/of_resource.ts";
import type { Warning } from "../failure/warning.ts";
import { bundled } from "./ca_bundle.ts";
import { type Inputs, inputsOf, pinsOf } from "./inputs.ts";
import { secretsDigest } from "./rollout/keyed_digests.ts";
import { ownConfigOf } from "./own_config.ts";
import { referenceFailures } from "./reference_failures.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "../snapshot/references.ts";
import { kvParts, sqlParts, trappedKeys, usedValues } from "./secret_values.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";

export interface Prepared {
  readonly resource: Resource;
  readonly derived: Derived;
  readonly blueprint: Blueprint;
  readonly objects: Objects;
  readonly warnings: ReadonlyArray<Warning>;
  /** How many references to Secrets were found. */
  readonly secretReferences: number;
  readonly inputs: Inputs;
  /** Digest of what the operator's release decides: image and base. */
  readonly pins: string;
  /** Version of the server, where it is known. */
  readonly server: string | undefined;
}

export interface Unprepared<E = PreparationFailure> {
  /** At least one. */
  readonly failures: ReadonlyArray<E>;
  readonly warnings: ReadonlyArray<Warning>;
  /** The decoded resource, when it could be decoded. */
  readonly resource: Resource | undefined;
  /** What the user decides now; undefined where the resource could not be decoded. */
  readonly inputs: Inputs | undefined;
}

/** Everything that can keep a resource from its objects, before any of them is compared with what exists. */
export type PreparationFailure = Effect.Error<ReturnType<typeof preparation>>["failures"][number];

/** `decoded` is the resource of the same sources, where it was needed earlier. */
export const prepare = (
  snapshot: Sources,
  decoded = decodeResource(snapshot.resource, "lenient"),
): Result.Result<Prepared, Unprepared> => Effect.runSync(Effect.result(preparation(snapshot, decoded)));

const preparation = Effect.fnUntraced(function* (
  snapshot: Sources,
  decoded: Result.Result<Resource, ReadonlyArray<DecodeFailure>>,
) {
  const resource = yield* Effect.fromResult(decoded).pipe(
    Effect.mapError((failures) => ({ failures, warnings: [], resource: undefined, inputs: undefined })),
  );
  const namespace = stringAt(snapshot.resource, "metadata", "namespace") ?? "default";
  const references = permitted(referencesOf(resource.spec), namespace, snapshot.operator.surroundings);
  const count = referencedObjects(references).length;
  if (count > REFERENCED_OBJECTS_MAX) {
    const failure = new TooManyReferences({ path: ["spec"], count, max: REFERENCED_OBJECTS_MAX });
    return yield* Effect.fail({ failures: [failure], warnings: [], resource, inputs: undefined });
  }
  const derived = yield* Effect.result(derivation(resource, snapshot.operator.surroundings));
  const ownConfig = ownConfigOf(resource, snapshot, namespace);
  const caBundle = bundled(references.filter(({ path }) => path.includes("caBundle")), snapshot.configMaps, namespace);
  // Which server it is decides how a connection is split; the stricter rules hold where that is unknown.
  const rawUrl = Result.isSuccess(derived) && derived.success._tag === "Generated"
    ? derived.success.server.family.rawSqlUrl
    : true;
  const sql = sqlParts(resource, snapshot, rawUrl);
  const values = usedValues(references, snapshot);
  const digest = secretsDigest(
    snapshot.operator.hmacKey,
    namespace,
    values,
  );
  const inputs = inputsOf(resource, snapshot, {
    namespace,
    configMapDigest: configMapDigest(references, snapshot, namespace),
    secretsDigest: digest,
  });
  const failures = [
    ...(Result.isFailure(derived) ? derived.failure.failures : []),
    ...referenceFailures(references, snapshot, namespace),
    ...(Result.isFailure(ownConfig) ? [ownConfig.failure] : []),
    ...(Result.isFailure(caBundle) ? [caBundle.failure] : []),
    ...trappedKeys(resource, snapshot),
    // How a connection must be split is not known where no server is.
    ...(Result.isSuccess(derived) && Result.isFailure(sql) ? [sql.failure] : []),
  ];
  if (
    Result.isFailure(derived) || Result.isFailure(ownConfig) || Result.isFailure(caBundle) || Result.isFailure(sql) ||
    failures.length > 0
  ) {
    const warnings = Result.isFailure(derived) ? derived.failure.warnings : [];
    return yield* Effect.fail({ failures, warnings, resource, inputs });
  }
  const place: Place = {
    namespace,
    uid: stringAt(snapshot.resource, "metadata", "uid"),
    platform: snapshot.operator.platform,
    ownConfig: ownConfig.success,
    podAnnotations: {
      // `Never` leaves it out, so that pods keep the value they started with.
      ...(resource.spec.workload?.restartPolicyOnSecretChange === "Never" || values.length === 0
        ? {}
        : { [SECRETS_ANNOTATION]: digest }),
      ...(caBundle.success === undefined ? {} : { [CA_ANNOTATION]: sha256Hex(caBundle.success) }),
    },
  };
  const blueprint = blueprintOf(resource, derived.success, place);
  const contents: Contents = {
    config: configContentOf(derived.success, place),
    connections: { sql: sql.success, kv: kvParts(resource, snapshot) },
    caBundlePem: caBundle.success,
  };
  const prepared: Prepared = {
    resource,
    derived: derived.success,
    blueprint,
    objects: objectsOf(blueprint, contents),
    warnings: [...warningsOf(derived.success), ...storedWarnings(snapshot.resource)],
    secretReferences: references.filter(({ kind, operatorOnly }) => kind === "Secret" && operatorOnly !== true).length,
    inputs,
    pins: pinsOf(derived.success),
    server: derived.success._tag === "Generated"
      ? derived.success.server.version
      : derived.success.distribution.server?.version,
  };
  return prepared;
});

/** Annotation of the pod template: HMAC over the referenced Secret values; a change of it restarts the pods. */
export const SECRETS_ANNOTATION = "llamastack.io/secrets-digest";
/** Annotation of the pod template: digest of the CA bundle. */
export const CA_ANNOTATION = "llamastack.io/ca-bundle-digest";

const configMapDigest = (references: ReadonlyArray<Reference>, { configMaps }: Sources, namespace: string): string =>
  sha256Hex(
    referencedObjects(references).filter(({ kind }) => kind === "ConfigMap")
      .map(({ name, namespace: other = namespace }) => JSON.stringify(configMaps.get(`${other}/${name}`) ?? null))
      .join("\n"),
  );
