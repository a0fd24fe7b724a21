/**
 * External providers over those of the base config and of the resource, by id. Type and module are filled in inside the pod
 * (external_providers.ts).
 */
import { NotSupportedByServer } from "../../failure/failures.ts";
import { formatPath } from "../../data/field_path.ts";
import { type JsonObject, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { apiOn, withoutApi } from "../servers/families/families.ts";
import { baseId } from "../servers/base.ts";
import { type Draft, entriesOf, entryOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import { externalProviders, type ListedProvider, unknownType } from "../external_providers.ts";
import { envName, placeholder, secretEntry } from "./secrets.ts";
import type { Stage, Staged } from "../stage.ts";

export const addExternalProviders: Stage<NotSupportedByServer> = (draft, facts) =>
  externalProviders(facts.spec).reduce<Staged<NotSupportedByServer>>(
    ({ draft, failures }, listed) => {
      const api = apiOn(facts.server, listed.api);
      return api === undefined
        ? { draft, failures: [...failures, unsupported(listed, facts)] }
        : { draft: added(draft, { ...listed, api }), failures };
    },
    { draft, failures: [] },
  );

const unsupported = ({ api, path }: ListedProvider, { server, serverName }: Facts) =>
  new NotSupportedByServer({
    path,
    what: `${api} API`,
    server: serverName,
    instead: withoutApi(server, api),
  });

const added = (draft: Draft, { api, provider, path }: ListedProvider): Draft => {
  const { providerId: id, image, config = {}, secretRefs = {} } = provider;
  const secrets = Object.entries(secretRefs).map(([field, ref]) => ({
    field,
    entry: secretEntry(envName(id, field), ref, [...path, "secretRefs", field]),
  }));
  const entry: JsonObject = {
    provider_id: id,
    provider_type: unknownType(id),
    config: {
      ...config as JsonObject,
      ...Object.fromEntries(secrets.map(({ field, entry: { env } }) => [field, placeholder(env.name)])),
    },
  };
  const replaced = entryOf(draft.config, api, id);
  const overruled = draft.declared.find((other) => other.api === api && other.id === id);
  const entries = upsert(entriesOf(draft.config, api), entry, (other) => baseId(other) === id);
  const next = noted(withConfig(draft, withEntries(draft.config, api, entries)), {
    declared: [{ api, id, type: unknownType(id), path, config: entry.config as JsonObject }],
    env: secrets.map(({ entry }) => entry),
    external: [{ id, api, image }],
    warnings: [
      ...(replaced === undefined ? [] : [replaces(replaced, overruled !== undefined, api, id, path)]),
      ...secrets.filter(({ field }) => Object.hasOwn(config, field)).map(({ field }) =>
        warning(
          "SettingOverruled",
          [...path, "config", field],
          "ignored, because secretRefs sets the same field; remove one of them",
        )
      ),
    ],
  });
  if (overruled === undefined) return next;
  // Nothing reads the variables of a provider that is replaced.
  const within = `${formatPath(overruled.path)}.`;
  return {
    ...next,
    declared: next.declared.filter((other) => other !== overruled),
    env: next.env.filter((other) => !formatPath(other.path).startsWith(within)),
  };
};

const replaces = (
  replaced: JsonObject,
  isOfResource: boolean,
  api: string,
  id: string,
  path: ListedProvider["path"],
): Warning =>
  warning(
    "ProviderReplaced",
    [...path, "providerId"],
    `replaces the ${api} provider "${id}" of type ${stringAt(replaced, "provider_type") ?? "unknown"}, which ${
      isOfResource ? "spec.providers" : "the base config"
    } has`,
  );
