/** Which images of external providers are judged by their labels before a pod runs them, and what follows from the labels. */
import { type ExternalEntry, externalProviders } from "../config/external_providers.ts";
import { productOf } from "../config/servers/families/families.ts";
import { unfitProviders } from "../config/unfit_providers.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { ExternalProviderUnfit, ProviderLabelsAwaited } from "../failure/failures.ts";
import { installedFor, installsProvider } from "../resources/external_containers.ts";
import { configMapsOf, templateSpec } from "../resources/pod_spec.ts";
import { isObservedSpec } from "../snapshot/observed_spec.ts";
import { type ClusterSnapshot, liveKey, type ProviderAnswer } from "../snapshot/cluster_snapshot.ts";
import { type ImageQuestion, questionOf } from "./image_question.ts";
import type { Prepared } from "./prepare.ts";
import { SERVER_ANNOTATION } from "./rollout/record.ts";
import { rolloutOf } from "./rollout/rollout.ts";

/** By id. Empty if nothing is rolled out: nothing is asked for a server that runs. */
export const providerQuestions = (
  snapshot: ClusterSnapshot,
  prepared: Prepared,
): ReadonlyMap<string, ImageQuestion> => {
  const { resource, operator: { surroundings } } = snapshot;
  if ((surroundings.imageLabels ?? "Never") === "Never") return NONE;
  if (member(objectAt(resource, "metadata"), "deletionTimestamp") !== undefined) return NONE;
  if (member(objectAt(resource, "spec"), "suspend") === true) return NONE;
  const asked = newProviders(snapshot, prepared);
  const live = snapshot.live.get(liveKey("Deployment", prepared.blueprint.name));
  if (asked.length === 0 || rolloutOf(prepared, live, snapshot).kind !== "apply") return NONE;
  return new Map(
    asked.slice(0, ASKED_MAX).map(({ id, image }) => [
      id,
      questionOf(snapshot, prepared.resource, { image, reference: image, wanted: undefined }),
    ]),
  );
};

/** Of one resource; the images of the others are judged by the pod. */
const ASKED_MAX = 32;

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Those that the Deployment does not have, or pods had not installed before it was deleted: what runs is not judged again when
 * its tag moves. For another API, or on a server of the other product, it is.
 */
const newProviders = (
  { live, resource }: ClusterSnapshot,
  { derived, blueprint: { name } }: Prepared,
): ReadonlyArray<ExternalEntry> => {
  if (derived._tag !== "Generated") return [];
  const { config: { external }, server } = derived;
  const deployment = live.get(liveKey("Deployment", name));
  if (deployment === undefined) {
    const installed = isObservedSpec(resource) ? listAt(resource, "status", "externalProviders") : [];
    return external.filter(({ id, image }) =>
      !installed.some((state) =>
        stringAt(state, "providerId") === id && stringAt(state, "image") === image &&
        stringAt(state, "phase") === "Ready"
      )
    );
  }
  const version = stringAt(deployment, "metadata", "annotations", SERVER_ANNOTATION) ?? server.version;
  if (productOf(version) !== productOf(server.version)) return external;
  const configMaps = configMapsOf(templateSpec(deployment)).map((map) => live.get(liveKey("ConfigMap", map)));
  return external.filter(({ id, image, api }) => {
    const apis = configMaps.flatMap((map) => installedFor(map, id) ?? []);
    return !installsProvider(deployment, { id, image }) || apis.some((other) => other !== api);
  });
};

/** Why the new pod template is not applied: what the labels show, else that they are awaited. */
export const providerFailures = (
  snapshot: ClusterSnapshot,
  { derived, resource: { spec }, blueprint: { name } }: Prepared,
): ReadonlyArray<ExternalProviderUnfit | ProviderLabelsAwaited> => {
  const { providerLabels = NONE, resource, live } = snapshot;
  if (derived._tag !== "Generated" || providerLabels.size === 0) return [];
  const serverVersion = derived.server.version;
  const runs = live.has(liveKey("Deployment", name));
  const answerFor = (entry: Pick<ExternalEntry, "id" | "image">): ProviderAnswer | undefined => {
    const answer = providerLabels.get(entry.id);
    // After a restart of the operator, a registry that is down must not replace a running server by what was found unfit.
    return answer?.kind === "unknown" && runs ? reportedProvider(resource, entry) ?? answer : answer;
  };
  const found = unfitProviders(spec, derived, ({ id }) => {
    const answer = providerLabels.get(id);
    return answer?.kind === "read" ? answer.labels : undefined;
  });
  const listed = externalProviders(spec).map(({ path, provider: { providerId: id, image } }) => ({
    path,
    id,
    image,
    answer: answerFor({ id, image }),
  }));
  const reported = listed.flatMap(({ path, id, image, answer }) =>
    answer?.kind === "reported"
      ? [
        new ExternalProviderUnfit({
          ...{ path, id, image, serverVersion },
          reason: answer.problem.reason,
          detail: answer.problem.message,
        }),
      ]
      : []
  );
  const unfit = [...found, ...reported];
  if (unfit.length > 0) return unfit;
  return listed.flatMap(({ path, image, answer }) =>
    answer?.kind === "awaited" ? [new ProviderLabelsAwaited({ path, image })] : []
  ).slice(0, 1);
};

/** What the running operator found in the labels of an image, as its status says; undefined if it does not. */
export const reportedProvider = (
  resource: JsonObject | undefined,
  { id, image }: Pick<ExternalEntry, "id" | "image">,
): ProviderAnswer | undefined => {
  if (!isObservedSpec(resource)) return undefined;
  const state = listAt(resource, "status", "externalProviders").find((item) =>
    stringAt(item, "providerId") === id && stringAt(item, "image") === image && stringAt(item, "phase") === "Failed"
  );
  const [reason, message] = ["reason", "message"].map((field) => stringAt(state, field));
  const subject = ExternalProviderUnfit.subject({ id, image });
  return reason === undefined || message?.startsWith(subject) !== true
    ? undefined
    : { kind: "reported", problem: { reason, message: message.slice(subject.length) } };
};
