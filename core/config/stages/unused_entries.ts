/** Provider entries of a config that its server reads and does not use, or of which nothing is known here. */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { entriesOf } from "../draft.ts";
import { type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { doubledProviders } from "../servers/doubled_providers.ts";
import { foreignInFolder } from "../servers/base.ts";
import { providerType } from "../servers/catalogue.ts";
import { type Server, serverName } from "../servers/families/families.ts";
import type { EntryFinding } from "./entry_findings.ts";

/** Of entries with the same id, all but the last. */
export const replacedEntries = (config: JsonObject): ReadonlyArray<EntryFinding> =>
  doubledProviders(config).map(({ api, indexes }) => ({
    path: ["providers", api, indexes.at(-1) ?? 0, "provider_id"],
    message: `the same as that of ${
      indexes.slice(0, -1).map((index) => `providers.${api}[${index}]`).join(" and ")
    }, and the server uses only the last entry with an id; choose another one, or remove the entries before`,
    isFatal: false,
    code: "ProviderReplaced",
  }));

/** Entries whose type has variables, or what looks like one, where the server has no such type as comes of it. */
export const foreignTypesOfVariables = (
  config: JsonObject,
  { catalogue, version }: Server,
  { environment, valueOf }: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  ![undefined, ""].includes(stringAt(config, "external_providers_dir"))
    ? []
    : Object.keys(objectAt(config, "providers")).flatMap((api) =>
      entriesOf(config, api).flatMap((entry, index): ReadonlyArray<EntryFinding> => {
        const type = stringAt(entry, "provider_type") ?? "";
        const isJudged = type.includes("${env.") && stringAt(entry, "module") === undefined &&
          Object.hasOwn(catalogue.apis, api) && stateOf(entry, environment) === "On";
        const read = isJudged ? readValue(type, valueOf) : undefined;
        return read === undefined || providerType(catalogue, api, String(read)) !== undefined ? [] : [{
          path: ["providers", api, index, "provider_type"],
          message: `${read === type ? "" : `becomes ${quoted(String(read ?? ""))}, and `}${
            serverName(version)
          } has no ${api} provider of this type`,
          isFatal: true,
        }];
      })
    );

/** APIs and types that a folder in the image may define, in place of the errors that they are without one. */
export const uncheckedEntries = (config: JsonObject, server: Server): ReadonlyArray<EntryFinding> =>
  Object.entries(foreignInFolder(config, server)).flatMap(([key, names]): ReadonlyArray<EntryFinding> =>
    names.length === 0 || stringAt(config, key) === undefined ? [] : [{
      path: [key],
      message:
        `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not of ${
          serverName(server.version)
        } itself and may be in this folder of the pod, so ${
          names.length === 1 ? "it was" : "they were"
        } not checked; ` +
        "servers warn that such folders are deprecated: spec.externalProviders installs providers from images " +
        "(docs/external-providers.md)",
      isFatal: false,
      code: "ProviderNotChecked",
    }]
  );
