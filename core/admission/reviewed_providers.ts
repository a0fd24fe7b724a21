/** External providers whose images are judged by their labels when somebody writes them: entries that are new or changed. */
import * as Result from "effect/Result";
import { decodeResource, isOversized } from "../api/decode.ts";
import { externalProviders } from "../config/external_providers.ts";
import type { JsonObject } from "../data/json.ts";
import type { Settings } from "../operator/settings.ts";
import { type ImageQuestion, pullSecretsOf } from "../plan/image_question.ts";
import { installsProvider } from "../resources/external_containers.ts";
import { serviceAccountName } from "../resources/service_account.ts";
import type { Change } from "./change.ts";

export interface ReviewedProvider {
  readonly id: string;
  readonly image: string;
  readonly question: ImageQuestion;
}

/**
 * Registries are asked as for the pods, but for authorities of the resource: their ConfigMaps are not read here, and the operator
 * judges these images later.
 */
export const reviewedProviders = (
  { object, before, namespace }: Change,
  { imageLabels, registries }: Pick<Settings, "imageLabels" | "registries">,
): ReadonlyArray<ReviewedProvider> => {
  if (imageLabels === "Never" || isOversized(object)) return [];
  const decoded = decodeResource(object, "lenient");
  if (Result.isFailure(decoded)) return [];
  const { name, spec } = decoded.success;
  const known = before === undefined || isOversized(before) ? [] : entriesIn(before).map(identityOf);
  return externalProviders(spec).filter((entry) => !known.includes(identityOf(entry))).map(
    ({ provider: { providerId: id, image } }) => ({
      id,
      image,
      question: {
        image,
        reference: image,
        wanted: undefined,
        namespace,
        serviceAccount: spec.workload?.overrides?.serviceAccountName ??
          (before === undefined ? undefined : serviceAccountName(name)),
        pullSecrets: pullSecretsOf(spec),
        authorities: registries.authorities,
        registries,
      },
    }),
  );
};

/** Without those that the Deployment of the resource has already, as after a restore: what runs is not judged again. */
export const notRunning = (
  reviewed: ReadonlyArray<ReviewedProvider>,
  deployment: JsonObject | undefined,
): ReadonlyArray<ReviewedProvider> => reviewed.filter((provider) => !installsProvider(deployment, provider));

const entriesIn = (resource: JsonObject) =>
  Result.match(decodeResource(resource, "lenient"), {
    onSuccess: ({ spec }) => externalProviders(spec),
    onFailure: () => [],
  });

/** What a judgement depends on; a changed setting of the provider needs none. */
const identityOf = ({ api, provider: { providerId, image } }: ReturnType<typeof externalProviders>[number]): string =>
  JSON.stringify([api, providerId, image]);
