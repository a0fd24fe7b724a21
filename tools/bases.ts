/**
 * Writes configs/bases and configs/distributions.json: the config files that the published server packages ship, mended
 * until they start, and which image each of them is for. With --check nothing is written; 1 when a file is stale.
 */
import { Result } from "effect";
import { join } from "node:path";
import { isObject, type Json, type JsonList, type JsonObject, listAt, objectAt, put, stringAt } from "../core/json.ts";
import { readYaml11, writeYaml } from "../core/yaml.ts";
import { writeOrCheck } from "./generated_files.ts";
import { installServer, type ServerVersion } from "./install/python_server.ts";

/** The text of an embedded base: where it comes from, what was changed in it, and the document. */
const baseText = async (name: string, distribution: Distribution): Promise<string> => {
  const { server, folder, mends } = distribution;
  const file = `${MODULES[server]}/distributions/${folder}/config.yaml`;
  const original = await Deno.readFile(join(await packagesFolder(server), file));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", original)).toHex();
  const shipped = Result.getOrThrow(readYaml11(new TextDecoder().decode(original)));
  if (!isObject(shipped)) throw new Error(`${file} of ${server} is no map.`);
  return [
    `# The base of ${name}, made by tools/bases.ts; do not edit.`,
    `# Origin: Python package ${server}, file ${file},`,
    `# sha256 ${digest}.`,
    ...(distribution.originNote === undefined ? [] : [`# ${distribution.originNote}`]),
    mends.length === 0 ? "# Nothing was changed." : "# Changed:",
    ...mends.flatMap(({ change, reason }) => [`# - ${change}:`, `#   ${reason}.`]),
    writeYaml(mends.reduce((document, { mend }) => mend(document), shipped)),
  ].join("\n");
};

interface Mend {
  readonly change: string;
  readonly reason: string;
  /** True when no environment makes the document start without it. */
  readonly neededToStart: boolean;
  readonly mend: (document: JsonObject) => JsonObject;
}

interface Distribution {
  readonly image: string;
  readonly serverVersion: string;
  /** The package that the base is taken from. */
  readonly server: ServerVersion;
  readonly folder: string;
  readonly originNote?: string;
  readonly mends: readonly Mend[];
}

const filesProvider = (home: string): Mend => {
  const directory = `\${env.FILES_STORAGE_DIR:=${home}/distributions/postgres-demo/files}`;
  const provider = {
    provider_id: "builtin-files",
    provider_type: "inline::localfs",
    config: { storage_dir: directory, metadata_store: { table_name: "files_metadata", backend: "sql_default" } },
  };
  return {
    change: "files in apis, with an inline::localfs provider",
    reason: "the responses and file-search providers do not start without the files API",
    neededToStart: true,
    mend: (document) =>
      put(
        put(document, ["apis"], [...listAt(document, "apis"), "files"]),
        ["providers"],
        insertedAfter(objectAt(document, "providers"), "vector_io", "files", [provider]),
      ),
  };
};

const vllmOnlyWithUrl: Mend = {
  change: "vllm-inference and its model only when VLLM_URL and INFERENCE_MODEL are set",
  reason: "without these variables the document does not start, whatever other inference provider it is given",
  neededToStart: false,
  mend: (document) => {
    const providers = ["providers", "inference"];
    const models = ["registered_resources", "models"];
    const conditional = { provider_id: "${env.VLLM_URL:+vllm-inference}" };
    return put(
      put(document, providers, ofVllm(listAt(document, ...providers), conditional)),
      models,
      ofVllm(listAt(document, ...models), { ...conditional, model_id: "${env.INFERENCE_MODEL:=}" }),
    );
  },
};

const ofVllm = (entries: JsonList, change: JsonObject): JsonList =>
  entries.map((entry) =>
    isObject(entry) && stringAt(entry, "provider_id") === "vllm-inference" ? { ...entry, ...change } : entry
  );

const plainHttp: Mend = {
  change: "server.insecure is true",
  reason: "OGX 1.2 and newer refuse to serve plain HTTP without it; TLS files take its place where they are given",
  neededToStart: true,
  mend: (document) => put(document, ["server", "insecure"], true),
};

/** Aliases of the first model of whatever provider comes first; nobody who declares providers and models asked for them. */
const noModelAliases: Mend = {
  change: "the models of provider_id all are left out",
  reason:
    "with a registered model of the first provider beside them, every second start of the server ends in a conflict " +
    "of its own registry",
  neededToStart: false,
  mend: (document) =>
    put(
      document,
      ["registered_resources", "models"],
      listAt(document, "registered_resources", "models").filter((model) => stringAt(model, "provider_id") !== "all"),
    ),
};

const LLAMA_STACK = {
  serverVersion: "0.7.1",
  server: "llama-stack 0.7.3",
  originNote: "Llama Stack 0.7.1, which the image holds, ships the same file.",
} as const;
const OGX = { serverVersion: "1.4.1", server: "ogx 1.4.1" } as const;

const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  "starter": {
    ...LLAMA_STACK,
    image: "docker.io/llamastack/distribution-starter:0.7.1",
    folder: "starter",
    mends: [],
  },
  "postgres-demo": {
    ...LLAMA_STACK,
    image: "docker.io/llamastack/distribution-postgres-demo:0.7.1",
    folder: "postgres-demo",
    mends: [filesProvider("~/.llama"), vllmOnlyWithUrl],
  },
  "ogx-starter": {
    ...OGX,
    image: "docker.io/ogxai/distribution-starter:1.4.1",
    folder: "starter",
    mends: [plainHttp, noModelAliases],
  },
  "ogx-postgres-demo": {
    ...OGX,
    image: "docker.io/ogxai/distribution-postgres-demo:1.4.1",
    folder: "postgres-demo",
    mends: [filesProvider("~/.ogx"), vllmOnlyWithUrl, plainHttp],
  },
};

const distributionsTable = (): Json =>
  Object.fromEntries(
    Object.entries(DISTRIBUTIONS).map(([name, { image, serverVersion, mends }]) => [name, {
      image,
      serverVersion,
      base: `${name}.yaml`,
      mends: mends.map(({ change, reason, neededToStart }) => ({ change, reason, neededToStart })),
    }]),
  );

const packagesFolder = async (server: ServerVersion): Promise<string> => {
  const { python } = await installServer(server);
  const code = "import sysconfig; print(sysconfig.get_path('purelib'))";
  const output = await new Deno.Command(python, { args: ["-c", code], stdin: "null" }).output();
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr));
  return new TextDecoder().decode(output.stdout).trim();
};

const MODULES: Readonly<Record<ServerVersion, string>> = {
  "llama-stack 0.7.3": "llama_stack",
  "ogx 1.4.1": "ogx",
  "ogx 1.5.0": "ogx",
};

/** A copy with one more key, right behind another one; key order is part of a document that people read. */
const insertedAfter = (object: JsonObject, anchor: string, key: string, value: Json): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, inner]) =>
      name === anchor ? [[name, inner], [key, value]] : [[name, inner]]
    ),
  );

if (import.meta.main) {
  const texts = new Map<string, string>();
  for (const [name, distribution] of Object.entries(DISTRIBUTIONS)) {
    texts.set(`configs/bases/${name}.yaml`, await baseText(name, distribution));
  }
  texts.set("configs/distributions.json", JSON.stringify(distributionsTable(), null, 2) + "\n");
  writeOrCheck(texts, "deno run -A tools/bases.ts");
}
