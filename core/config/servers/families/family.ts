/** What distinguishes a server family from the others: data, and a small function where data is not sufficient. */
import type { JsonObject } from "../../../data/json.ts";
import type { DataFolders } from "../../data_folders.ts";

/** How the server process of a family is started and configured. */
export interface ServerProcess {
  readonly start: ServerStart;
  /** Environment variable that names the config file for the factory. */
  readonly configVariable: string;
  /** Environment variable of the listening port, for start commands that the operator does not set. */
  readonly portVariable: string;
  /** Environment variable of the log levels. */
  readonly loggingVariable: string;
  /** Category and level that keep the start-up dump of the config out of the log; undefined: none does. */
  readonly quietStartup: string | undefined;
  readonly healthPath: string;
  /** Environment variable that opens a port for metrics beside the server's own; undefined: there is none. */
  readonly metricsSwitch: string | undefined;
  /** Whether it sends its metrics to the endpoint of an OTLP collector. */
  readonly sendsMetrics: boolean;
  /** The path before `/chat/completions` and the other OpenAI-compatible paths. */
  readonly openAiPath: string;
  /** Further environment variables, unless the user overrides them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Exit code of a start that failed because of its config. */
  readonly failedStart: number;
}

export type ServerStart =
  /**
   * The uvicorn factory: environment variables are expanded once, no clear-text copy of the config is written, exit
   * codes are reliable.
   */
  | { readonly kind: "factory"; readonly factory: string }
  /**
   * The server's own command line, followed by the config file and the port; TLS files are read from the config, one
   * process only.
   */
  | { readonly kind: "command"; readonly module: string; readonly words: string };

/** Which provider types serve a tool, and the group under which the server lists it. */
export interface ToolKind {
  readonly types: ReadonlyArray<string>;
  readonly group: string;
}

/** A backend as the stages name it: `kv_redis`, `sql_postgres`, …, with its fields. */
export interface Backend {
  readonly kind: "kv" | "sql";
  readonly value: JsonObject;
}

/** Where the config declares the server's state. */
export interface StoreShape {
  /** The tree with every store of the kind on this backend. */
  readonly place: (config: JsonObject, backend: Backend, referencesOf: ReferencesOf) => JsonObject;
  /** The backends that the tree uses, by name, with their types. */
  readonly backends: (config: JsonObject) => ReadonlyArray<readonly [string, string]>;
  /** How a provider's config refers to a store that it needs. */
  readonly reference: (
    kind: "kv" | "sql",
    name: StoreName,
    folders: DataFolders,
    /** The base config, which may have backends of other names. */
    config: JsonObject,
  ) => JsonObject;
}

/** The dotted paths of the stores inside a provider's config, and their kinds. */
export type ReferencesOf = (api: string, type: string) => Readonly<Record<string, { readonly kind: "kv" | "sql" }>>;

export interface StoreName {
  /** Of a key-value store, e.g. `vector_io::faiss`. */
  readonly namespace: string;
  /** Of an SQL store. */
  readonly table: string;
}

/** Both are ends of messages. */
export interface UnstartableType {
  /** Minor versions of the family that do not start; unset: all. */
  readonly on?: ReadonlyArray<string>;
  readonly reason: string;
  readonly instead: string;
}

export interface ServerFamily {
  readonly name: "legacy" | "0.3" | "0.4" | "0.7" | "0.8" | "1.0" | "1.2";
  /** For messages, e.g. `Llama Stack 0.7`. */
  readonly servers: string;
  /** Lowest and highest minor version of the family, as [major, minor]; an open end includes newer versions. */
  readonly from: readonly [number, number];
  readonly to: readonly [number, number] | undefined;
  /** Lowest patch of the lowest minor, where older ones have another shape. */
  readonly fromPatch?: number;
  readonly process: ServerProcess;
  /** Paths of a config that other families read, and that this one ignores. */
  readonly ignoredKeys: ReadonlyArray<ReadonlyArray<string>>;
  /**
   * Sections of a base config that this family no longer supports and that are omitted with a warning, as API names.
   */
  readonly droppedApis: ReadonlyArray<string>;
  /** Keys that go with them: at top level, under `registered_resources`, under `server`. */
  readonly droppedKeys: ReadonlyArray<ReadonlyArray<string>>;
  /** The replacement for an unsupported API, as the end of a message. */
  readonly insteadOf: Readonly<Record<string, string>>;
  /** APIs with another name, name in other families → name in this family. */
  readonly apiAliases: Readonly<Record<string, string>>;
  /** Provider types with another name, `<api> <type in other families>` → type in this family. */
  readonly typeAliases: Readonly<Record<string, string>>;
  /** Provider types of the catalogue with which no server of this family starts, as `<api> <type>`. */
  readonly unstartableTypes: Readonly<Record<string, UnstartableType>>;
  /** Inference types with which the server fails to start as soon as a model is registered. */
  readonly typesWithoutModels: readonly string[];
  /** Inference types that serve rerank models; empty where the server has no such models. */
  readonly rerankTypes: ReadonlyArray<string>;
  /** Resources whose id is empty, after variables were expanded, are left out before the rest of them is. */
  readonly skipsEmptyIds: boolean;
  readonly shields: boolean;
  /** Tools only exist when the file lists their groups, MCP servers with their address; newer servers make groups themselves. */
  readonly toolGroups: boolean;
  /**
   * A telemetry provider is a section of the config; in all other families it is converted to environment variables.
   */
  readonly telemetryProviders: boolean;
  /** The config names the provider and the embedding model of vector stores that name none; else the first ones count. */
  readonly vectorStoreDefaults: boolean;
  /** Where models, shields and tool groups are registered: under this key, or at top level. */
  readonly resourcesAt: ReadonlyArray<string>;
  /** Which of its two names makes a model's id, `<provider>/<name>`: the server stores and compares models by that. */
  readonly modelsAreKnownBy: "modelId" | "providerModelId";
  /** A model's id in the file has its provider as prefix, because the server does not always add it. */
  readonly modelIdsInFull: boolean;
  /** Short tool names, e.g. `websearch`. */
  readonly tools: Readonly<Record<string, ToolKind>>;
  /** Fixed keys of the server section, e.g. `insecure: true` where a file without TLS is refused. */
  readonly serverWithoutTls: Readonly<Record<string, boolean>>;
  readonly stores: StoreShape;
  /** Host names go into a database URL as they are, so an IPv6 address needs its own brackets and a user no special letters. */
  readonly rawSqlUrl: boolean;
  /** A defect that users of Redis encounter with these servers, whatever the config; undefined if there is none. */
  readonly redisDefect: string | undefined;
  /** Two providers on one sqlite key-value file share their keys. */
  readonly sqliteSharesKeys: boolean;
}
