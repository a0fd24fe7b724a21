/** What is wrong with a config itself, as lint says it of `spec.overrideConfig`. */
import { foldersOf } from "../config/data_folders.ts";
import { ownConfigWarnings } from "../config/own_config_warnings.ts";
import type { Server } from "../config/servers/families/families.ts";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import type { DoubledKey } from "../data/doubled_keys.ts";
import type { WarningCode } from "../failure/warning.ts";
import { LOCAL } from "./leaves.ts";
import type { Variables } from "./variables.ts";

export const faultsOf = (
  tree: JsonObject,
  server: Server,
  variables: Variables,
  doubled: ReadonlyArray<DoubledKey> = [],
): ReadonlyArray<string> => {
  const env = [...variables].map(([name, found]) =>
    found.kind === "value"
      ? { name, value: found.value }
      : { name, valueFrom: { secretKeyRef: { name: "any", key: "any" } } }
  );
  const spec = { distribution: { name: "starter" }, workload: { overrides: { env } } };
  const found = ownConfigWarnings(undefined, withOwnFolder(tree), {
    spec,
    doubled,
    server,
    folders: foldersOf(spec),
    isShipped: false,
    secretValue: () => undefined,
    fitting: () => [],
  });
  return [
    ...new Set(found.filter(({ code }) => !ELSEWHERE.has(code)).map(({ message }) => message)),
  ];
};

/** Files are in the folder of the operator then. */
const withOwnFolder = (tree: JsonObject): JsonObject =>
  Object.keys(objectAt(tree, "providers")).reduce((config, api) => {
    const entries = listAt(config, "providers", api).map((entry) => {
      const own = objectAt(entry, "config");
      if (!isObject(entry) || stringAt(entry, "provider_type")?.startsWith("inline::") !== true) return entry;
      const files = Object.entries(own).filter(([key, value]) => LOCAL.has(key) && typeof value === "string");
      const moved = files.map(([key, value]) => [key, `${FOLDER}/${String(value).split("/").at(-1)}`]);
      return files.length === 0 ? entry : { ...entry, config: { ...own, ...Object.fromEntries(moved) } };
    });
    return entries.length === 0 ? config : put(config, ["providers", api], entries);
  }, tree);

const FOLDER = foldersOf({ distribution: { name: "starter" } }).state;

/** Variables and keys that are not read have lines of their own; the others are about the pod and not about the config. */
const ELSEWHERE: ReadonlySet<WarningCode> = new Set([
  "VariableNotSet",
  "VariableNotKnown",
  "SectionIgnored",
  "SharedSqlite",
  "EndpointOfPod",
  "CredentialsMissing",
  "FileNotMounted",
]);
