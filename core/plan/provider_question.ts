/** Which images of external providers are judged by their labels before a pod runs them, and what follows from the labels. */
import { type ExternalEntry, externalProviders } from "../config/external_providers.ts";
import { unfitProviders } from "../config/unfit_providers.ts";
import { listAt, member, objectAt, stringAt } from "../data/json.ts";
import { type ExternalProviderUnfit, ProviderLabelsAwaited } from "../failure/failures.ts";
import { installContainer } from "../resources/external_containers.ts";
import { templateSpec } from "../resources/pod_spec.ts";
import { type ClusterSnapshot, liveKey, type ProviderAnswer } from "../snapshot/cluster_snapshot.ts";
import { type ImageQuestion, questionOf } from "./image_question.ts";
import type { Prepared } from "./prepare.ts";
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

/** Those that neither the Deployment has, nor pods have installed: what runs is not judged again when its tag moves. */
const newProviders = (
  { live, resource }: ClusterSnapshot,
  { derived, blueprint: { name } }: Prepared,
): ReadonlyArray<ExternalEntry> => {
  if (derived._tag !== "Generated") return [];
  const containers = listAt(templateSpec(live.get(liveKey("Deployment", name))), "initContainers");
  const installed = listAt(resource, "status", "externalProviders")
    .filter((state) => stringAt(state, "phase") === "Ready");
  return derived.config.external.filter(({ id, image }) =>
    !containers.some((container) =>
      stringAt(container, "name") === installContainer(id) && stringAt(container, "image") === image
    ) &&
    !installed.some((state) => stringAt(state, "providerId") === id && stringAt(state, "image") === image)
  );
};

/** Why the new pod template is not applied: what the labels show, else that they are awaited. */
export const providerFailures = (
  { providerLabels = NONE }: ClusterSnapshot,
  { derived, resource: { spec } }: Prepared,
): ReadonlyArray<ExternalProviderUnfit | ProviderLabelsAwaited> => {
  if (derived._tag !== "Generated" || providerLabels.size === 0) return [];
  const answerFor = ({ id }: { readonly id: string }): ProviderAnswer | undefined => providerLabels.get(id);
  const unfit = unfitProviders(spec, derived, (entry) => {
    const answer = answerFor(entry);
    return answer?.kind === "read" ? answer.labels : undefined;
  });
  if (unfit.length > 0) return unfit;
  return externalProviders(spec).flatMap(({ path, provider: { providerId: id, image } }) =>
    answerFor({ id })?.kind === "awaited" ? [new ProviderLabelsAwaited({ path, image })] : []
  ).slice(0, 1);
};
