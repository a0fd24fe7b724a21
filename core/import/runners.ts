/** What runs a config, with its image and variables: a LlamaStackDistribution, a container of a workload, a service of a compose file. */
import type { DoubledKey } from "../data/doubled_keys.ts";
import { readV1alpha1 } from "../api/read_v1alpha1.ts";
import { KIND } from "../api/v1alpha2.ts";
import {
  at,
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
  put,
  stringAt,
} from "../data/json.ts";
import { carriedFromPod, leftOfService, namedPort } from "./carried.ts";
import { TO_FILL_IN } from "./express.ts";
import { ownMetadata } from "./object_text.ts";
import { type Variable, variableOf, type Variables } from "./variables.ts";

export interface Document {
  readonly file: string;
  readonly value: JsonObject;
  /** Keys that it has twice, if it is a config. */
  readonly doubled?: ReadonlyArray<DoubledKey>;
}

/** What runs a server. */
export interface Runner {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly image: string | undefined;
  readonly resource?: JsonObject;
  /** Labels and annotations of the resource. */
  readonly metadata?: JsonObject;
  readonly distribution?: { readonly name?: string | undefined; readonly serverVersion?: string | undefined };
  /** ConfigMaps, or configs of a compose file. */
  readonly mounts: ReadonlyArray<string>;
  /** Files of the machine. */
  readonly files: ReadonlyArray<string>;
  readonly variables: Variables;
  readonly env: ReadonlyArray<Json>;
  readonly isComplete: boolean;
  readonly spec: JsonObject;
  /** The port that its command line names. */
  readonly listensOn?: number | undefined;
  readonly notes: ReadonlyArray<string>;
  /** Volumes of the container, as `spec.workload.storage` has them. */
  readonly claims?: ReadonlyArray<{ readonly existingClaim: string; readonly mountPath: string }>;
}

export const SERVER_IMAGE = /llama-?stack|ogx|distribution-/i;

/** Variables that name the config file, which the operator sets itself. */
export const CONFIG_PATHS: ReadonlySet<string> = new Set([
  "RUN_CONFIG_PATH",
  "LLAMA_STACK_CONFIG",
  "OGX_CONFIG",
  "LLAMA_STACK_PORT",
  "OGX_PORT",
]);

export const runnersIn = ({ value }: Document, all: ReadonlyArray<Document>): ReadonlyArray<Runner> => {
  if (value.kind === KIND) return [ofResource(value, all)];
  const services = objectAt(value, "services");
  if (value.kind === undefined) {
    return Object.entries(services).map(([name, service]) => ofService(name, objectAt(service)));
  }
  const pod = value.kind === "Pod" ? objectAt(value, "spec") : objectAt(value, "spec", "template", "spec");
  return listAt(pod, "containers").filter(isObject).map((container) => ofContainer(value, pod, container, all));
};

const ofResource = (document: JsonObject, all: ReadonlyArray<Document>): Runner => {
  const current = readV1alpha1(document)?.resource ?? document;
  const spec = objectAt(current, "spec");
  const overrides = objectAt(spec, "workload", "overrides");
  const map = stringAt(spec, "overrideConfig", "configMapName");
  const volumes = listAt(overrides, "volumes");
  // Without a field for the config, it is in a volume; the ConfigMap that has it may not be there yet.
  const isConfig = map === undefined ? holdingConfig(volumes, all) : (name: string) => name === map;
  const own = volumes.filter((volume) => isConfig(volumeOf(volume) ?? "") && volumeOf(volume) !== undefined);
  const isOwn = (mount: Json) => own.some((volume) => stringAt(volume, "name") === stringAt(mount, "name"));
  const kept = (list: ReadonlyArray<Json>, isGone: (item: Json) => boolean) => {
    const rest = list.filter((item) => !isGone(item));
    return rest.length === 0 ? undefined : rest;
  };
  const isForConfig = own.length > 0 || map !== undefined;
  const cleaned = isForConfig
    ? ([
      ["volumes", kept(volumes, (volume) => own.includes(volume))],
      ["volumeMounts", kept(listAt(overrides, "volumeMounts"), isOwn)],
      ["command", undefined],
      ["args", undefined],
    ] as const).reduce<JsonObject>((tree, [key, inner]) => put(tree, [key], inner), overrides)
    : overrides;
  const env = listAt(overrides, "env");
  const workload = put(objectAt(spec, "workload"), ["overrides"], empty(omit(cleaned, "env")));
  const { name, image, serverVersion } = objectAt(spec, "distribution");
  return {
    name: stringAt(current, "metadata", "name"),
    namespace: stringAt(current, "metadata", "namespace"),
    image: typeof image === "string" ? image : undefined,
    resource: current,
    metadata: ownMetadata(current),
    distribution: {
      ...(typeof name === "string" ? { name } : {}),
      ...(typeof serverVersion === "string" ? { serverVersion } : {}),
    },
    mounts: [...(map === undefined ? [] : [map]), ...own.flatMap((volume) => volumeOf(volume) ?? [])],
    files: [],
    ...environment({ env, envFrom: listAt(overrides, "envFrom") }, all),
    env,
    spec: put(omit(spec, "distribution", "overrideConfig"), ["workload"], empty(workload)),
    notes: isForConfig && (overrides.command !== undefined || overrides.args !== undefined)
      ? ["command and args of the container are left out: the operator starts the server itself"]
      : [],
  };
};

const empty = (value: JsonObject): JsonObject | undefined => Object.keys(value).length === 0 ? undefined : value;

export const holdsConfig = (text: Json): boolean => typeof text === "string" && /^(apis|providers):/m.test(text);

/** Which ConfigMaps of the volumes have a config; any, if none of those that are here has. */
const holdingConfig = (volumes: ReadonlyArray<Json>, all: ReadonlyArray<Document>): (map: string) => boolean => {
  const found = volumes.flatMap((volume) => volumeOf(volume) ?? []).filter((map) =>
    all.some(({ value }) =>
      value.kind === "ConfigMap" && stringAt(value, "metadata", "name") === map &&
      Object.values(objectAt(value, "data")).some(holdsConfig)
    )
  );
  return (map) => found.length === 0 || found.includes(map);
};

/** The ConfigMap of a volume, also as a part of a projected one. */
const volumeOf = (volume: Json): string | undefined =>
  stringAt(volume, "configMap", "name") ??
    listAt(volume, "projected", "sources").map((source) => stringAt(source, "configMap", "name"))[0];

const ofContainer = (
  object: JsonObject,
  pod: JsonObject,
  container: JsonObject,
  all: ReadonlyArray<Document>,
): Runner => {
  const env = listAt(container, "env");
  const mounted = listAt(container, "volumeMounts").map((mount) => stringAt(mount, "name"));
  const claims = listAt(pod, "volumes").filter((volume) =>
    stringAt(volume, "persistentVolumeClaim", "claimName") !== undefined
  );
  const isConfig = holdingConfig(listAt(pod, "volumes"), all);
  const { spec, listensOn, left } = carriedFromPod(
    object,
    pod,
    container,
    (volume) => isConfig(volumeOf(volume) ?? "") && volumeOf(volume) !== undefined || claims.includes(volume),
  );
  return {
    name: stringAt(object, "metadata", "name"),
    namespace: stringAt(object, "metadata", "namespace"),
    image: stringAt(container, "image"),
    mounts: listAt(pod, "volumes").filter((volume) => mounted.includes(stringAt(volume, "name"))).flatMap((volume) =>
      volumeOf(volume) ?? []
    ),
    files: [],
    ...environment({ env, envFrom: listAt(container, "envFrom") }, all),
    env,
    spec,
    listensOn,
    notes: notCarried(left),
    claims: claims.flatMap((volume) => {
      const mount = listAt(container, "volumeMounts").find((item) =>
        stringAt(item, "name") === stringAt(volume, "name")
      );
      const [claim, mountPath] = [
        stringAt(volume, "persistentVolumeClaim", "claimName"),
        stringAt(mount ?? null, "mountPath"),
      ];
      return claim === undefined || mountPath === undefined ? [] : [{ existingClaim: claim, mountPath }];
    }),
  };
};

const notCarried = (left: ReadonlyArray<string>): ReadonlyArray<string> =>
  left.length === 0 ? [] : [`not carried over: ${[...new Set(left)].join(", ")}`];

const sourceOfVolume = (volume: Json): string => String(isObject(volume) ? volume.source : volume).split(":")[0] ?? "";

const CONFIG_FILE = /\.ya?ml$/;

const ofService = (name: string, service: JsonObject): Runner => {
  const listed = service.environment;
  const pairs = isList(listed ?? null)
    ? (listed as ReadonlyArray<Json>).map((item) => /^([^=]*)(?:=(.*))?$/s.exec(String(item))).map((found) =>
      [found?.[1] ?? "", found?.[2]] as const
    )
    : Object.entries(objectAt(service, "environment")).map(([key, value]) =>
      [key, value === null ? undefined : String(value)] as const
    );
  const variables = new Map(pairs.map(([key, text]): [string, Variable] => [key, interpolated(key, text)]));
  // Of secret ones only the names: the Secret that is to be created has their values.
  const env = [...variables].map(([name, found]) => ({
    name,
    value: found.kind === "value" ? found.value : found.kind === "secret" ? "" : TO_FILL_IN,
  }));
  return {
    name,
    namespace: undefined,
    image: stringAt(service, "image"),
    mounts: listAt(service, "configs").map((config) =>
      typeof config === "string" ? config : stringAt(config, "source") ?? ""
    ),
    files: listAt(service, "volumes").map(sourceOfVolume).filter((path) => CONFIG_FILE.test(path)),
    variables,
    env,
    isComplete: service.env_file === undefined,
    spec: {},
    listensOn: namedPort({ ...service, env }),
    notes: [
      ...(service.env_file === undefined ? [] : ["env_file of the service is not read; add it with --env-file"]),
      ...notCarried(leftOfService(service, (volume) => CONFIG_FILE.test(sourceOfVolume(volume)))),
    ],
  };
};

/** `${NAME:-default}` of compose; without a default the value is in the shell of the author. */
const interpolated = (name: string, text: string | undefined): Variable => {
  const settled = text?.replaceAll(/\$\{[A-Za-z0-9_]+:?-([^}]*)\}/g, "$1");
  const found = settled === undefined || /\$\{?[A-Za-z_]/.test(settled) ? undefined : variableOf(name, settled);
  return found ?? (variableOf(name, "x").kind === "secret" ? { kind: "secret" } : { kind: "open" });
};

/** Values of Secrets are not read, only their names. */
const environment = (
  { env, envFrom }: { readonly env: ReadonlyArray<Json>; readonly envFrom: ReadonlyArray<Json> },
  all: ReadonlyArray<Document>,
): { readonly variables: Variables; readonly isComplete: boolean } => {
  const objectOf = (kind: string, name: string | undefined) =>
    all.find(({ value }) => value.kind === kind && stringAt(value, "metadata", "name") === name)?.value;
  const variables = new Map<string, Variable>();
  let isComplete = true;
  for (const source of envFrom) {
    const [secret, map] = [stringAt(source, "secretRef", "name"), stringAt(source, "configMapRef", "name")];
    const object = objectOf(secret === undefined ? "ConfigMap" : "Secret", secret ?? map);
    if (object === undefined) isComplete = false;
    const prefix = stringAt(source, "prefix") ?? "";
    for (const [key, value] of Object.entries({ ...objectAt(object, "data"), ...objectAt(object, "stringData") })) {
      variables.set(
        `${prefix}${key}`,
        secret === undefined ? variableOf(key, String(value)) : { kind: "secret", ref: { name: secret, key } },
      );
    }
  }
  for (const item of env) {
    const name = stringAt(item, "name") ?? "";
    const value = at(item, "value");
    const valueFrom = objectAt(item, "valueFrom");
    const [secret, map] = [objectAt(valueFrom, "secretKeyRef"), objectAt(valueFrom, "configMapKeyRef")];
    if (typeof secret.name === "string" && typeof secret.key === "string") {
      variables.set(name, { kind: "secret", ref: { name: secret.name, key: secret.key } });
    } else if (typeof map.name === "string") {
      const text = at(objectOf("ConfigMap", map.name), "data", String(map.key));
      variables.set(name, typeof text === "string" ? variableOf(name, text) : { kind: "open", valueFrom });
    } else if (Object.keys(valueFrom).length > 0) {
      variables.set(name, { kind: "open", valueFrom });
    } else {
      variables.set(
        name,
        value === undefined || String(value).includes("$(") && variableOf(name, String(value)).kind !== "secret"
          ? { kind: "open" }
          : variableOf(name, String(value)),
      );
    }
  }
  return { variables, isComplete };
};

/** Names of ConfigMaps that an object of the cluster uses: its config, and variables. */
export const configMapsOf = (object: JsonObject): ReadonlyArray<string> => {
  const sources = runnersIn({ file: "", value: object }, []);
  const ofVariables = containersOf(object).flatMap((container) => [
    ...listAt(container, "envFrom").map((source) => stringAt(source, "configMapRef", "name")),
    ...listAt(container, "env").map((env) => stringAt(env, "valueFrom", "configMapKeyRef", "name")),
  ]);
  return [...new Set([...sources.flatMap(({ mounts }) => mounts), ...ofVariables.flatMap((name) => name ?? [])])];
};

const containersOf = (object: JsonObject): ReadonlyArray<Json> => [
  ...listAt(object, "spec", "template", "spec", "containers"),
  at(object, "spec", "workload", "overrides") ?? {},
  at(object, "spec", "server", "containerSpec") ?? {},
];
