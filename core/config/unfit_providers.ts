/** External providers that cannot be installed, as the labels of their images show. */
import { EXTERNAL_MESSAGE_CHARACTERS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { ExternalProviderUnfit } from "../failure/failures.ts";
import { problemsInLabels } from "./provider_judgement.ts";
import type { ReadProviderLabels } from "../image/provider_labels.ts";
import { type ExternalEntry, externalProviders } from "./external_providers.ts";
import type { Generated } from "./pipeline.ts";
import type { Server } from "./servers/families/families.ts";

/** Undefined: nothing is known of the image, and the pod judges it. */
export type LabelsOfProvider = (
  entry: Pick<ExternalEntry, "id" | "image">,
  /** Of all providers of the resource. */
  images: ReadonlyArray<string>,
) => ReadProviderLabels | undefined;

export const unfitProviders = (
  spec: Spec,
  { config: { external }, server }: { readonly config: Pick<Generated, "external">; readonly server: Server },
  labelsOf: LabelsOfProvider | undefined,
): ReadonlyArray<ExternalProviderUnfit> => {
  const images = external.map(({ image }) => image);
  return external.flatMap(({ id, api, image }) => {
    const labels = labelsOf?.({ id, image }, images);
    if (labels === undefined) return [];
    const problems = problemsInLabels(labels, { api, serverVersion: server.version });
    const path = externalProviders(spec).find(({ provider }) => provider.providerId === id)?.path ??
      ["spec", "externalProviders"];
    return problems.slice(0, PROBLEMS_MAX).map(({ reason, message }) =>
      new ExternalProviderUnfit({
        path,
        id,
        image,
        reason,
        serverVersion: server.version,
        detail: onOneLine(message, EXTERNAL_MESSAGE_CHARACTERS_MAX),
      })
    );
  });
};

/** Of one provider. */
const PROBLEMS_MAX = 8;
