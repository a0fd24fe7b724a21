import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Result from "effect/Result";
import { CA_BUNDLE_FILE } from "../../core/config/environment.ts";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import {
  askedModels,
  askedProviders,
  assertModels,
  assertProviders,
  assertShields,
  assertTools,
  listedProviders,
} from "./asked.ts";
import { boot, type Booted, NoConfig, type Secrets } from "../../tools/server/boot.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { until } from "../waiting.ts";
import { type Callers, startGateway, throughGateway } from "./gateway.ts";
import { endpointReading } from "./provider_endpoints.ts";
import { type ModelServer, startModelServer } from "../../tools/model_server.ts";
import { startPostgres } from "../../tools/server/postgres.ts";
import { startRedis } from "../../tools/server/redis.ts";
import { pastStaleConnections } from "./redis_of_0_7.ts";

const SAMPLES = join(import.meta.dirname ?? ".", "../../deploy/samples");

/** Samples for which the operator generates nothing, and why. */
const NOT_GENERATED: Readonly<Record<string, RegExp>> = {
  "image.yaml": /^DistributionDefault/,
  "override-config.yaml": /^Override/,
};

/** Of the gateway in front of gateway.yaml: one whom the sample permits, and one whom it does not. */
const CALLERS: Callers = {
  ann: { "x-user": "ann", "x-groups": "llm-users" },
  guest: { "x-user": "guest", "x-groups": "guests" },
};

const names = [...Deno.readDirSync(SAMPLES)].map(({ name }) => name).filter((name) => name.endsWith(".yaml")).sort();

Deno.test("deploy/samples/ holds the samples that are known to generate nothing", () => {
  deepStrictEqual(Object.keys(NOT_GENERATED).filter((name) => !names.includes(name)), []);
});

for (const name of names.filter((name) => Object.hasOwn(NOT_GENERATED, name))) {
  Deno.test(`deploy/samples/${name} runs without a generated config`, async () => {
    const failure = await boot(await sample(name, {})).then(() => undefined, (error) => error);
    ok(failure instanceof NoConfig, String(failure));
    deepStrictEqual(failure.tags, []);
    match(failure.message, NOT_GENERATED[name] ?? /^$/);
  });
}

for (const name of names.filter((name) => !Object.hasOwn(NOT_GENERATED, name))) {
  Deno.test(`deploy/samples/${name} boots, and the server has what it requests`, async () => {
    const surroundings = await startSurroundings(await sample(name, {}));
    try {
      const manifest = await sample(name, surroundings.addresses);
      const spec = objectAt(manifest, "spec");
      const { secrets, certificate } = surroundings;
      await using booted = await boot(manifest, {
        secrets,
        ...(certificate === undefined ? {} : { certificate }),
        files: { [CA_BUNDLE_FILE]: surroundings.caBundle },
      });
      await using gateway = startGateway(booted, CALLERS);
      const isBehindGateway = objectAt(spec, "auth").upstreamHeader !== undefined;
      if (isBehindGateway) {
        strictEqual((await booted.get("/v1/models")).status, 401);
        const { status, body } = await throughGateway(booted, gateway, "guest").get("/v1/models", {
          "x-groups": "llm-users",
        });
        deepStrictEqual([status, body.data], [200, []]);
      }
      const direct = stringAt(spec, "storage", "kv", "type") === "redis" ? pastStaleConnections(booted) : booted;
      const stack = isBehindGateway ? throughGateway(booted, gateway, "ann") : direct;
      const isOgx = stack.server.startsWith("ogx");
      strictEqual(stack.url.startsWith("https:"), objectAt(spec, "networking", "tls").enabled === true);
      await assertProviders(spec, stack);
      await assertModels(spec, stack);
      if (!isOgx) await assertShields(spec, stack);
      await assertTools(spec, stack, isOgx);
      const listed = await listedProviders(stack);
      for (const api of listAt(spec, "disabled")) {
        deepStrictEqual(listed.filter((listedProvider) => listedProvider.api === api), [], `${api} is disabled`);
      }
      await assertChats(spec, stack, surroundings);
      await assertShieldsCall(spec, stack, surroundings.models);
      const hasTraces = () => surroundings.models.requests.some(({ path }) => path === "/v1/traces");
      const isTraced = listAt(spec, "providers", "telemetry").length > 0;
      // Spans leave in batches, every five seconds.
      if (isTraced) await until("traces arrive", hasTraces);
      strictEqual(hasTraces(), isTraced);
    } finally {
      await surroundings.stop();
    }
  });
}

/** Each chat model whose provider has an address is asked once; the provider's key arrives with the question. */
const assertChats = async (spec: JsonObject, stack: Booted, { models, secrets }: SampleSurroundings): Promise<void> => {
  const providers = askedProviders(spec).filter(({ api, endpoint }) => api === "inference" && endpoint !== undefined);
  const chats = askedModels(spec).filter(({ modelType }) => modelType === "llm").flatMap(({ id, provider }) => {
    const own = providers.find((askedProvider) => askedProvider.id === provider);
    return own === undefined ? [] : [{ id, own }];
  });
  // A sample that only shows storage has no model; its provider is asked for what the model server offers.
  const asked = chats.length > 0 ? chats : providers.map((own) => ({ id: `${own.id}/${FALLBACK_MODEL}`, own }));
  // The shortest sample declares no provider.
  ok(asked.length > 0 || listAt(spec, "providers", "inference").length === 0);
  for (const { id, own } of asked) {
    const before = models.requests.length;
    const { body } = await stack.post("/v1/chat/completions", {
      model: id,
      messages: [{ role: "user", content: "hello" }],
    });
    strictEqual(body.choices?.[0].message.content, "You said: hello", `${id}: ${JSON.stringify(body)}`);
    const chat = models.requests.slice(before).find(({ path }) => path === "/v1/chat/completions");
    strictEqual(objectAt(chat?.body as Json).model, id.slice(own.id.length + 1));
    if (own.key !== undefined) {
      strictEqual(chat?.authorization, `Bearer ${secrets[own.key.name]?.[own.key.key]}`, id);
    }
  }
};

/** Behind a shield stands the registered model of its name. */
const assertShieldsCall = async (spec: JsonObject, stack: Booted, models: ModelServer): Promise<void> => {
  for (const shield of listAt(spec, "resources", "shields").map(String)) {
    const before = models.requests.length;
    await stack.post("/v1/safety/run-shield", { shield_id: shield, messages: [{ role: "user", content: "hello" }] });
    const chat = models.requests.slice(before).find(({ path }) => path === "/v1/chat/completions");
    strictEqual(objectAt(chat?.body as Json).model, shield);
  }
};

/** A model that no sample registers. */
const FALLBACK_MODEL = "test-model";

/** What stands around the server of a sample on this machine. */
interface SampleSurroundings {
  /** `host:port` of the sample → `host:port` here. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  readonly models: ModelServer;
  readonly certificate: Awaited<ReturnType<typeof makeServerCertificate>> | undefined;
  readonly caBundle: string;
  stop(): Promise<void>;
}

const startSurroundings = async (manifest: JsonObject): Promise<SampleSurroundings> => {
  const spec = objectAt(manifest, "spec");
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const secrets: Record<string, Record<string, string>> = {};
    for (const { name, key } of secretRefs(manifest)) (secrets[name] ??= {})[key] = `${name} ${key} 1@2`;
    const addresses: Record<string, string> = {};

    const models = startModelServer({
      models: [FALLBACK_MODEL, ...askedModels(spec).map(({ id, provider }) => id.slice(provider.length + 1))],
    });
    stops.push(() => models.stop());
    for (const { api, type, endpoint } of askedProviders(spec)) {
      if (endpoint === undefined || api !== "inference" || endpointReading(api, type) === undefined) continue;
      addresses[origin(endpoint)] = `http://127.0.0.1:${models.port}`;
    }
    for (const telemetry of listAt(spec, "providers", "telemetry")) {
      // It records what it does not know, too.
      addresses[origin(stringAt(telemetry, "endpoint") ?? "")] = `http://127.0.0.1:${models.port}`;
    }

    const redis = stringAt(spec, "storage", "kv", "endpoint");
    if (redis !== undefined) {
      const { name, key } = refOf(objectAt(spec, "storage", "kv", "password"));
      const started = await startRedis({ password: secrets[name]?.[key] ?? "" });
      stops.push(() => started.stop());
      addresses[redis.replace(/^redis:\/\//, "")] = `${started.host}:${started.port}`;
    }

    if (stringAt(spec, "storage", "sql", "type") === "postgres") {
      const { name, key } = refOf(objectAt(spec, "storage", "sql", "connectionString"));
      const postgres = await startPostgres({ password: "superuser" });
      stops.push(() => postgres.stop());
      const password = "p@ss:w/o?r#d %41";
      await postgres.createDatabase("stack", "stack", password);
      const secret = secrets[name] ??= {};
      secret[key] = `postgresql://stack:${encodeURIComponent(password)}@${postgres.host}:${postgres.port}/stack`;
    }

    const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-sample-" });
    stops.push(() => Deno.remove(folder, { recursive: true }));
    const own = await makeServerCertificate(folder);
    const certificate = objectAt(spec, "networking", "tls").enabled === true ? own : undefined;
    return { addresses, secrets, models, certificate, caBundle: await Deno.readTextFile(own.caFile), stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

const origin = (endpoint: string): string => new URL(endpoint).origin;

/** A sample with its addresses replaced by those of this machine, before it is read. */
const sample = async (name: string, addresses: Readonly<Record<string, string>>): Promise<JsonObject> => {
  const text = await Deno.readTextFile(join(SAMPLES, name));
  const placed = Object.entries(addresses).reduce((before, [there, here]) => {
    ok(before.includes(there), `${name} names no ${there}`);
    return before.replaceAll(there, here);
  }, text);
  const [manifest] = Result.getOrThrow(readManifests(placed));
  ok(isObject(manifest));
  return manifest;
};

interface Ref {
  readonly name: string;
  readonly key: string;
}

const refOf = (holder: JsonObject): Ref => {
  const { name, key } = objectAt(holder, "secretKeyRef");
  return { name: String(name), key: String(key) };
};

/** Every Secret's key that a manifest refers to. */
const secretRefs = (tree: Json): Ref[] => {
  if (isList(tree)) return tree.flatMap(secretRefs);
  if (!isObject(tree)) return [];
  const own = isObject(tree.secretKeyRef ?? null) ? [refOf(tree)] : [];
  return [...own, ...Object.values(tree).flatMap(secretRefs)];
};
