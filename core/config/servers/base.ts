/** Stages 2 and 3: read the base config within bounds, and check it against the server family. */
import * as Result from "effect/Result";
import { BaseUnreadable, UnsupportedConfigVersion } from "../../failure/failures.ts";
import { closest, didYouMean } from "../../data/closest.ts";
import type { DoubledKey } from "../../data/doubled_keys.ts";
import type { FieldPath } from "../../data/field_path.ts";
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  stringAt,
} from "../../data/json.ts";
import { BASE_BYTES_MAX } from "../../data/limits.ts";
import { onOneLine } from "../../data/printable.ts";
import type { BaseSource } from "./image_labels.ts";
import { onceForEach } from "../../data/once_for_each.ts";
import { readExactConfigYaml } from "../../data/yaml.ts";
import { CATALOGUES, providerType } from "./catalogue.ts";
import { withoutReplaced } from "./doubled_providers.ts";
import { type Server, serverName } from "./families/families.ts";
import { startableTypes } from "./families/unstartable_types.ts";

/**
 * The tree of a base config that this server family accepts. Bytes, values, depth and aliases are bounded (limits.ts).
 */
export const readBase = (
  source: BaseSource,
  server: Server,
): Result.Result<JsonObject, BaseUnreadable | UnsupportedConfigVersion> =>
  Result.flatMap(parsed(source), ({ tree }) => Result.map(fitting(tree, source, server), withoutReplaced));

/** As it is written, with entries that the server does not use. */
export const writtenIn = (source: BaseSource): JsonObject =>
  Result.getOrElse(Result.map(parsed(source), ({ tree }) => tree), () => ({}));

/** Keys that it has twice, of which the server reads the last. */
export const doubledIn = (source: BaseSource): ReadonlyArray<DoubledKey> =>
  Result.getOrElse(Result.map(parsed(source), ({ doubled }) => doubled), () => []);

/** Where the author of a resource sees what is wrong with its base config. */
export const pathOf = ({ path }: BaseSource): FieldPath => path ?? ["spec", "distribution"];

/**
 * The same source is parsed once: trees are never changed, and a distribution's base serves every resource of that name.
 * Weak, so that the trees of passing sources (labels, files) go with them.
 */
const parsed = onceForEach((source: BaseSource): Result.Result<ParsedBase, BaseUnreadable> =>
  Result.flatMap(textOf(source), (text) => treeOf(text, source))
);

interface ParsedBase {
  readonly tree: JsonObject;
  readonly doubled: ReadonlyArray<DoubledKey>;
}

const unreadable = (source: BaseSource, detail: string) =>
  Result.fail(new BaseUnreadable({ path: pathOf(source), origin: source.origin, detail }));

const textOf = (source: BaseSource): Result.Result<string, BaseUnreadable> => {
  const { content, origin } = source;
  const bytes = typeof content === "string" ? content.length : content.byteLength;
  if (bytes > BASE_BYTES_MAX) {
    return unreadable(source, `it is ${bytes} bytes; at most ${BASE_BYTES_MAX} are supported`);
  }
  if (typeof content === "string") return Result.succeed(content);
  return Result.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(content),
    catch: () => new BaseUnreadable({ path: pathOf(source), origin, detail: "it is not UTF-8" }),
  });
};

const treeOf = (text: string, source: BaseSource): Result.Result<ParsedBase, BaseUnreadable> => {
  const read = readExactConfigYaml(text);
  if (Result.isFailure(read)) return unreadable(source, read.failure.detail);
  const { tree, doubled } = read.success;
  return isObject(tree) ? Result.succeed({ tree, doubled }) : unreadable(source, "its top level is not a map");
};

/** Without sections that are written without content, where the server takes them for absent. */
const withoutEmpty = (tree: JsonObject, { catalogue }: Server): JsonObject => {
  const fields = catalogue.models[catalogue.config.class]?.fields ?? {};
  const empty = Object.keys(tree).filter((key) =>
    tree[key] === null && Object.hasOwn(fields, key) && fields[key]?.nullable === true
  );
  return empty.length === 0 ? tree : omit(tree, ...empty);
};

const fitting = (
  written: JsonObject,
  source: BaseSource,
  server: Server,
): Result.Result<JsonObject, BaseUnreadable | UnsupportedConfigVersion> => {
  const version = member(written, "version");
  const refuse = (contradictions: ReadonlyArray<string>) =>
    Result.fail(
      new UnsupportedConfigVersion({
        path: pathOf(source),
        version: isObject(version) || isList(version) || version === null ? "?" : String(version ?? "(none)"),
        origin: source.origin,
        contradictions,
      }),
    );
  if (version !== 2 && version !== "2") return refuse([]);
  const tree = withoutEmpty(written, server);
  const misshapen = MAPS.filter(([...keys]) => {
    const found = keys.reduce<Json | undefined>((inner, key) => member(inner, key), tree);
    return found !== undefined && !isObject(found);
  }).map((keys) => keys.join("."));
  if (misshapen.length > 0) return unreadable(source, `${misshapen.join(", ")} must be a map`);
  const wrong = malformedProviders(tree);
  if (wrong.length > 0) return unreadable(source, wrong.join("; "));
  const contradictions = contradictionsIn(tree, server);
  return contradictions.length > 0 ? refuse(contradictions) : Result.succeed(tree);
};

/** APIs and provider types for which the server does not start; those that are left out of a base are none, if `drops` is set. */
export const contradictionsIn = (tree: JsonObject, server: Server, drops = true): ReadonlyArray<string> => {
  const droppedApis = drops ? server.family.droppedApis : [];
  return [...foreignApis(tree, server, droppedApis), ...foreignTypes(tree, server, droppedApis)];
};

/**
 * Whether the server opens the APIs of all providers. A list without items does so only where the server tells no difference between
 * it and none. Source: apis of StackConfig in core/datatypes.py.
 */
export const opensAllApis = (tree: JsonObject, { catalogue }: Pick<Server, "catalogue">): boolean => {
  const isAuthoritative = catalogue.models[catalogue.config.class]?.fields.apis?.nullable === true;
  return listAt(tree, "apis").length === 0 && !(isAuthoritative && isList(member(tree, "apis") ?? null));
};

/** The places that the stages treat as maps; everything else in a base config is passed through unchanged. */
const MAPS: ReadonlyArray<ReadonlyArray<string>> = [
  ["providers"],
  ["storage"],
  ["storage", "backends"],
  ["storage", "stores"],
  ["registered_resources"],
  ["server"],
  ["vector_stores"],
];

const malformedProviders = (tree: JsonObject): ReadonlyArray<string> => {
  if (member(tree, "providers") === undefined) return ["providers is missing"];
  const apis = member(tree, "apis");
  const names = apis === undefined || isList(apis) && apis.every((name) => typeof name === "string")
    ? []
    : ["apis must be a list of names"];
  return [
    ...names,
    ...Object.entries(objectAt(tree, "providers")).flatMap(([api, entries]) => {
      if (!isList(entries)) return [`providers.${api} must be a list`];
      return entries.flatMap((entry, index) => malformedEntry(entry, `providers.${api}[${index}]`));
    }),
    ...Object.entries(objectAt(tree, "registered_resources")).flatMap(([kind, entries]) =>
      isList(entries) && entries.every(isObject) ? [] : [`registered_resources.${kind} must be a list of maps`]
    ),
  ];
};

const malformedEntry = (entry: Json, place: string): ReadonlyArray<string> => {
  if (!isObject(entry)) return [`${place} must be a map`];
  const lacking = ENTRY_KEYS.filter((key) =>
    key === "provider_type" ? typeof entry[key] !== "string" : !Object.hasOwn(entry, key)
  );
  return lacking.map((key) => {
    const near = Object.keys(entry).filter((other) =>
      !ENTRY_KEYS.includes(other) && closest(other, ENTRY_KEYS, 1)[0] === key
    );
    return `${place} needs ${key}${near[0] === undefined ? "" : `, and has ${onOneLine(near[0], KEY_CHARACTERS_MAX)}`}`;
  });
};

const ENTRY_KEYS: ReadonlyArray<string> = ["provider_id", "provider_type"];
const KEY_CHARACTERS_MAX = 60;

const foreignApis = (
  tree: JsonObject,
  server: Server,
  droppedApis: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const { catalogue, version } = server;
  const unknown = isOfFolder(tree, APIS_FOLDER) ? [] : unknownApis(tree, server, droppedApis);
  const isKnown = (api: string) => CATALOGUES.some(({ apis }) => Object.hasOwn(apis, api));
  const near = [
    ...new Set(unknown.filter((api) => !isKnown(api)).map((api) => didYouMean(api, Object.keys(catalogue.apis)))),
  ];
  return unknown.length === 0 ? [] : [`${serverName(version)} has no API ${unknown.join(", ")}${near.join("")}`];
};

const unknownApis = (
  tree: JsonObject,
  { catalogue }: Server,
  droppedApis: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  [...new Set([...listAt(tree, "apis").map(String), ...Object.keys(objectAt(tree, "providers"))])]
    .filter((api) => !Object.hasOwn(catalogue.apis, api) && !droppedApis.includes(api) && !api.includes("${env."));

const foreignTypes = (
  tree: JsonObject,
  server: Server,
  droppedApis: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  unknownTypes(tree, server, droppedApis)
    .filter(({ type }) => !(isOfFolder(tree, PROVIDERS_FOLDER) && IN_FOLDER.test(type)))
    .map(({ api, type }) =>
      `${serverName(server.version)} has no ${api} provider ${type}${nearType(type, api, server)}`
    );

const unknownTypes = (
  tree: JsonObject,
  { catalogue }: Server,
  droppedApis: ReadonlyArray<string>,
): ReadonlyArray<{ readonly api: string; readonly type: string }> =>
  Object.entries(objectAt(tree, "providers")).flatMap(([api, entries]) =>
    (isList(entries) ? entries : [])
      // An entry behind a condition is not held against the registry by the server while it is off.
      .filter((entry) => !isConditional(entry) && member(entry, "module") === undefined)
      .flatMap((entry) => stringAt(entry, "provider_type") ?? [])
      .filter((type) =>
        Object.hasOwn(catalogue.apis, api) && !droppedApis.includes(api) && !type.includes("${env.") &&
        providerType(catalogue, api, type) === undefined
      )
      .map((type) => ({ api, type }))
  );

/**
 * Folders of the pod in which a server looks for types and APIs beside its own. Source: get_external_providers_from_dir in
 * core/distribution.py, load_external_apis in core/external.py.
 */
const PROVIDERS_FOLDER = "external_providers_dir";
const APIS_FOLDER = "external_apis_dir";
/** Types that a file in that folder can have. */
const IN_FOLDER = /^(remote|inline)::/;

const isOfFolder = (tree: JsonObject, key: string): boolean => ![undefined, ""].includes(stringAt(tree, key));

/** What may be in these folders, by the key of each. */
export const foreignInFolder = (tree: JsonObject, server: Server): Readonly<Record<string, ReadonlyArray<string>>> => ({
  [PROVIDERS_FOLDER]: isOfFolder(tree, PROVIDERS_FOLDER)
    ? [...new Set(unknownTypes(tree, server, []).map(({ api, type }) => `${api} provider ${type}`))]
      .filter((name) => IN_FOLDER.test(name.split(" ").at(-1) ?? ""))
    : [],
  [APIS_FOLDER]: isOfFolder(tree, APIS_FOLDER) ? unknownApis(tree, server, []).map((api) => `API ${api}`) : [],
});

/** Of a type that no server has. */
const nearType = (type: string, api: string, server: Server): string =>
  CATALOGUES.some((other) => providerType(other, api, type) !== undefined)
    ? ""
    // A single colon, as in remote:vllm, would make the kind a part of the name.
    : didYouMean(type.replace(/^(remote|inline):(?!:)/, "$1::"), startableTypes(server, api));

/**
 * The id of an entry in the base config: `${env.X:+name}` counts as `name`; undefined if only the environment
 * determines the id.
 */
export const baseId = (entry: Json): string | undefined => {
  const id = stringAt(entry, "provider_id");
  return id === undefined ? undefined : CONDITIONAL.exec(id)?.[2] ?? id;
};

/** The variable that switches an entry on, e.g. `VLLM_URL` for `${env.VLLM_URL:+vllm}`. */
export const conditionOf = (entry: Json): string | undefined =>
  CONDITIONAL.exec(stringAt(entry, "provider_id") ?? "")?.[1];

/** True for an entry whose id depends on the environment, so that it may be switched off. */
export const isConditional = (entry: Json): boolean => {
  const id = stringAt(entry, "provider_id");
  return id === undefined || OF_VARIABLE.test(id);
};

/** Other forms are not expanded, and stay in the id as they are. */
const OF_VARIABLE = /\$\{env\.[A-Z0-9_]+(?::[=+][^}]*)?\}/;

const CONDITIONAL = /^\$\{env\.([A-Z0-9_]+):\+([^}]*)\}$/;
