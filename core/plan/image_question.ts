/** Which image's labels a decision needs, whether they are known already, and what to ask the registry otherwise. */
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import type { Surroundings } from "../config/derive.ts";
import { readsLabels } from "../config/servers/labelled.ts";
import { resolveDistribution } from "../config/servers/distribution.ts";
import { isMirroredIn } from "../config/servers/publication.ts";
import { chooseSource } from "../config/source.ts";
import { type JsonObject } from "../data/json.ts";
import { sha256Hex } from "../data/digest.ts";
import { atDigest } from "../data/image_reference.ts";
import type { ImageLabels, KeptServer, ReadLabels } from "../config/servers/image_labels.ts";
import { imageHistory } from "./image_history.ts";
import { serviceAccountName } from "../resources/service_account.ts";
import { bundled } from "./ca_bundle.ts";
import { referencesOf } from "../snapshot/references.ts";
import { isObservedSpec } from "../snapshot/observed_spec.ts";
import { type ClusterSnapshot, liveKey, type Sources } from "../snapshot/cluster_snapshot.ts";
import { servingServer } from "./serving_server.ts";
import { withTrustedBundle } from "./trusted_bundle.ts";
import { statusOf } from "../api/status_of.ts";
import { liveObject } from "../snapshot/live_object.ts";

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
  readonly registries: Surroundings["registries"];
}

export interface LabelsNeeded {
  readonly question: () => ImageQuestion;
  /** As the resource or the setting names it. */
  readonly image: string;
  /** What its tag means until somebody asks for another digest; undefined: what the registry says. */
  readonly digest: string | undefined;
  /** The annotation of the resource asks for that digest. */
  readonly isRequested: boolean;
  /** From an earlier answer; undefined: the registry has to be asked. */
  readonly recorded: ReadLabels | undefined;
  /** What counts until the registry answers. */
  readonly meanwhile: ImageLabels | undefined;
  /** Set if the server must be left as it is while the labels cannot be read. */
  readonly kept: KeptServer | undefined;
  /** The server runs on the embedded base, and nobody has asked for another one. */
  readonly isHeld: boolean;
}

type Seen = Omit<Sources, "nowMs" | "labels" | "scalers"> & Pick<ClusterSnapshot, "configs">;

/** Undefined if the decision needs no labels. */
export const labelsNeeded = (snapshot: Seen, resource: Resource): LabelsNeeded | undefined => {
  const distribution = distributionToRead(snapshot, resource);
  if (distribution === undefined) return undefined;
  const { image, base } = distribution;
  const wanted = resource.spec.distribution.config;
  const { digest, isRequested, recorded, runs, missing } = imageHistory(snapshot, resource, image, base);
  const isEdited = !isObservedSpec(snapshot.resource);
  const reference = digest === undefined ? image : atDigest(image, digest);
  return {
    question: () => questionOf(snapshot, resource, { image, reference, wanted }),
    image,
    digest,
    isRequested,
    recorded,
    // A server that runs on the embedded base keeps it until the registry says something else.
    meanwhile: runs === "embedded" && !isRequested ? undefined : { kind: "awaited" },
    kept: runs === "labels" || isRequested ? { reference, missing, isRequested } : undefined,
    isHeld: runs === "embedded" && !isEdited && !isRequested,
  };
};

/** Undefined if its config is not made from labels. */
const distributionToRead = (seen: Seen, { spec }: Resource) => {
  const { operator: { surroundings } } = seen;
  const use = surroundings.imageLabels ?? "Never";
  if (use === "Never" || spec.baseConfig !== undefined) return undefined;
  const running = servingServer(seen);
  const resolved = resolveDistribution(spec.distribution, surroundings.distributions, surroundings.overrides, {
    running,
    isMirrored: isMirroredIn(surroundings.registries),
  });
  if (Result.isFailure(resolved) || !readsLabels(resolved.success, use)) return undefined;
  return chooseSource(spec, resolved.success.fixNeededToStart)._tag === "Generated" ? resolved.success : undefined;
};

/** What is asked about labels. */
export type LabelsQuestion =
  | { readonly kind: "asked"; readonly of: ImageQuestion }
  /** An earlier answer, which counts. */
  | { readonly kind: "recorded"; readonly read: ReadLabels }
  | { readonly kind: "none" };

export const NO_LABELS: LabelsQuestion = { kind: "none" };

/** `awaited`: the registry has not answered yet. `unknown`: nobody asks it. */
export type LabelsAnswer = Exclude<ImageLabels, { readonly kind: "awaited" }> | {
  readonly kind: "awaited" | "unknown";
};

/** The answer as the decision takes it; undefined where the labels do not count. */
export const labelsIn = (
  { kept, isHeld, isRequested, meanwhile }: LabelsNeeded,
  answer: LabelsAnswer,
): ImageLabels | undefined => {
  switch (answer.kind) {
    case "awaited":
      return meanwhile;
    case "unknown":
      return kept === undefined ? undefined : meanwhile;
    case "unreadable":
      return kept === undefined ? answer : { ...answer, kept };
    case "read":
      return { ...answer, ...(isHeld ? { isHeld } : {}), ...(isRequested ? { isRequested } : {}) };
  }
};

type Wish = Pick<ImageQuestion, "image" | "reference" | "wanted">;

/** Names of the Secrets that the resource names. */
export const pullSecretsOf = ({ workload }: Resource["spec"]): ReadonlyArray<string> =>
  (workload?.overrides?.imagePullSecrets ?? []).flatMap(({ name }) => name ?? []);

/** Asks for an image with which the pods of the resource run. */
const questionOf = (snapshot: Seen, resource: Resource, wish: Wish): ImageQuestion => {
  const { overrides } = resource.spec.workload ?? {};
  const { registries } = snapshot.operator.surroundings;
  return {
    ...wish,
    namespace: liveObject(snapshot.resource).namespace,
    serviceAccount: overrides?.serviceAccountName ?? ownAccount(snapshot, resource.name),
    pullSecrets: pullSecretsOf(resource.spec),
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
  const { namespace } = liveObject(snapshot.resource);
  const { spec } = withTrustedBundle(written, snapshot, namespace);
  const references = referencesOf(spec).filter(({ path }) => path.includes("caBundle"));
  return Result.getOrElse(bundled(references, snapshot.configMaps, namespace), () => undefined) ?? "";
};

/** Why the running operator could not read them, as its status says; undefined if it could. */
export const reportedLabels = (resource: JsonObject | undefined): ImageLabels | undefined => {
  const detail = resource === undefined ? undefined : statusOf(resource).imageLabelsError;
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

/** Questions with one key are answered with the same credentials, as long as nobody changes a Secret. */
export const askerKey = (question: ImageQuestion): string =>
  answerKey(question, JSON.stringify([question.namespace, question.serviceAccount ?? null, ...question.pullSecrets]));
