/** Which image's labels a decision needs, whether they are known already, and what to ask the registry otherwise. */
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { readsLabels } from "../config/servers/labelled.ts";
import { resolveDistribution } from "../config/servers/distribution.ts";
import { chooseSource } from "../config/source.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { sha256Hex } from "../data/digest.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../image/image_digest_annotation.ts";
import {
  atDigest,
  type ImageLabels,
  type KeptServer,
  LABELS_ANNOTATION,
  LABELS_PROOF_ANNOTATION,
  type ReadLabels,
  recordedIn,
  type RecordedLabels,
} from "../image/image_labels.ts";
import { type Registries, REGISTRIES_DEFAULT } from "../operator/registries.ts";
import { configMapsOf, imageOf, templateSpec } from "../resources/pod_spec.ts";
import { serviceAccountName } from "../resources/service_account.ts";
import { bundled } from "./ca_bundle.ts";
import { isOurs } from "./ownership.ts";
import { labelsProof } from "./rollout/keyed_digests.ts";
import { keyOf } from "./rollout/upgrade_slots.ts";
import { referencesOf } from "../snapshot/references.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { withTrustedBundle } from "./trusted_bundle.ts";

/** What is asked of a registry for one resource. */
export interface ImageQuestion {
  /** As the resource or the setting names it. */
  readonly image: string;
  /** The same, with the digest that the resource asks for. */
  readonly reference: string;
  /** File of the labels; undefined: the image's default. */
  readonly wanted: string | undefined;
  readonly namespace: string;
  /** Of the pods; its pull Secrets count if the resource names none. Undefined: it does not exist yet. */
  readonly serviceAccount: string | undefined;
  readonly pullSecrets: ReadonlyArray<string>;
  /** PEM of authorities to trust beside the public ones. */
  readonly authorities: string;
  readonly registries: Registries;
}

export interface LabelsNeeded {
  readonly question: () => ImageQuestion;
  /** As the resource or the setting names it. */
  readonly image: string;
  /** What its tag means until somebody asks for another digest; undefined: what the registry says. */
  readonly digest: string | undefined;
  /** The annotation of the resource asks for that digest. */
  readonly isRequested: boolean;
  /** The resource was edited since its last reconciliation, and names its image by a tag: it may mean something else now. */
  readonly checksTag: boolean;
  /** What the tag was last seen to mean. */
  readonly tagDigest: string | undefined;
  /** From an earlier answer; undefined: the registry has to be asked. */
  readonly recorded: ReadLabels | undefined;
  /** What counts until the registry answers. */
  readonly meanwhile: ImageLabels | undefined;
  /** The operator has a base config for the name, which counts if nobody asks a registry. */
  readonly hasBase: boolean;
  /** Set if the server must be left as it is while the labels cannot be read. */
  readonly kept: KeptServer | undefined;
  /** The server runs on the embedded base, and nobody has asked for another one. */
  readonly isHeld: boolean;
}

type Seen = Pick<ClusterSnapshot, "resource" | "operator" | "live" | "configs" | "configMaps" | "secrets" | "tooLarge">;

/** Undefined if the decision needs no labels. */
export const labelsNeeded = (snapshot: Seen, resource: Resource): LabelsNeeded | undefined => {
  const { surroundings } = snapshot.operator;
  const use = surroundings.imageLabels ?? "Never";
  if (use === "Never") return undefined;
  const { spec } = resource;
  const resolved = resolveDistribution(spec.distribution, surroundings.distributions, surroundings.overrides);
  if (Result.isFailure(resolved) || !readsLabels(resolved.success, use)) return undefined;
  if (chooseSource(spec, resolved.success.fixNeededToStart)._tag !== "Generated") return undefined;
  const { image, base } = resolved.success;
  const deployment = snapshot.live.get(liveKey("Deployment", resource.name));
  const records = recordsOf(snapshot, deployment);
  const { configGeneration, resolvedDistribution, observedGeneration } = objectAt(snapshot.resource, "status");
  const requested = requestedDigest(snapshot, image);
  const digest = image.includes("@") ? undefined : requested ?? digestBefore(snapshot, deployment, records, image);
  const wanted = spec.distribution.config;
  const recorded = records.find(({ read }) =>
    read?.image === image && read.wanted === wanted && (digest === undefined || read.digest === digest)
  )?.read;
  const isLabelled = deployment !== undefined &&
    (stringAt(resolvedDistribution, "digest") !== undefined || records.some(({ runs }) => runs) ||
      digestIn(imageOf(templateSpec(deployment)), image) !== undefined);
  const isEmbedded = !isLabelled && base !== undefined && imageOf(templateSpec(deployment)) === image;
  const isEdited = member(objectAt(snapshot.resource, "metadata"), "generation") !== observedGeneration;
  const isRequested = requested !== undefined;
  const reference = digest === undefined ? image : atDigest(image, digest);
  const config = stringAt(configGeneration, "configMapName");
  const isMissing = !snapshot.configs.some((map) => stringAt(map, "metadata", "name") === config);
  const before = stringAt(resolvedDistribution, "digest");
  return {
    question: () => questionOf(snapshot, resource, { image, reference, wanted }),
    image,
    digest,
    isRequested,
    recorded,
    checksTag: !image.includes("@") && isEdited,
    tagDigest: before !== undefined && before === (recorded?.digest ?? digest)
      ? stringAt(resolvedDistribution, "tagDigest")
      : undefined,
    // A server that runs on the embedded base keeps it until the registry says something else.
    meanwhile: isEmbedded && !isRequested ? undefined : { kind: "awaited" },
    hasBase: base !== undefined,
    kept: isLabelled || isRequested
      ? { reference, missing: isLabelled && isMissing ? config : undefined, isRequested }
      : undefined,
    isHeld: isEmbedded && !isEdited && !isRequested,
  };
};

/** The answer of the registry, or the record of one, as the decision takes it. */
export const withStanding = ({ kept, isHeld, isRequested }: LabelsNeeded, labels: ImageLabels): ImageLabels => {
  switch (labels.kind) {
    case "awaited":
      return labels;
    case "unreadable":
      return kept === undefined ? labels : { ...labels, kept };
    case "read":
      return { ...labels, ...(isHeld ? { isHeld } : {}), ...(isRequested ? { isRequested } : {}) };
  }
};

type Wish = Pick<ImageQuestion, "image" | "reference" | "wanted">;

const requestedDigest = ({ resource }: Seen, image: string): string | undefined => {
  const asked = stringAt(resource, "metadata", "annotations", IMAGE_DIGEST_ANNOTATION);
  const digest = asked?.startsWith(`${image}@`) === true ? asked.slice(image.length + 1) : "";
  return DIGEST.test(digest) ? digest : undefined;
};

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** What the tag meant when it was last asked for: only an edit of the image, or `rollout`, asks again. */
const digestBefore = (
  { resource }: Seen,
  deployment: JsonObject | undefined,
  records: ReadonlyArray<FoundRecord>,
  image: string,
): string | undefined => {
  const status = objectAt(resource, "status", "resolvedDistribution");
  const named = stringAt(status, "namedImage");
  const recorded = records.find((record) => record.runs && record.image === image)?.digest;
  if (recorded !== undefined) return recorded;
  if (named !== undefined) return named === image ? stringAt(status, "digest") : undefined;
  // Without a status, as after a restore from a backup.
  return stringAt(status, "image") === undefined
    ? records.find((record) => record.image === image)?.digest ?? digestIn(imageOf(templateSpec(deployment)), image)
    : undefined;
};

/** Digest of an image of the same repository that is named by a tag. */
const digestIn = (running: string | undefined, image: string): string | undefined => {
  const digest = running?.split("@")[1] ?? "";
  return !image.includes("@") && DIGEST.test(digest) && running === atDigest(image, digest) ? digest : undefined;
};

const questionOf = (snapshot: Seen, resource: Resource, wish: Wish): ImageQuestion => {
  const { overrides } = resource.spec.workload ?? {};
  const registries = snapshot.operator.registries ?? REGISTRIES_DEFAULT;
  return {
    ...wish,
    namespace: stringAt(snapshot.resource, "metadata", "namespace") ?? "",
    serviceAccount: overrides?.serviceAccountName ?? ownAccount(snapshot, resource.name),
    pullSecrets: listAt((overrides ?? {}) as unknown as JsonObject, "imagePullSecrets")
      .flatMap((reference) => stringAt(reference, "name") ?? []),
    authorities: [registries.authorities, authoritiesOf(snapshot, resource)].filter((pem) => pem !== "").join("\n"),
    registries,
  };
};

const ownAccount = ({ live }: Seen, name: string): string | undefined => {
  const account = serviceAccountName(name);
  return live.has(liveKey("ServiceAccount", account)) ? account : undefined;
};

/** Those that the server trusts. */
const authoritiesOf = (snapshot: Seen, written: Resource): string => {
  const namespace = stringAt(snapshot.resource, "metadata", "namespace") ?? "";
  const { spec } = withTrustedBundle(written, snapshot, namespace);
  const references = referencesOf(spec).filter(({ path }) => path.includes("caBundle"));
  return Result.getOrElse(bundled(references, snapshot.configMaps, namespace), () => undefined) ?? "";
};

interface FoundRecord extends RecordedLabels {
  /** The Deployment mounts its ConfigMap. */
  readonly runs: boolean;
}

/** Those of the operator. That of the config that runs comes first; after a rollback, a newer one may be the one that is asked for. */
const recordsOf = (
  { configs, resource, operator }: Seen,
  deployment: JsonObject | undefined,
): ReadonlyArray<FoundRecord> => {
  const running = configMapsOf(templateSpec(deployment));
  const uid = stringAt(resource, "metadata", "uid");
  return configs
    .filter((config) => isOurs(config, uid) && isProvenRecord(config, keyOf(resource), operator.hmacKey))
    .flatMap((config) => {
      const record = recordedIn(config);
      return record === undefined
        ? []
        : [{ ...record, runs: running.includes(stringAt(config, "metadata", "name") ?? "") }];
    })
    .toSorted((a, b) => Number(b.runs) - Number(a.runs));
};

/** Without the key, which only the operator and administrators can read, the record is believed. */
const isProvenRecord = (config: JsonObject, key: string, hmacKey: Redacted.Redacted<string>): boolean => {
  const annotation = stringAt(config, "metadata", "annotations", LABELS_ANNOTATION);
  return annotation !== undefined && (Redacted.value(hmacKey) === "" ||
    stringAt(config, "metadata", "annotations", LABELS_PROOF_ANNOTATION) ===
      labelsProof(hmacKey, key, annotation, objectAt(config, "data")));
};

/** Why the running operator could not read them, as its status says; undefined if it does not. */
export const reportedLabels = (resource: JsonObject | undefined): ImageLabels | undefined => {
  const condition = listAt(resource, "status", "conditions").find((item) =>
    stringAt(item, "type") === "ConfigGenerated" && REPORTED.test(stringAt(item, "reason") ?? "")
  );
  const message = stringAt(condition, "message") ?? "";
  const detail = (/ \((.+)\); (?:use|correct or remove) spec\.distribution\./.exec(message) ??
    / cannot be used: (.+?)(?:\. The running Deployment is unchanged|; the annotation )/.exec(message))?.[1];
  return detail === undefined ? undefined : { kind: "unreadable", detail };
};

const REPORTED = /^(BaseConfigRequired|ImageLabelsUnread)$/;

/** Questions with one key have one answer. `credentials`: a digest of those that apply. */
export const answerKey = (question: ImageQuestion, credentials: string): string =>
  sha256Hex(JSON.stringify([
    question.reference,
    question.wanted ?? null,
    question.authorities,
    [...question.registries.mirrors],
    question.registries.plainHttp,
    question.registries.internal,
    credentials,
  ]));
