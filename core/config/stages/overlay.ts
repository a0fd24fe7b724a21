/** The declared providers over those of the base, by id. */
import { type JsonObject, listAt, put, upsert } from "../../data/json.ts";
import { warning } from "../../failure/warning.ts";
import { baseId } from "../servers/base.ts";
import { isDirect, providerType } from "../servers/catalogue.ts";
import { type Declared, entriesOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import { soundStage, type Stage } from "../stage.ts";

export const overlayProviders: Stage<never> = soundStage((draft, facts) => {
  const { family, catalogue } = facts.server;
  const lost = family.droppedApis.filter((api) =>
    Object.hasOwn(draft.config.providers as JsonObject, api) || listAt(draft.config, "apis").includes(api)
  );
  const kept = lost.reduce(
    (config, api) => put(withEntries(config, api, []), ["apis"], listAt(config, "apis").filter((name) => name !== api)),
    draft.config,
  );
  const trimmed = family.droppedKeys.reduce((config, path) => put(config, path, undefined), kept);
  const one = draft.declared.filter(({ api }) => isDirect(catalogue, api));
  // Of the providers of such an API the server uses one, the last: what the base config has would be for nothing.
  const cleared = one.reduce(
    (config, { api, id }) => withEntries(config, api, entriesOf(config, api).filter((entry) => baseId(entry) === id)),
    trimmed,
  );
  const laid = draft.declared.reduce(lay, cleared);
  const last = new Map(one.map((declared) => [declared.api, declared]));
  return noted(withConfig(draft, laid), {
    warnings: [
      ...lost.map((api) =>
        warning(
          "SectionDropped",
          draft.basePath,
          `${facts.serverName} has no ${api} API; that section of the base config is omitted`,
        )
      ),
      ...one.filter(({ api }) => !asksOthers(last.get(api), facts)).filter((declared) =>
        declared !== last.get(declared.api)
      ).map(({ api, path }) =>
        warning(
          "OneProviderOnly",
          path,
          `the server uses only one ${api} provider: ${last.get(api)?.id} (the last); remove this one`,
        )
      ),
    ],
  });
});

/** A provider of an API with one that hands requests on to the others. Source: set_sibling_providers in core/resolver.py. */
export const asksOthers = (declared: Declared | undefined, { server: { catalogue } }: Pick<Facts, "server">): boolean =>
  declared !== undefined &&
  Object.hasOwn(providerType(catalogue, declared.api, declared.type)?.fields ?? {}, "priority");

/** An entry of the base config with that id is replaced in place and is no longer conditional; a new id is appended. */
const lay = (config: JsonObject, { api, id, type, config: own, module }: Declared): JsonObject => {
  const entry: JsonObject = {
    provider_id: id,
    provider_type: type,
    ...(module === undefined ? {} : { module }),
    config: own,
  };
  return withEntries(config, api, upsert(entriesOf(config, api), entry, (other) => baseId(other) === id));
};
