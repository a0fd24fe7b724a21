/**
 * From the observed state to the desired objects of a resource, or all failures.
 *
 * Resolve references → derive the config → resolve connections → build objects. The failures of all steps are
 * collected, and `PreparationFailure` is inferred from the failures that each step declares.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { type DecodeFailure, decodeResource, type Resource } from "../api/decode.ts";
import { storedWarnings } from "../api/change_rules.ts";
import { derivation, type Derived, type Surroundings, warningsOf } from "../config/derive.ts";
import { sha256Hex } from "../data/digest.ts";
import { TooManyReferences } from "../failure/failures.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import { REFERENCED_OBJECTS_MAX } from "../data/limits.ts";
import type { Blueprint } from "../resources/blueprint.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { scalerWarnings } from "../resources/autoscaler.ts";
import { exposureWarnings } from "../resources/exposure_warnings.ts";
import { type Contents, type Objects, objectsOf } from "../resources/objects.ts";
import { blueprintOf, configContentOf, type Place } from "../resources/of_resource.ts";
import type { Warning } from "../failure/warning.ts";
import { bundleAnnotation, bundleDigest, bundleWarnings, caBundleOf } from "./ca_bundle.ts";
import { missingGatewayCa } from "./gateway_ca.ts";
import { platformFor } from "./kept_exposure.ts";
import { type Inputs, inputsOf, pinsOf } from "./inputs.ts";
import { labelsProof, secretsDigest } from "./rollout/keyed_digests.ts";
import { LABELS_ANNOTATION, LABELS_PROOF_ANNOTATION } from "../resources/labels_record.ts";
import type { ConfigContent } from "../resources/config_map.ts";
import { ofNamespace, withTrustedBundle } from "./trusted_bundle.ts";
import { referenceFailures, withReferenceFailures } from "./reference_failures.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "../snapshot/references.ts";
import {
  certificateNames,
  expiredCertificates,
  kvParts,
  lostAuthority,
  sqlParts,
  trappedKeys,
  unusableCertificates,
  usedValues,
} from "./secret_values.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";
import { servingServer } from "./serving_server.ts";
import { liveObject, resourceKey } from "../snapshot/live_object.ts";

export interface Prepared {
  readonly resource: Resource;
  readonly derived: Derived;
  readonly blueprint: Blueprint;
  readonly objects: Objects;
  /** The spec with the port and TLS of the pods that serve. */
  readonly servingSpec: Resource["spec"];
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
  sources: Sources,
  decoded = decodeResource(sources.resource, "lenient"),
): Result.Result<Prepared, Unprepared> => Effect.runSync(Effect.result(preparation(sources, decoded)));

const preparation = Effect.fnUntraced(function* (
  sources: Sources,
  decoded: Result.Result<Resource, ReadonlyArray<DecodeFailure>>,
) {
  const written = yield* Effect.fromResult(decoded).pipe(
    Effect.mapError((failures) => ({ failures, warnings: [], resource: undefined, inputs: undefined })),
  );
  const resource = withTrustedBundle(written, sources, namespaceIn(sources));
  const referenced = yield* referencedBy(resource, sources);
  const parts = yield* partsOf(resource, referenced, sources, resource !== written);
  return preparedFrom(resource, referenced, parts, sources);
});

const namespaceIn = ({ resource }: Sources): string => liveObject(resource).namespace || NAMESPACE_DEFAULT;

/** What the resource references, of what exists. */
const referencedBy = Effect.fnUntraced(function* (resource: Resource, sources: Sources) {
  const namespace = namespaceIn(sources);
  const references = permitted(referencesOf(resource.spec), namespace, sources.operator.surroundings);
  const count = referencedObjects(references).length;
  if (count > REFERENCED_OBJECTS_MAX) {
    const failure = new TooManyReferences({ path: ["spec"], count, max: REFERENCED_OBJECTS_MAX });
    return yield* Effect.fail({ failures: [failure], warnings: [], resource, inputs: undefined });
  }
  const values = usedValues(references, sources);
  const digest = secretsDigest(sources.operator.hmacKey, namespace, values);
  const inputs = inputsOf(resource, sources, {
    namespace,
    configMapDigest: configMapDigest(references, sources, namespace),
    secretsDigest: digest,
  });
  return { namespace, references, hasValues: values.length > 0, secretsDigest: digest, inputs };
});
type Referenced = Effect.Success<ReturnType<typeof referencedBy>>;

/** The config, the CA bundle and the connections; or what is wrong with all of them. */
const partsOf = Effect.fnUntraced(function* (
  resource: Resource,
  { namespace, references, inputs }: Referenced,
  sources: Sources,
  hasBundleOfNamespace: boolean,
) {
  const derived = yield* Effect.result(derivation(resource, surroundingsIn(sources)));
  const caBundle = Result.mapError(
    caBundleOf(resource.spec, references, sources.configMaps, namespace),
    (failure) => hasBundleOfNamespace ? ofNamespace(failure) : failure,
  );
  // Which server it is decides how a connection is split; the stricter rules hold where that is unknown.
  const rawUrl = Result.isSuccess(derived) && derived.success._tag === "Generated"
    ? derived.success.server.family.rawSqlUrl
    : true;
  const sql = sqlParts(resource, sources, rawUrl);
  const failures = [
    ...withReferenceFailures(
      Result.isFailure(derived) ? derived.failure.failures : [],
      referenceFailures(references, sources, namespace),
    ),
    ...(Result.isFailure(caBundle) ? [caBundle.failure] : []),
    ...trappedKeys(resource, sources),
    ...unusableCertificates(resource, sources),
    // How a connection must be split is not known where no server is.
    ...(Result.isSuccess(derived) && Result.isFailure(sql) ? [sql.failure] : []),
  ];
  if (
    Result.isFailure(derived) || Result.isFailure(caBundle) || Result.isFailure(sql) || failures.length > 0
  ) {
    const warnings = Result.isFailure(derived) ? derived.failure.warnings : [];
    return yield* Effect.fail({ failures, warnings, resource, inputs });
  }
  return {
    derived: derived.success,
    caBundlePem: caBundle.success,
    connections: { sql: sql.success, kv: kvParts(resource, sources) },
  };
});

const surroundingsIn = (sources: Sources): Surroundings => {
  const { operator: { surroundings }, labels, configMaps, secrets } = sources;
  const running = servingServer(sources);
  return {
    ...surroundings,
    configMaps,
    secrets,
    ...(labels === undefined ? {} : { labels }),
    ...(running === undefined ? {} : { running }),
  };
};
type Parts = Effect.Success<ReturnType<typeof partsOf>>;

const preparedFrom = (
  resource: Resource,
  { namespace, references, hasValues, secretsDigest: digest, inputs }: Referenced,
  { derived, caBundlePem, connections }: Parts,
  sources: Sources,
): Prepared => {
  // `Never` leaves the digest out, so that pods keep the value they started with.
  const followsSecrets = hasValues && resource.spec.workload?.restartPolicyOnSecretChange !== "Never";
  const caBundleDigest = bundleDigest(caBundlePem);
  const place: Place = {
    namespace,
    uid: liveObject(sources.resource).uid,
    platform: platformFor(resource.spec, sources),
    isMonitored: isMonitored(sources),
    certificateNames: certificateNames(resource.spec, sources),
    missingGatewayCa: missingGatewayCa(resource.spec, references, sources, namespace),
    caBundleDigest,
    podAnnotations: {
      ...(followsSecrets ? { [SECRETS_ANNOTATION]: digest } : {}),
      ...bundleAnnotation(caBundleDigest),
    },
  };
  const blueprint = blueprintOf(resource, derived, place);
  const contents: Contents = { config: proven(configContentOf(derived), sources), connections, caBundlePem };
  return {
    resource,
    derived,
    blueprint,
    objects: objectsOf(blueprint, contents),
    servingSpec: blueprint.spec,
    warnings: [
      ...warningsOf(derived),
      ...bundleWarnings(caBundlePem),
      ...expiredCertificates(resource, sources),
      ...lostAuthority(resource, connections.sql),
      ...exposureWarnings(blueprint),
      ...scalerWarnings(blueprint, sources.scalers ?? []),
      ...storedWarnings(sources.resource),
    ],
    secretReferences: references.filter(({ kind, operatorOnly }) => kind === "Secret" && operatorOnly !== true).length,
    inputs,
    pins: pinsOf(derived),
    server: derived._tag === "Generated" ? derived.server.version : derived.distribution.server?.version,
  };
};

/** By default new servers have metrics where Prometheus finds them; it stays the default of those that began so. */
const isMonitored = (sources: Sources): boolean => {
  const deployment = deploymentIn(sources);
  return deployment === undefined
    ? sources.operator.platform.served.includes("PodMonitor")
    : deployment.record.metrics !== undefined;
};

/** With the proof that the labels that it records were read by the operator. */
const proven = (
  content: ConfigContent | undefined,
  { operator: { hmacKey }, resource }: Sources,
): ConfigContent | undefined => {
  const recorded = content?.annotations?.[LABELS_ANNOTATION];
  if (content === undefined || recorded === undefined) return content;
  const proof = labelsProof(hmacKey, resourceKey(resource), recorded, content.data);
  return { ...content, annotations: { ...content.annotations, [LABELS_PROOF_ANNOTATION]: proof } };
};

/** Annotation of the pod template: HMAC over the referenced Secret values; a change of it restarts the pods. */
export const SECRETS_ANNOTATION = "llamastack.io/secrets-digest";

const configMapDigest = (references: ReadonlyArray<Reference>, { configMaps }: Sources, namespace: string): string =>
  sha256Hex(
    referencedObjects(references.filter(({ operatorOnly }) => operatorOnly !== true))
      .filter(({ kind }) => kind === "ConfigMap")
      .map(({ name, namespace: other = namespace }) => JSON.stringify(configMaps.get(`${other}/${name}`) ?? null))
      .join("\n"),
  );
