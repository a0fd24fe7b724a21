/** From a custom resource to a real server that runs the operator's config, with nothing in between. */
import { dirname, join } from "node:path";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import { decodeResource, type Resource } from "../../core/api/decode.ts";
import type { EnvVar } from "../../core/api/embedded.ts";
import { CONFIG_FILE } from "../../core/config/environment.ts";
import type { Server } from "../../core/config/servers/families/families.ts";
import { parsePostgres, postgresSecret } from "../../core/config/connections/postgres_connection.ts";
import { KV_USERINFO, parseRedis, redisUserInfo } from "../../core/config/connections/redis_address.ts";
import { TLS_CERTIFICATE, TLS_KEY } from "../../core/config/stages/server.ts";
import { kvSecretName, sqlSecretName } from "../../core/config/stages/storage.ts";
import { derive, Derived, type Surroundings } from "../../core/config/derive.ts";
import { at, isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { deployment } from "../../core/resources/deployment.ts";
import { blueprintOf, NOWHERE } from "../../core/resources/of_resource.ts";
import { SERVER_VERSIONS, type ServerVersion } from "../install/python_server.ts";
import { freePorts } from "../cluster/free_ports.ts";
import type { ServerCertificate } from "./certificate.ts";
import { type LlamaStack, ServerDidNotStart, startServer } from "./llama_stack.ts";

export type GeneratedConfig = Derived & { readonly _tag: "Generated" };

/**
 * A server with the config of a resource. It is stopped, and its directory removed, with the scope of `await using`.
 */
export interface Booted extends LlamaStack, AsyncDisposable {
  readonly derived: GeneratedConfig;
  readonly server: ServerVersion;
}

/** What the Secrets of the namespace hold: by name, then by key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface BootOptions {
  readonly secrets?: Secrets;
  readonly surroundings?: Partial<Surroundings>;
  /** In place of the Secret that `networking.tls.secretName` names. */
  readonly certificate?: ServerCertificate;
  /** Files of the pod, by their path there. */
  readonly files?: Readonly<Record<string, string>>;
  /** Data of a former server to continue with; it is then kept. */
  readonly folder?: string;
  /** On top of what the operator sets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** In place of the operator's own derivation. */
  readonly derive?: (resource: Resource, surroundings: Surroundings) => Derived;
}

/**
 * Starts the server that the operator would start for this manifest, by the same command and environment.
 *
 * The manifest is taken as it is but for two fields, which this machine decides: the port that the server listens on, and
 * the place of the data volume. Fails with `NoConfig` where the operator has none, with `ServerDidNotStart` where the
 * server ends.
 */
export const boot = async (manifest: JsonObject, options: BootOptions = {}): Promise<Booted> => {
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "llama-stack-operator-boot-" });
  const leave = async () => {
    if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
  };
  try {
    const [port] = freePorts(1) as [number];
    const { derived, server, program, command, config, env } = await podStart(manifest, port, folder, options);
    if (!Derived.$is("Generated")(derived)) throw new NoConfig([], "the operator generates no config");
    const started = await startServer({
      server,
      program,
      command,
      config,
      env: {
        ...env,
        // Tracebacks in a drawn frame keep a core busy for about five seconds each.
        LLAMA_STACK_LOG_FORMAT: "json",
        OGX_LOG_FORMAT: "json",
        ...options.env,
      },
      dataDir: folder,
      port,
      ...(options.certificate === undefined ? {} : { scheme: "https", caFile: options.certificate.caFile }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    });
    let ending: Promise<number> | undefined;
    const stop = () => ending ??= started.stop().finally(leave);
    return { ...started, derived, server, stop, [Symbol.asyncDispose]: async () => void await stop() };
  } catch (cause) {
    await leave();
    throw cause;
  }
};

/** What the pod of a resource runs, with its port and its folders on this machine. */
export interface PodStart {
  readonly resource: Resource;
  readonly derived: Derived;
  readonly server: ServerVersion;
  readonly program: string;
  readonly command: readonly string[];
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Fails with `NoConfig` where the operator has none. */
export const podStart = async (
  manifest: JsonObject,
  port: number,
  folder: string,
  options: Pick<BootOptions, "secrets" | "surroundings" | "certificate" | "files" | "derive"> & {
    /** Where config.yaml will be; if unset, in the folder. */
    readonly configFile?: string;
  } = {},
): Promise<PodStart> => {
  const resource = decoded(onThisMachine(manifest, port, folder));
  const surroundings = { ...DEFAULT_SURROUNDINGS, ...options.surroundings };
  const { derived, text, of } = withConfig((options.derive ?? derivedFrom)(resource, surroundings));
  const pod = objectAt(deployment(blueprintOf(resource, derived, NOWHERE)), "spec", "template", "spec");
  const paths = await podPaths(folder, pod, options);
  if (options.configFile !== undefined) paths.set(CONFIG_FILE, options.configFile);
  const container = containerOf(pod);
  const [program = "", ...command] = container.command.map((word) => inFolder(word, paths));
  const env = environment(container.env, ownedSecrets(resource, of, options.secrets ?? {}), paths);
  const server = serverFor(of);
  const config = inFolder(text, paths);
  return { resource, derived, server, program, command, config, env: { ...env, HOME: folder } };
};

/**
 * As `boot`, but for more than one worker. Workers make their tables at the same moment; the one that comes second may end,
 * and the server with it. The kubelet then starts the container again, with the data of the first start, and so does this.
 */
export const bootWorkers = (
  manifest: JsonObject,
  options: BootOptions & { readonly folder: string },
): Promise<Booted> =>
  boot(manifest, options).catch((cause) =>
    cause instanceof ServerDidNotStart && /failed to start, stopping the parent/.test(cause.log)
      ? boot(manifest, options)
      : Promise.reject(cause)
  );

/** The operator has no config for the resource, and reports why. */
export class NoConfig extends Error {
  override readonly name = "NoConfig";

  constructor(
    /** Tags of the failures, e.g. `UnknownProviderType`; empty if nothing requires a config. */
    readonly tags: readonly string[],
    message: string,
  ) {
    super(message);
  }
}

/** The server that there is for each minor version: its last release. */
const serverFor = ({ version }: Server): ServerVersion => {
  const minor = version.split(".").slice(0, 2).join(".");
  const server = SERVER_VERSIONS.find((name) => name.split(" ")[1]?.startsWith(`${minor}.`));
  if (server === undefined) throw new Error(`no server ${version} is available for tests`);
  return server;
};

const onThisMachine = (manifest: JsonObject, port: number, folder: string): JsonObject => {
  const placed = put(manifest, ["spec", "networking", "port"], port);
  return put(placed, ["spec", "workload", "storage", "mountPath"], folder);
};

const decoded = (manifest: JsonObject): Resource => {
  const resource = decodeResource(manifest, "strict");
  if (Result.isSuccess(resource)) return resource.success;
  throw new NoConfig(["InvalidSpec"], resource.failure.map(({ message }) => message).join("\n"));
};

const derivedFrom = (resource: Resource, surroundings: Surroundings): Derived => {
  const derived = derive(resource, surroundings);
  if (Result.isFailure(derived)) {
    const { failures } = derived.failure;
    throw new NoConfig(failures.map(({ _tag }) => _tag), failures.map(({ message }) => message).join("\n"));
  }
  return derived.success;
};

/** The config that the pod mounts, and the server that reads it. */
const withConfig = (derived: Derived): { readonly derived: Derived; readonly text: string; readonly of: Server } => {
  if (derived._tag === "Generated") return { derived, text: derived.config.yaml, of: derived.server };
  const of = derived.distribution.server;
  const text = derived._tag === "Override" ? derived.content?.data[derived.key ?? ""] : undefined;
  if (of === undefined || text === undefined) throw new NoConfig([], `${derived._tag}: no config is known`);
  return { derived, text, of };
};

type PodPaths = Map<string, string>;

/** Where the files of the pod are on this machine. */
const podPaths = async (
  folder: string,
  pod: JsonObject,
  { certificate, files = {} }: BootOptions,
): Promise<PodPaths> => {
  const paths = new Map([[CONFIG_FILE, join(folder, "config.yaml")]]);
  if (certificate !== undefined) {
    paths.set(TLS_CERTIFICATE, certificate.certificateFile);
    paths.set(TLS_KEY, certificate.keyFile);
  }
  for (const [path, content] of Object.entries(files)) {
    const here = join(folder, "pod", path);
    await Deno.mkdir(dirname(here), { recursive: true });
    await Deno.writeTextFile(here, content);
    await Deno.chmod(here, modeIn(pod, dirname(path)));
    paths.set(path, here);
  }
  return paths;
};

/** Of the files of the volume that is mounted there. */
const modeIn = (pod: JsonObject, folder: string): number => {
  const [container = null] = listAt(pod, "containers");
  const mount = listAt(container, "volumeMounts").find((item) => stringAt(item, "mountPath") === folder);
  const volume = listAt(pod, "volumes").find((item) => stringAt(item, "name") === stringAt(mount ?? null, "name"));
  return Number(at(volume ?? null, "secret", "defaultMode") ?? 0o644);
};

const inFolder = (text: string, paths: PodPaths): string =>
  [...paths].reduce((placed, [path, here]) => placed.replaceAll(path, here), text);

interface Container {
  readonly command: readonly string[];
  readonly env: readonly EnvVar[];
}

/** The only one of the pod. */
const containerOf = (pod: JsonObject): Container => {
  const [container] = listAt(pod, "containers");
  if (!isObject(container)) throw new Error("the Deployment has no container");
  const words = [...listAt(container, "command"), ...listAt(container, "args")];
  return { command: words.map(String), env: listAt(container, "env") as unknown as readonly EnvVar[] };
};

/** What kubelet makes of the environment: a Secret's key that is missing keeps the container from its start. */
const environment = (env: readonly EnvVar[], secrets: Secrets, paths: PodPaths): Record<string, string> => {
  const made: Record<string, string> = {};
  for (const entry of env) {
    const value = valueOf(entry, secrets);
    if (value === undefined) continue;
    const placed = inFolder(value, paths);
    // References are to variables before it.
    made[entry.name] = entry.valueFrom === undefined
      ? placed.replace(/\$\(([A-Za-z_]\w*)\)/g, (reference, name) => made[name] ?? reference)
      : placed;
  }
  return made;
};

/** The name of the only pod. */
export const POD_NAME = "pod-1";

const valueOf = ({ name, value, valueFrom }: EnvVar, secrets: Secrets): string | undefined => {
  if (valueFrom === undefined) return value ?? "";
  const { secretKeyRef, fieldRef } = valueFrom;
  if (fieldRef?.fieldPath === "metadata.name") return POD_NAME;
  if (secretKeyRef === undefined) throw new Error(`${name} does not come from a Secret`);
  const found = secrets[secretKeyRef.name ?? ""]?.[secretKeyRef.key];
  if (found === undefined && secretKeyRef.optional !== true) {
    throw new Error(
      `${name} wants key ${secretKeyRef.key} of Secret ${secretKeyRef.name}, which the test does not give`,
    );
  }
  return found;
};

/** The Secrets of the user and those that the operator makes of them. */
const ownedSecrets = ({ name, spec }: Resource, { family }: Server, secrets: Secrets): Secrets => {
  const { kv, sql } = spec.storage ?? {};
  const given = (ref: { readonly secretKeyRef: { readonly name: string; readonly key: string } } | undefined) =>
    ref === undefined ? undefined : secrets[ref.secretKeyRef.name]?.[ref.secretKeyRef.key];
  const owned: Record<string, Readonly<Record<string, string>>> = { ...secrets };
  if (sql?.type === "postgres") {
    const path = ["spec", "storage", "sql", "connectionString"];
    const use = { rawUrl: family.rawSqlUrl, kvToo: kv?.type === "postgres", key: "the connection string", path };
    const parts = Result.flatMap(
      parsePostgres(given(sql.connectionString) ?? "", use.key, path),
      (connection) => postgresSecret(connection, use),
    );
    if (Result.isFailure(parts)) throw new NoConfig([parts.failure._tag], parts.failure.message);
    owned[sqlSecretName(name, spec)] = parts.success;
  }
  if (kv?.type === "redis") {
    const parsed = parseRedis(kv.endpoint ?? "", ["spec", "storage", "kv", "endpoint"]);
    if ("failure" in parsed) throw new NoConfig([parsed.failure._tag], parsed.failure.message);
    const { user, password } = parsed.address;
    owned[kvSecretName(name, spec)] = { [KV_USERINFO]: redisUserInfo(user, given(kv.password) ?? password) };
  }
  return owned;
};
