/**
 * What is imported: a config.yaml, alone or in a ConfigMap, and what runs it: a LlamaStackDistribution with a config of its own, the
 * container of a workload, or a service of a compose file. Several of these may come together.
 */
import * as Result from "effect/Result";
import { variablesIn } from "../config/known_environment.ts";
import {
  at,
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  put,
  stringAt,
} from "../data/json.ts";
import type { DoubledKey } from "../data/doubled_keys.ts";
import { readExactConfigYaml, readManifests } from "../data/yaml.ts";
import type { Source } from "./importing.ts";
import { CONFIG_PATHS, type Document, holdsConfig, type Runner, runnersIn, SERVER_IMAGE } from "./runners.ts";
import type { Variables } from "./variables.ts";
import { secretName } from "./wanted.ts";

/** A file, or standard input under the name `-`. */
interface InputFile {
  readonly name: string;
  readonly text: string;
}

export interface Found extends Source {
  /** The image that ran the config. */
  readonly image: string | undefined;
  /** The distribution that a resource names. */
  readonly distribution: { readonly name?: string | undefined; readonly serverVersion?: string | undefined };
  /** The file or the object that the config is from. */
  readonly origin: string;
  readonly notes: ReadonlyArray<string>;
}

export interface SourceOptions {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly variables: Variables | undefined;
  /** Whether volumes are used again. */
  readonly keepData?: boolean;
}

/** The error is a sentence. */
export const sourceOf = (files: ReadonlyArray<InputFile>, options: SourceOptions): Result.Result<Found, string> => {
  const read = files.map(readFile);
  const unread = read.find(Result.isFailure);
  if (unread !== undefined) return Result.fail(unread.failure);
  const documents = read.flatMap((result) => Result.isSuccess(result) ? result.success : []);
  const configs = documents.flatMap(configsIn);
  const runnersOf = new Map(documents.map((document) => [document, runnersIn(document, documents)] as const));
  const runners = [...runnersOf.values()].flat();
  const resource = runners.find(({ resource }) => resource !== undefined);
  const runner = resource ??
    runners.find(({ mounts }) => configs.some(({ map }) => map !== undefined && mounts.includes(map))) ??
    runners.find(({ image }) => SERVER_IMAGE.test(image ?? "")) ?? runners[0];
  const config = configs.find(({ map }) => map !== undefined && runner?.mounts.includes(map)) ?? configs[0];
  if (config === undefined) return Result.fail(missingConfig(files, runner, documents));
  const tree = Result.isFailure(config.tree) ? undefined : config.tree.success;
  if (tree === undefined) {
    return Result.fail(`${config.origin}: ${Result.isFailure(config.tree) ? config.tree.failure : ""}`);
  }
  const given = options.variables ?? new Map();
  const used = new Set(variablesIn(JSON.stringify(tree)));
  const others = (runner?.env ?? []).filter((env) =>
    !used.has(String(member(env, "name"))) && !CONFIG_PATHS.has(String(member(env, "name")))
  );
  const isClear = (env: Json) =>
    at(env, "value") !== undefined && runner?.variables.get(stringAt(env, "name") ?? "")?.kind === "secret";
  const [claim] = runner?.claims ?? [];
  const carried = options.keepData === true && claim !== undefined
    ? put(runner?.spec ?? {}, ["workload", "storage"], claim)
    : runner?.spec ?? {};
  const name = options.name ?? runner?.name ?? "llama-stack";
  const withheld = others.filter(isClear).map((env) => stringAt(env, "name") ?? "");
  const env = others.map((item): Json => {
    const key = stringAt(item, "name") ?? "";
    return isClear(item) ? { name: key, valueFrom: { secretKeyRef: { name: secretName(name), key } } } : item;
  });
  const namespace = options.namespace ?? runner?.namespace;
  const ofConfig = at(tree, "server", "port");
  const port = runner?.listensOn ?? (ofConfig === undefined ? at(carried, "networking", "port") : undefined);
  const spec = port === undefined && runner?.resource === undefined ? omit(carried, "networking") : carried;
  return Result.succeed({
    // The command line comes before the config, and the config before the ports that a container lists.
    tree: port === undefined || !isObject(tree.server ?? {}) ? tree : put(tree, ["server", "port"], port),
    variables: new Map([...(runner?.variables ?? []), ...given]),
    isComplete: runner?.isComplete ?? options.variables !== undefined,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...runner?.metadata },
    spec: others.length === 0 ? spec : put(spec, ["workload", "overrides", "env"], env),
    secrets: withheld,
    image: runner?.image,
    distribution: runner?.distribution ?? {},
    origin: config.origin,
    doubled: config.doubled,
    notes: [
      ...(runner?.notes ?? []),
      ...(claim === undefined || options.keepData === true
        ? []
        : [`the data of claim ${claim.existingClaim} is left behind; --keep-data uses it again`]),
      ...(runner?.env ?? []).filter((env) =>
        used.has(stringAt(env, "name") ?? "") && at(env, "valueFrom", "secretKeyRef", "optional") === true
      ).map((env) => {
        const { name, key } = objectAt(env, "valueFrom", "secretKeyRef");
        return `key ${key} of Secret ${name} is optional there, and required by the resource`;
      }),
      ...leftOut(
        documents.filter((document) => runner === undefined || runnersOf.get(document)?.includes(runner) !== true),
      ),
      ...configs.filter((other) => other !== config).map(({ origin }) =>
        `${origin} is left out: only one config is imported at a time`
      ),
    ],
  });
};

/** Objects beside the one that runs the config: a resource makes its own, or they stay as they are. */
const leftOut = (documents: ReadonlyArray<Document>): ReadonlyArray<string> => {
  const others = documents.map(({ value }) => value).filter((value) =>
    typeof value.kind === "string" && !["ConfigMap", "Secret"].includes(value.kind)
  ).map((value) => `${value.kind} ${stringAt(value, "metadata", "name") ?? ""}`.trim());
  return others.length === 0 ? [] : [`not read: ${[...new Set(others)].join(", ")}`];
};

const readFile = ({ name, text }: InputFile): Result.Result<ReadonlyArray<Document>, string> => {
  // A config is read as the server reads it, everything else as kubectl does.
  const config = readExactConfigYaml(text);
  if (Result.isSuccess(config) && isObject(config.success.tree) && isConfig(config.success.tree)) {
    const { tree, doubled } = config.success;
    return Result.succeed([{ file: name, value: tree, doubled }]);
  }
  const manifests = readManifests(text);
  if (Result.isFailure(manifests)) {
    return Result.fail(
      TEMPLATE.test(text)
        ? `${name}: a Helm template; import what it makes: helm template CHART | llama-stack-operator import -f -`
        : `${name}: ${(Result.isFailure(config) ? config : manifests).failure.message}`,
    );
  }
  return Result.succeed(
    manifests.success.flatMap((value) => stringAt(value, "kind") === "List" ? listAt(value, "items") : [value])
      .filter(isObject).map((value, index) => ({
        file: index > 0 && isConfig(value) ? `${name}, document ${index + 1}` : name,
        value,
      })),
  );
};

/** Actions of a template: `{{ .Values.name }}`, `{{- if … }}`. */
const TEMPLATE = /\{\{-?\s*[a-z.$/]/;

const isConfig = (value: JsonObject): boolean =>
  value.kind === undefined && value.services === undefined && (isObject(value.providers) || isList(value.apis ?? null));

interface Config {
  readonly origin: string;
  /** Of the ConfigMap that has it. */
  readonly map: string | undefined;
  readonly tree: Result.Result<JsonObject, string>;
  /** Keys that it has twice. */
  readonly doubled: ReadonlyArray<DoubledKey>;
}

const configsIn = ({ file, value, doubled = [] }: Document): ReadonlyArray<Config> => {
  if (isConfig(value)) return [{ origin: file, map: undefined, tree: Result.succeed(value), doubled }];
  const texts = value.kind === "ConfigMap"
    ? Object.entries(objectAt(value, "data"))
    : Object.entries(objectAt(value, "configs")).map(([key, config]) =>
      [key, stringAt(config, "content") ?? ""] as const
    );
  const map = stringAt(value, "metadata", "name");
  return texts.flatMap(([key, text]): ReadonlyArray<Config> => {
    if (typeof text !== "string" || !holdsConfig(text)) return [];
    const origin = map === undefined ? `${file}: config ${key}` : `${file}: key ${key} of ConfigMap ${map}`;
    const read = readExactConfigYaml(text);
    if (Result.isFailure(read)) return [{ origin, map, tree: Result.fail(read.failure.message), doubled: [] }];
    const { tree, doubled } = read.success;
    return isObject(tree) && isConfig(tree) ? [{ origin, map: map ?? key, tree: Result.succeed(tree), doubled }] : [];
  }).sort((a, b) => rank(a.origin) - rank(b.origin));
};

const isConfigFile = (key: string): boolean => /^(config|run)\.ya?ml$/.test(key);

const rank = (origin: string): number => /key (config|run)\.yaml/.test(origin) ? 0 : 1;

const missingConfig = (
  files: ReadonlyArray<InputFile>,
  runner: Runner | undefined,
  documents: ReadonlyArray<Document>,
): string => {
  const names = files.map(({ name }) => name).join(", ");
  const secret = documents.map(({ value }) => value).find((value) =>
    value.kind === "Secret" &&
    [value.data, value.stringData].some((data) => Object.keys(objectAt(data ?? {})).some(isConfigFile))
  );
  if (secret !== undefined) {
    return `${names}: the config is in Secret ${
      stringAt(secret, "metadata", "name")
    }, and Secrets are not read; write it to a file, and add that with -f`;
  }
  const [file] = runner?.files ?? [];
  if (file !== undefined) {
    return `${names}: the config of service ${runner?.name} is in ${file}; add it with -f ${file}`;
  }
  const [map] = runner?.mounts ?? [];
  if (map !== undefined) {
    return `${names}: the config is in ConfigMap ${map}; add it with -f, as \`kubectl get configmap ${map} -o yaml\` prints it`;
  }
  return `no config in ${names}: expected a config.yaml or run.yaml with providers, or a manifest with one`;
};
