/**
 * A config as its author wrote it, and the config of the resource that `import` makes of it, each on the real server: what their APIs
 * answer. Services that the config is connected to are replaced by stand-ins in the author's file, before it is imported.
 */
import { join } from "node:path";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
  put,
  stringAt,
} from "../../core/data/json.ts";
import { writeYaml } from "../../core/data/yaml.ts";
import { type Difference } from "../../core/import/proof.ts";
import { corrected, withRequiredApis } from "../../core/import/corrections.ts";
import { importConfig, type Source } from "../../core/import/importing.ts";
import { sourceOf } from "../../core/import/source.ts";
import { variableOf } from "../../core/import/variables.ts";
import { secretName } from "../../core/import/wanted.ts";
import { freePorts } from "../cluster/free_ports.ts";
import { startModelServer } from "../model_server.ts";
import { boot, podStart } from "./boot.ts";
import { type LlamaStack, startServer } from "./llama_stack.ts";
import { startPostgres } from "./postgres.ts";

/** A new PostgreSQL database for each call, with its account. */
export interface Databases extends AsyncDisposable {
  readonly next: () => Promise<Database>;
}

export const startDatabases = async (): Promise<Databases> => {
  const { host, port, createDatabase, stop } = await startPostgres({ password: "of the superuser" });
  let count = 0;
  return {
    next: async () => {
      const [db, password] = [`stack${count++}`, "plain-password"];
      await createDatabase(db, db, password);
      return { host, port, db, user: db, password };
    },
    [Symbol.asyncDispose]: stop,
  };
};

export interface Database {
  readonly host: string;
  readonly port: number;
  readonly db: string;
  readonly user: string;
  readonly password: string;
}

export interface BothAnswers {
  /** The server that both ran on. */
  readonly server: string;
  /** What the proof of the import lists. */
  readonly differences: ReadonlyArray<Difference>;
  /** What was corrected in the author's file before it was started: as it is, this server would not start with it. */
  readonly corrections: ReadonlyArray<string>;
  readonly own: Answers;
  readonly made: Answers;
}

/** By path, one text for each item. */
export type Answers = Readonly<Record<string, ReadonlyArray<string>>>;

export const PATHS = ["/v1/providers", "/v1/models", "/v1/shields", "/v1/toolgroups", "/v1/tools"];

/** `variables` are set for both, others that must be set have values that fit a stand-in. */
export const bootBoth = async (
  text: string,
  databases: Databases,
  { serverVersion, variables = {} }: {
    readonly serverVersion?: string;
    readonly variables?: Readonly<Record<string, string>>;
  } = {},
): Promise<BothAnswers> => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-import-" });
  const read = Result.getOrThrow(
    sourceOf([{ name: "config.yaml", text }], { name: NAME, namespace: undefined, variables: undefined }),
  );
  const models = startModelServer({ models: ["test-model", ...modelsOf(read.tree)] });
  const imported = (source: Source) =>
    Result.getOrThrow(
      importConfig(
        source,
        { keepData: false, ...(serverVersion === undefined ? {} : { serverVersion }) },
        DEFAULT_SURROUNDINGS,
      ),
    );
  try {
    const { origin } = new URL(models.baseUrl);
    const [own, made] = [await databases.next(), await databases.next()];
    // Without authentication, since no issuer signs tokens for these answers.
    const open = put(read.tree, ["server"], omit(objectAt(read.tree, "server"), "auth"));
    const tree = placed(open, { folder, origin, database: own }) as JsonObject;
    const wanted = imported({ ...read, tree });
    const used = JSON.stringify(tree);
    const values: Readonly<Record<string, string>> = {
      ...Object.fromEntries(
        [...wanted.toFillIn, ...[...wanted.secrets.keys()].filter((key) => used.includes(`\${env.${key}`))]
          .map((name) => [name, valueFor(name, used, origin)]),
      ),
      ...variables,
    };
    const { resource, differences, secrets, candidate, corrections } = imported({
      ...read,
      tree: placed(open, { folder, origin, database: made }) as JsonObject,
      variables: new Map(Object.entries(values).map(([name, value]) => [name, variableOf(name, value)])),
      isComplete: true,
    });
    const url = `postgres://${made.user}:${made.password}@${made.host}:${made.port}/${made.db}`;
    const keys = Object.fromEntries(
      [...secrets.keys()].map((key) => [key, key === "postgres-url" ? url : values[key] ?? SECRET]),
    );
    const options = { secrets: { [secretName(NAME)]: keys }, folder: join(folder, "made") };
    await Promise.all(["own", "made"].map((name) => Deno.mkdir(join(folder, name))));
    const [port] = freePorts(1) as [number];
    const start = await podStart(resource, port, join(folder, "own"), options);
    const first = await startServer({
      ...start,
      env: { ...start.env, ...QUIET, ...values },
      config: writeYaml(
        withRequiredApis(corrected(tree, candidate.server).tree, candidate.base, candidate.server).tree,
      ),
      dataDir: join(folder, "own"),
      port,
    });
    const before = await answersOf(first, listAt(tree, "apis")).finally(() => first.stop());
    await using second = await boot(resource, { ...options, env: QUIET });
    return { server: candidate.server.version, differences, corrections, own: before, made: await answersOf(second) };
  } finally {
    await models.stop();
    await Deno.remove(folder, { recursive: true });
  }
};

const NAME = "my";
const SECRET = "a-secret";
const QUIET = { LLAMA_STACK_LOG_FORMAT: "json", OGX_LOG_FORMAT: "json" };

/** `used`: the config in which the variable is. */
const valueFor = (name: string, used: string, origin: string): string => {
  if (variableOf(name, SECRET).kind === "secret") return SECRET;
  if (!/(URL|URI|ENDPOINT)$/.test(name)) return "test-model";
  return name.includes("OLLAMA") || used.includes(`\${env.${name}}/`) ? origin : `${origin}/v1`;
};

/** Some providers refuse models that their service does not have. */
const modelsOf = (tree: JsonObject): ReadonlyArray<string> =>
  [
    ...listAt(tree, "models"),
    ...listAt(tree, "registered_resources", "models"),
    ...Object.values(objectAt(tree, "vector_stores")),
  ].flatMap((entry) => ["model_id", "provider_model_id"].flatMap((key) => stringAt(entry, key) ?? []));

interface Places {
  readonly folder: string;
  /** Of the model server. */
  readonly origin: string;
  readonly database: Database;
}

/** With the stand-ins in place of services, and with every file below the folder. */
const placed = (value: Json, places: Places, key = ""): Json => {
  if (isList(value)) return value.map((item) => placed(item, places, key));
  if (isObject(value)) {
    const inner = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, placed(item, places, name)]));
    // Its extension is in no PostgreSQL here.
    if (value.provider_type === "remote::pgvector") return { ...inner, ...FAISS };
    return /^(kv|sql)_postgres$/.test(String(value.type)) ? { ...inner, ...places.database } : inner;
  }
  if (typeof value !== "string") return value;
  if (FILES.has(key)) return value.replace(/^(\$\{env\.\w+:=)?\//, `$1${places.folder}/`);
  if (ADDRESSES.has(key)) {
    return value.replace(
      /^(\$\{env\.\w+:=)?https?:\/\/[^/}]*([^}]*)/,
      (_, before = "", path) => `${before}${places.origin}${path.length > 1 ? "/v1" : ""}`,
    );
  }
  return value;
};

const FAISS: JsonObject = {
  provider_type: "inline::faiss",
  config: { persistence: { backend: "kv_default", namespace: "faiss" } },
};
const FILES: ReadonlySet<string> = new Set(["db_path", "storage_dir", "path"]);
const ADDRESSES: ReadonlySet<string> = new Set(["url", "base_url"]);

/** Of APIs that are open: the server lists providers of the others as well. A path that it does not have has the same answer twice. */
const answersOf = async (server: LlamaStack, apis: ReadonlyArray<Json> = []): Promise<Answers> =>
  Object.fromEntries(
    await Promise.all(PATHS.map(async (path): Promise<[string, ReadonlyArray<string>]> => {
      const { status, body } = await server.get(path);
      if (status !== 200) return [path, [`status ${status}`]];
      const items = isList(body) ? body : listAt(body as Json, "data");
      const open = items.filter(isObject).filter(({ api }) =>
        apis.length === 0 || api === undefined || apis.includes(api)
      );
      // Of two providers with one id there is one.
      return [path, [...new Set(open.map(itemText))].sort()];
    })),
  );

/** Without times and the settings of providers, in which defaults may be written out. */
const itemText = (item: JsonObject): string =>
  JSON.stringify(Object.entries(omit(item, "created", "config", "health")).sort(([a], [b]) => a < b ? -1 : 1));
