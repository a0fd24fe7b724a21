/** Warnings about entries of a base config that came with an image or a file, and not with the operator. */
import * as Result from "effect/Result";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import { effectiveId } from "../api/rules.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { formatPath } from "../data/field_path.ts";
import type { Json } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { type Warning, warning } from "../failure/warning.ts";
import type { DataFolders } from "./data_folders.ts";
import { factsOf } from "./draft.ts";
import { externalProviders } from "./external_providers.ts";
import { knownEnvironment, writtenValue } from "./known_environment.ts";
import { readBase } from "./servers/base.ts";
import type { BaseSource } from "../image/image_labels.ts";
import { apiOn, type Server } from "./servers/families/families.ts";
import { entryFindings } from "./stages/entry_findings.ts";
import { orphanedResources } from "./stages/orphaned_resources.ts";

/** Entries of a base that is not the operator's own, with which the server does not start. The resource may replace some. */
export const baseEntryWarnings = (
  spec: Spec,
  server: Server,
  folders: DataFolders,
  base: BaseSource,
): ReadonlyArray<Warning> => {
  const tree = Result.getOrElse(readBase(base, server), () => ({}));
  const environment = knownEnvironment({ spec, server, folders }, []);
  const valueOf = (variable: string) => environment(variable) === "Unset" ? "" : writtenValue({ spec }, variable);
  const replaced = new Set(
    PROVIDER_LISTS.flatMap(({ field, api }) =>
      (spec.providers?.[field] ?? []).map((provider) =>
        `${apiOn(server, api) ?? api} ${effectiveId(provider as unknown as Json)}`
      )
    ),
  );
  const external = new Set(externalProviders(spec).map(({ provider }) => provider.providerId));
  const isReplaced = (api: string, id: string | undefined) => replaced.has(`${api} ${id}`);
  return [
    ...entryFindings(tree, factsOf("", spec, server, folders), environment, valueOf, isReplaced),
    ...orphanedResources(tree, server, undefined, (api, id) => isReplaced(api, id) || external.has(id)),
  ]
    .filter(({ isFatal }) => isFatal).slice(0, OWN_CONFIG_WARNINGS_MAX)
    .map(({ path, message }) =>
      warning(
        "ConfigUnfit",
        ["spec", "distribution"],
        onOneLine(
          `in the base config, ${formatPath(path)}: ${message}; the server does not start`,
          OWN_CONFIG_MESSAGE_CHARACTERS_MAX,
        ),
      )
    );
};
