/** Every remote inference type of one server on its starter distribution: compares endpoint, key and one setting with the answers of its API. */
import { endpointExpectation, providerType, providerTypes } from "../../core/config/servers/catalogue.ts";
import { type Server, serverOf } from "../../core/config/servers/families/families.ts";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { boot, type Booted, NoConfig, type Secrets } from "../server/boot.ts";
import { ServerDidNotStart } from "../server/llama_stack.ts";
import { lastWord } from "./cell.ts";
import { type Listener, startListener } from "./listener.ts";

export type TypeOutcome =
  /** The server lists it as configured, and a chat reached the endpoint with the key. */
  | { readonly kind: "reached" }
  /** The server lists it as configured, but its address cannot be set, or no chat reached the endpoint with the key. */
  | { readonly kind: "boots"; readonly reason: string }
  /** It connects to a fixed service when it starts, whatever its endpoint is. */
  | { readonly kind: "needs service"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "ends"; readonly reason: string };

/** Outcomes by type. All types run on one server; if it exits, each half is tried on a server of its own. */
export const bootProviderTypes = async (
  minor: string,
  only: string | undefined,
): Promise<ReadonlyMap<string, TypeOutcome>> => {
  const server = serverOf(minor);
  if (server === undefined) throw new Error(`no server family has ${minor}`);
  const types = providerTypes(server.catalogue, "inference")
    .filter((type) => type.startsWith("remote::") && (only === undefined || type.endsWith(`::${only}`)));
  const apart = types.filter((type) => ALONE.includes(type));
  const found = new Map(await bootHalves(server, types.filter((type) => !ALONE.includes(type))));
  for (const type of apart) for (const row of await bootTypes(server, [type])) found.set(...row);
  return found;
};

/** Types that fail to start on some servers, and would make the tests of all other types fail. */
const ALONE: readonly string[] = [
  "remote::tgi",
  "remote::hf::endpoint",
  "remote::hf::serverless",
  "remote::text-embeddings-inference",
];

const bootHalves = async (server: Server, types: readonly string[]): Promise<ReadonlyMap<string, TypeOutcome>> => {
  const together = types.length === 0 ? new Map() : await bootTypes(server, types);
  if (together.size > 0 || types.length < 2) return together;
  const middle = Math.ceil(types.length / 2);
  return new Map([
    ...await bootHalves(server, types.slice(0, middle)),
    ...await bootHalves(server, types.slice(middle)),
  ]);
};

/** Empty if several did not start together. A type that does not start with a model may start without. */
const bootTypes = async (
  server: Server,
  types: readonly string[],
): Promise<ReadonlyMap<string, TypeOutcome>> => {
  const found = await bootTogether(server, types, true);
  const [type = ""] = types;
  const outcome = found.get(type);
  if (types.length > 1 || (outcome?.kind !== "ends" && outcome?.kind !== "refused")) return found;
  const without = (await bootTogether(server, types, false)).get(type);
  return without?.kind !== "boots" ? found : new Map([[type, {
    kind: "boots",
    reason: `starts only if no model is registered; with a model: ${outcome.reason}`,
  }]]);
};

const bootTogether = async (
  server: Server,
  types: readonly string[],
  withModels: boolean,
): Promise<ReadonlyMap<string, TypeOutcome>> => {
  const listeners = new Map(types.map((type) => [type, startListener()]));
  try {
    const asked = types.map((type) => askFor(type, server, listeners.get(type)))
      .map((item) => withModels ? item : { ...item, model: undefined });
    const models = asked.flatMap(({ model }) => model === undefined ? [] : [model]);
    const secrets: Secrets = Object.fromEntries(asked.map(({ id, key }) => [id, { key }]));
    const manifest: JsonObject = {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name: "my", namespace: "default" },
      spec: {
        distribution: { name: "starter" },
        providers: { inference: asked.map(({ provider }) => provider) },
        ...(models.length === 0 ? {} : { resources: { models } }),
      },
    };
    await using stack = await boot(manifest, { secrets, surroundings: { serverVersion: server.version } });
    const outcomes = new Map<string, TypeOutcome>();
    for (const item of asked) outcomes.set(item.type, await outcomeOf(item, stack, server));
    return outcomes;
  } catch (failure) {
    if (types.length > 1) return new Map();
    const reason = failure instanceof ServerDidNotStart
      ? lastWord(failure.log)
      : failure instanceof Error
      ? failure.message
      : String(failure);
    const [type = ""] = types;
    const service = SERVICES[type];
    if (service !== undefined && reason.includes(service)) {
      return new Map([[type, { kind: "needs service", reason: `it connects to ${service} when it starts` }]]);
    }
    return new Map([[type, { kind: failure instanceof NoConfig ? "refused" : "ends", reason }]]);
  } finally {
    for (const listener of listeners.values()) await listener.stop();
  }
};

interface Asked {
  readonly type: string;
  readonly id: string;
  readonly key: string;
  readonly provider: JsonObject;
  /** Registered only if the endpoint can be set, so that a chat reaches the listener. */
  readonly model: JsonObject | undefined;
  readonly setting: JsonObject;
  readonly listener: Listener | undefined;
}

/** Fields that a type requires besides endpoint and key; made-up values, no service is called. */
const NEEDED: Readonly<Record<string, JsonObject>> = {
  "remote::oci": {
    oci_auth_type: "config_file",
    oci_config_file_path: "/nowhere",
    oci_compartment_id: "ocid1.compartment",
  },
  "remote::vertexai": { project: "a-project" },
  "remote::watsonx": { project_id: "a-project" },
  "remote::hf::serverless": { huggingface_repo: "org/model" },
  "remote::hf::endpoint": { endpoint_name: "an-endpoint" },
};

/** Hosts that a type connects to, whatever its endpoint is. */
const SERVICES: Readonly<Record<string, string>> = { "remote::hf::endpoint": "huggingface.co" };

/** Model names for types that reject unknown names. */
const MODEL_OF: Readonly<Record<string, string>> = {
  "remote::watsonx": "meta-llama/llama-3-3-70b-instruct",
};

const askFor = (type: string, server: Server, listener: Listener | undefined): Asked => {
  const known = providerType(server.catalogue, "inference", type);
  const id = type.slice("remote::".length).replaceAll("::", "-");
  const key = `key of ${id} 1#2`;
  const name = MODEL_OF[type] ?? "test-model";
  const setting: JsonObject = known?.fields.allowed_models !== undefined ? { allowed_models: [name] } : {};
  const path = endpointExpectation(server.catalogue, "inference", type)?.path ?? "";
  const endpoint = known?.endpoint === undefined || listener === undefined ? undefined : `${listener.url}${path}`;
  return {
    type,
    id,
    key,
    setting,
    listener,
    model: endpoint === undefined ? undefined : { name, provider: id },
    provider: {
      id,
      provider: type,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(known?.key === undefined ? {} : { apiKey: { secretKeyRef: { name: id, key: "key" } } }),
      settings: { ...setting, ...NEEDED[type] },
    },
  };
};

const outcomeOf = async (
  { type, id, key, provider, model, setting, listener }: Asked,
  stack: Booted,
  server: Server,
): Promise<TypeOutcome> => {
  const known = providerType(server.catalogue, "inference", type);
  const listed = (await stack.get("/v1/providers")).body.data as readonly JsonObject[];
  const found = listed.find(({ provider_id }) => provider_id === id);
  const config = objectAt(found, "config");
  if (stringAt(found, "provider_type") !== type) return { kind: "ends", reason: "the server does not list it" };
  const endpoint = stringAt(provider, "endpoint");
  const read = stringAt(config, known?.endpoint ?? "")?.replace(/\/$/, "");
  if (endpoint !== undefined && read !== endpoint) {
    return { kind: "ends", reason: `the server lists ${known?.endpoint} as ${read}` };
  }
  const lost = Object.entries(setting).find(([name, value]) => JSON.stringify(config[name]) !== JSON.stringify(value));
  if (lost !== undefined) {
    return { kind: "ends", reason: `the server lists ${lost[0]} as ${JSON.stringify(config[lost[0]])}` };
  }
  if (JSON.stringify(listed).includes(key)) return { kind: "ends", reason: "the server lists the key in clear" };
  if (model === undefined || listener === undefined) {
    return { kind: "boots", reason: "not tested with a chat: the address of this service cannot be changed" };
  }
  const messages = [{ role: "user", content: "hello" }];
  const path = server.family.process.openAiPath;
  const { status, body } = await stack.post(`${path}/chat/completions`, {
    model: `${id}/${stringAt(model, "name")}`,
    messages,
  });
  const chat = listener.requests.find((request) => request.path.endsWith("/chat/completions"));
  if (chat === undefined) {
    return {
      kind: "boots",
      reason: `a chat did not reach the endpoint: ${status} ${JSON.stringify(body).slice(0, 120)}`,
    };
  }
  if (known?.key !== undefined && !chat.headers.includes(key)) {
    return { kind: "boots", reason: "a chat reached the endpoint without the key" };
  }
  return { kind: "reached" };
};
