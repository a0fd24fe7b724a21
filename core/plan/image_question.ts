/** Which image's labels a decision needs, whether they are known already, and what to ask the registry otherwise. */
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { readsLabels } from "../config/servers/labelled.ts";
import { type ResolvedDistribution, resolveDistribution } from "../config/servers/distribution.ts";
import { chooseSource } from "../config/source.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { sha256Hex } from "../data/digest.ts";
import { atDigest, type ImageLabels, type ReadLabels, recordedIn } from "../image/image_labels.ts";
import { type Registries, REGISTRIES_DEFAULT } from "../operator/registries.ts";
import { configMapsOf, imageOf, templateSpec } from "../resources/pod_spec.ts";
import { serviceAccountName } from "../resources/service_account.ts";
import { bundled } from "./ca_bundle.ts";
import { isOurs } from "./ownership.ts";
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

/** Annotation of the resource: `IMAGE@DIGEST`, what the tag of its image means from now on (`rollout`). */
export const IMAGE_DIGEST_ANNOTATION = "llamastack.io/image-digest";

export interface LabelsNeeded {
  readonly question: () => ImageQuestion;
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
  const wish = wishOf(snapshot, resource, resolved.success);
  const deployment = snapshot.live.get(liveKey("Deployment", resource.name));
  const recorded = recordedFor(snapshot, deployment, wish);
  const status = objectAt(snapshot.resource, "status");
  return {
    question: () => questionOf(snapshot, resource, wish),
    recorded,
    checksTag: !wish.image.includes("@") &&
      member(objectAt(snapshot.resource, "metadata"), "generation") !== member(status, "observedGeneration"),
    tagDigest: stringAt(status, "resolvedDistribution", "digest") === recorded?.digest
      ? stringAt(status, "resolvedDistribution", "tagDigest")
      : undefined,
    // A server that runs on the embedded base keeps it until the registry says something else.
    meanwhile: resolved.success.base !== undefined && imageOf(templateSpec(deployment)) === resolved.success.image
      ? undefined
      : { kind: "awaited" },
    hasBase: resolved.success.base !== undefined,
  };
};

type Wish = Pick<ImageQuestion, "image" | "reference" | "wanted">;

const wishOf = (snapshot: Seen, { spec }: Resource, { image }: ResolvedDistribution): Wish => {
  const asked = stringAt(snapshot.resource, "metadata", "annotations", IMAGE_DIGEST_ANNOTATION);
  const digest = asked?.startsWith(`${image}@`) === true ? asked.slice(image.length + 1) : undefined;
  const isDigest = digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest);
  return { image, reference: isDigest ? atDigest(image, digest) : image, wanted: spec.distribution.config };
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

/** That of the config that runs comes first; after a rollback, a newer one may be the one that the resource asks for. */
const recordedFor = (
  { configs, resource }: Seen,
  deployment: JsonObject | undefined,
  { image, reference, wanted }: Wish,
): ReadLabels | undefined => {
  const running = configMapsOf(templateSpec(deployment));
  const runs = (config: JsonObject) => running.includes(stringAt(config, "metadata", "name") ?? "");
  const uid = stringAt(resource, "metadata", "uid");
  return [...configs.filter(runs), ...configs.filter((config) => !runs(config))]
    .filter((config) => isOurs(config, uid))
    .flatMap((config) => recordedIn(config) ?? [])
    .find((record) =>
      record.image === image && record.wanted === wanted &&
      (reference === image || reference === atDigest(image, record.digest))
    );
};

/** Why the running operator could not read them, as its status says; undefined if it does not. */
export const reportedLabels = (resource: JsonObject | undefined): ImageLabels | undefined => {
  const condition = listAt(resource, "status", "conditions").find((item) =>
    stringAt(item, "type") === "ConfigGenerated" && stringAt(item, "reason") === "BaseConfigRequired"
  );
  const detail = / \((.+)\); use spec\.distribution\.name/.exec(stringAt(condition, "message") ?? "")?.[1];
  return detail === undefined ? undefined : { kind: "unreadable", detail };
};

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
