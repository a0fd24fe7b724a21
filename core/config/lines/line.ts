/** What sets one line of servers apart from the others: data, and one small function where data does not do. */

/** How the server process of a line is started and told what to do. */
export interface ServerProcess {
  /** The uvicorn factory: one expansion of the environment, no clear-text copy of the config, exit codes that tell the truth. */
  readonly factory: string;
  /** Environment variable that names the config file for the factory. */
  readonly configVariable: string;
  /** Environment variable of the listening port, for starts that are not ours. */
  readonly portVariable: string;
  /** Environment variable of the log levels. */
  readonly loggingVariable: string;
  /** Category and level that keep the start-up dump of the config out of the log. */
  readonly quietStartup: string;
  readonly healthPath: string;
}

/** Which provider types serve a tool, and the group under which the server lists it. */
export interface ToolKind {
  readonly types: ReadonlyArray<string>;
  readonly group: string;
}

export interface Line {
  readonly name: "0.7" | "1.2";
  /** For sentences, e.g. `Llama Stack 0.7`. */
  readonly servers: string;
  /** Lowest and highest minor version of the line, as [major, minor]; an open end takes newer ones. */
  readonly from: readonly [number, number];
  readonly to: readonly [number, number] | undefined;
  readonly process: ServerProcess;
  /** Keys at top level that only other lines have. */
  readonly foreignKeys: ReadonlyArray<string>;
  /** Sections of a base that this line lost and that are left out with a warning, as API names. */
  readonly droppedApis: ReadonlyArray<string>;
  /** Keys that go with them: at top level, under `registered_resources`, under `server`. */
  readonly droppedKeys: ReadonlyArray<ReadonlyArray<string>>;
  /** What the API offers instead of the lost section, as the end of a sentence. */
  readonly insteadOf: Readonly<Record<string, string>>;
  /** APIs that are one and the same to a reader, older name → this line's name. */
  readonly apiAliases: Readonly<Record<string, string>>;
  readonly shields: boolean;
  readonly connectors: boolean;
  /** Which of its two names makes a model's id, `<provider>/<name>`: the server stores and compares models by that. */
  readonly modelsAreKnownBy: "modelId" | "providerModelId";
  /** Short tool names, e.g. `websearch`. */
  readonly tools: Readonly<Record<string, ToolKind>>;
  /** Fixed keys of the server section, e.g. `insecure: true` where a file without TLS is refused. */
  readonly serverWithoutTls: Readonly<Record<string, boolean>>;
  /** Host names go into a database URL as they are, so an IPv6 address needs its own brackets and a user no special letters. */
  readonly rawSqlUrl: boolean;
  /** What a user of Redis meets on this line through no fault of the config; undefined when nothing. */
  readonly redisDefect: string | undefined;
  /** Two providers on one sqlite key-value file share their keys. */
  readonly sqliteSharesKeys: boolean;
}
