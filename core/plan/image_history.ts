/**
 * What is known of a resource's image before a registry is asked: from the records in its configs, its annotation, its status
 * and its Deployment.
 */
import type { Resource } from "../api/decode.ts";
import type { ResolvedDistribution } from "../config/servers/distribution.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";
import { atDigest, isSha256Digest } from "../data/image_reference.ts";
import type { ReadLabels } from "../config/servers/image_labels.ts";
import type { RecordedLabels } from "../resources/labels_record.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { deploymentIn, type LiveDeployment } from "../snapshot/live_deployment.ts";
import { isOurs } from "./ownership.ts";
import { isProven, labelsProof } from "./rollout/keyed_digests.ts";
import { statusOf } from "../api/status_of.ts";
import { liveConfig } from "../snapshot/live_config.ts";
import { liveObject, resourceKey } from "../snapshot/live_object.ts";

type Seen = Pick<ClusterSnapshot, "resource" | "operator" | "live" | "replicaSets" | "configs">;

export interface ImageHistory {
  /** What the tag means until somebody asks for another digest; undefined: what the registry says, or there is no tag. */
  readonly digest: string | undefined;
  /** The annotation of the resource asks for that digest. */
  readonly isRequested: boolean;
  /** The labels of that digest, or of any if none is known. */
  readonly recorded: ReadLabels | undefined;
  /** What the config of the running Deployment was made from. */
  readonly runs: "labels" | "embedded" | "neither";
  /** The ConfigMap of a server that runs on labels, if it does not exist any more. */
  readonly missing: string | undefined;
}

/** `base`: the embedded one of the image, if the operator has one. */
export const imageHistory = (
  snapshot: Seen,
  resource: Resource,
  image: string,
  base: ResolvedDistribution["base"],
): ImageHistory => {
  const deployment = deploymentIn(snapshot);
  const configs = snapshot.configs.map(liveConfig);
  const records = recordsOf(snapshot, deployment);
  const requested = requestedDigest(snapshot, image);
  const digest = image.includes("@") ? undefined : requested ?? digestBefore(snapshot, deployment, records, image);
  const wanted = resource.spec.distribution.config;
  const recorded = records.find(({ read }) =>
    read?.image === image && read.wanted === wanted && (digest === undefined || read.digest === digest)
  )?.read;
  const { configGeneration, resolvedDistribution } = statusOf(snapshot.resource);
  const before = resolvedDistribution?.digest;
  const running = deployment?.image;
  const isLabelled = deployment !== undefined &&
    (before !== undefined || records.some(({ runs }) => runs) || digestIn(running, image) !== undefined);
  const config = configGeneration?.configMapName;
  const isMissing = !configs.some(({ name }) => name === config);
  return {
    digest,
    isRequested: requested !== undefined,
    recorded,
    runs: isLabelled ? "labels" : base !== undefined && running === image ? "embedded" : "neither",
    missing: isLabelled && isMissing ? config : undefined,
  };
};

const requestedDigest = ({ resource }: Seen, image: string): string | undefined => {
  const asked = liveObject(resource).annotations[IMAGE_DIGEST_ANNOTATION];
  const digest = asked?.startsWith(`${image}@`) === true ? asked.slice(image.length + 1) : undefined;
  return isSha256Digest(digest) ? digest : undefined;
};

/** What the tag meant when it was last asked for: only an edit of the image, or `rollout`, asks again. */
const digestBefore = (
  { resource }: Seen,
  deployment: LiveDeployment | undefined,
  records: ReadonlyArray<FoundRecord>,
  image: string,
): string | undefined => {
  const { namedImage: named, ...before } = statusOf(resource).resolvedDistribution ?? {};
  const recorded = records.find((record) => record.runs && record.image === image)?.digest;
  if (recorded !== undefined) return recorded;
  if (named !== undefined) return named === image ? before.digest : undefined;
  // Without a status, as after a restore from a backup.
  return before.image === undefined
    ? records.find((record) => record.image === image)?.digest ?? digestIn(deployment?.image, image)
    : undefined;
};

/** Digest of an image of the same repository that is named by a tag. */
const digestIn = (running: string | undefined, image: string): string | undefined => {
  const digest = running?.split("@")[1];
  return !image.includes("@") && isSha256Digest(digest) && running === atDigest(image, digest) ? digest : undefined;
};

interface FoundRecord extends RecordedLabels {
  /** The Deployment mounts its ConfigMap. */
  readonly runs: boolean;
}

/** Those of the operator. That of the config that runs comes first; after a rollback, a newer one may be the one that is asked for. */
const recordsOf = (
  { configs, resource, operator }: Seen,
  deployment: LiveDeployment | undefined,
): ReadonlyArray<FoundRecord> => {
  const running = deployment?.configMaps ?? [];
  const { uid } = liveObject(resource);
  return configs.filter((config) => isOurs(config, uid)).map(liveConfig)
    .flatMap(({ name, labels }) => {
      if (labels === undefined) return [];
      const { text, data, proof } = labels;
      return isProven(operator.hmacKey, proof, () => labelsProof(operator.hmacKey, resourceKey(resource), text, data))
        ? [{ ...labels.recorded, runs: running.includes(name) }]
        : [];
    })
    .toSorted((a, b) => Number(b.runs) - Number(a.runs));
};
