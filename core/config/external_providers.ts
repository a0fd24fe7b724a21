/**
 * Providers that come in images: those of the resource, in the order in which they are installed, and what the pod has to
 * know of them.
 *
 * The type and the module of a provider are only known inside of its image. The generated config has its entry complete but
 * for these two, and the init container `prepare-providers` fills them in (prepare_providers.py).
 */
import { EXTERNAL_LISTS } from "../api/api_names.ts";
import type { ExternalProvider, Spec } from "../api/v1alpha2.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isList } from "../data/json.ts";

export interface ListedProvider {
  /** As the API is called in config.yaml. */
  readonly api: string;
  readonly provider: ExternalProvider;
  readonly path: FieldPath;
}

/** In the order of installation. A spec that was not decoded may hold anything in place of a list. */
export const externalProviders = ({ externalProviders: lists }: Pick<Spec, "externalProviders">) =>
  EXTERNAL_LISTS.flatMap(({ field, api }): ReadonlyArray<ListedProvider> => {
    const list = lists?.[field];
    return !isList(list) ? [] : list.map((provider, index) => ({
      api,
      provider,
      path: ["spec", "externalProviders", field, index],
    }));
  });

export const hasExternalProviders = (spec: Pick<Spec, "externalProviders">): boolean =>
  externalProviders(spec).length > 0;

/** A provider as `prepare-providers` gets to know it, in a file next to the config. */
export interface ExternalEntry {
  readonly id: string;
  readonly api: string;
  readonly image: string;
}

/** Takes the place of the provider type; no server has such a type. */
export const unknownType = (id: string): string => `external::${id}`;
