/** What is applied: the documents of a file, and stand-ins for the Secrets that they name. Values in, values out. */
import * as Result from "effect/Result";
import { decodeResource } from "../../core/api/decode.ts";
import { KIND } from "../../core/api/v1alpha2.ts";
import { isObject, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { tlsPair } from "../tls_pair.ts";
import { type Reference, referencesOf } from "../../core/snapshot/references.ts";
import { readManifests } from "../../core/data/yaml.ts";

/** The sample that becomes ready alone. */
export const SAMPLE = "deploy/samples/vllm.yaml";

export interface Sample {
  /** LlamaStackDistributions, at least one. */
  readonly resources: ReadonlyArray<JsonObject>;
  /** Everything else, in the order of the file. */
  readonly others: ReadonlyArray<JsonObject>;
}

/** An error message if there is nothing to apply. */
export const readSample = (name: string, text: string): Result.Result<Sample, string> => {
  const documents = readManifests(text);
  if (Result.isFailure(documents)) return Result.fail(`Cannot read ${name}: ${documents.failure.message}`);
  const all = documents.success
    .flatMap((value) => stringAt(value, "kind") === "List" ? listAt(value, "items") : [value]).filter(isObject);
  const resources = all.filter((object) => object.kind === KIND);
  if (resources.length === 0) return Result.fail(`No ${KIND} found in ${name}`);
  return Result.succeed({ resources, others: all.filter((object) => object.kind !== KIND) });
};

/** Models that a resource names. */
export const modelsOf = (resource: JsonObject): ReadonlyArray<string> =>
  listAt(resource, "spec", "resources", "models").flatMap((model) => stringAt(model, "name") ?? []);

/** Model servers that a resource expects under the name of a Service, as host and port. */
export const modelServersOf = (resource: JsonObject): ReadonlyArray<readonly [host: string, port: number]> =>
  listAt(resource, "spec", "providers", "inference").flatMap((value) => {
    const url = URL.parse(stringAt(value, "endpoint") ?? "");
    // The stand-in has no certificate; a name with dots is external.
    if (url?.protocol !== "http:" || !/^[a-z][a-z0-9-]*$/.test(url.hostname)) return [];
    return [[url.hostname, Number(url.port || 80)] as const];
  });

/** Secrets that a resource needs, each with a stand-in for every key that is read. */
export const standIns = async (resource: JsonObject): Promise<ReadonlyArray<JsonObject>> => {
  const decoded = decodeResource(resource, "lenient");
  if (Result.isFailure(decoded)) return [];
  const wanted = referencesOf(decoded.success.spec).filter(({ kind, optional }) => kind === "Secret" && !optional);
  const pair: Readonly<Record<string, string>> = await tlsPair(["stand-in"]);
  const names = [...new Set(wanted.map(({ name }) => name))];
  return names.map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData: Object.fromEntries(
      wanted.filter((reference) => reference.name === name).map((
        reference,
      ) => [reference.key ?? "stand-in", standInFor(reference, pair)]),
    ),
  }));
};

/** A connection string is parsed, so the placeholder must look like one. */
const standInFor = ({ path, key = "" }: Reference, pair: Readonly<Record<string, string>>): string =>
  path.includes("tls")
    ? pair[key] ?? ""
    : path.includes("connectionString")
    ? "postgresql://llama:stand-in@postgres:5432/llama"
    : "stand-in-of-task-up";
