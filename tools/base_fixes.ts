/** Fixes for the shipped base configs, each with a reason, which is written to the header of the base config. */
import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  listAt,
  objectAt,
  put,
  stringAt,
} from "../core/data/json.ts";

export interface Fix {
  readonly change: string;
  readonly reason: string;
  /** True if the document does not start without it, whatever the environment. */
  readonly neededToStart: boolean;
  readonly fix: (document: JsonObject) => JsonObject;
}

/** Up to 0.2 a store is declared in place instead of referring to a backend. */
export const filesProvider = (home: string, distribution = "postgres-demo", inPlace = false): Fix => {
  const directory = `\${env.FILES_STORAGE_DIR:=${home}/distributions/${distribution}/files}`;
  const provider = {
    provider_id: "builtin-files",
    provider_type: "inline::localfs",
    config: {
      storage_dir: directory,
      metadata_store: inPlace
        ? {
          type: "sqlite",
          db_path: `\${env.SQLITE_STORE_DIR:=${home}/distributions/${distribution}}/files_metadata.db`,
        }
        : { table_name: "files_metadata", backend: "sql_default" },
    },
  };
  return {
    change: "files in apis, with an inline::localfs provider",
    reason: "the responses and file-search providers do not start without the files API",
    neededToStart: true,
    fix: (document) =>
      listAt(document, "providers", "files").length > 0 ? document : put(
        put(document, ["apis"], [...listAt(document, "apis"), "files"]),
        ["providers"],
        insertedAfter(objectAt(document, "providers"), "vector_io", "files", [provider]),
      ),
  };
};

/**
 * Up to 0.4.0 a model without a name is an error, so a placeholder name is used; the model is not registered either
 * way.
 */
export const vllmOnlyWithUrl = (noModel = ""): Fix => ({
  change: "vllm-inference and its model only when VLLM_URL and INFERENCE_MODEL are set",
  reason: "without these variables the document does not start, whatever other inference provider it is given",
  neededToStart: false,
  fix: (document) => {
    const providers = ["providers", "inference"];
    // At top level up to 0.2.
    const models = Object.hasOwn(document, "models") ? ["models"] : ["registered_resources", "models"];
    const conditional = { provider_id: "${env.VLLM_URL:+vllm-inference}" };
    return put(
      put(document, providers, ofVllm(listAt(document, ...providers), conditional)),
      models,
      ofVllm(listAt(document, ...models), { ...conditional, model_id: `\${env.INFERENCE_MODEL:=${noModel}}` }),
    );
  },
});

const ofVllm = (entries: JsonList, change: JsonObject): JsonList =>
  entries.map((entry) =>
    isObject(entry) && stringAt(entry, "provider_id") === "vllm-inference" ? { ...entry, ...change } : entry
  );

/** The provider has a default address, the model has no default name. */
export const modelOnlyWithName: Fix = {
  change: "the model only when INFERENCE_MODEL is set",
  reason: "without this variable the document does not start, whatever models it is given",
  neededToStart: false,
  fix: (document) =>
    put(
      document,
      ["models"],
      listAt(document, "models").map((model) =>
        isObject(model) && stringAt(model, "model_id") === "${env.INFERENCE_MODEL}"
          ? {
            ...model,
            model_id: "${env.INFERENCE_MODEL:=none}",
            provider_id: `\${env.INFERENCE_MODEL:+${stringAt(model, "provider_id") ?? ""}}`,
          }
          : model
      ),
    ),
};

/** From 0.3 on, the server looks for `<provider>/<model>` among the models of Meta, which have no such name. */
export const llamaModelNamed: Fix = {
  change: "the model has llama_model in its metadata",
  reason:
    "without it, the provider of the model does not find it among those that it knows, and the server does not start",
  neededToStart: true,
  fix: (document) =>
    put(
      document,
      ["registered_resources", "models"],
      listAt(document, "registered_resources", "models").map((model) =>
        isObject(model) && stringAt(model, "provider_id") === "meta-reference-inference"
          ? { ...model, metadata: { ...objectAt(model, "metadata"), llama_model: stringAt(model, "model_id") ?? "" } }
          : model
      ),
    ),
};

export const plainHttp: Fix = {
  change: "server.insecure is true",
  reason: "OGX 1.2 and newer refuse to serve plain HTTP without it; TLS files take its place where they are given",
  neededToStart: true,
  fix: (document) => put(document, ["server", "insecure"], true),
};

/** Aliases of the first model of the first provider; users who declare providers and models did not request them. */
export const noModelAliases: Fix = {
  change: "the models of provider_id all are left out",
  reason:
    "with a registered model of the first provider beside them, every second start of the server ends in a conflict " +
    "of its own registry",
  neededToStart: false,
  fix: (document) =>
    put(
      document,
      ["registered_resources", "models"],
      listAt(document, "registered_resources", "models").filter((model) => stringAt(model, "provider_id") !== "all"),
    ),
};

/** A copy with one more key, right behind another one; key order is part of a document that people read. */
const insertedAfter = (object: JsonObject, anchor: string, key: string, value: Json): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, inner]) =>
      name === anchor ? [[name, inner], [key, value]] : [[name, inner]]
    ),
  );
