import { ok, strictEqual } from "node:assert/strict";
import { CLIENT_TLS_FOLDER } from "../../core/config/stages/client_certificate.ts";
import { type JsonObject, put } from "../../core/data/json.ts";
import { secret } from "../given.ts";
import { ODD_PASSWORDS } from "../server/odd_passwords.ts";
import { pastStaleConnections } from "../server/redis_of_0_7.ts";
import { startCertifyingPostgres, startPostgresAccount, startRedisAccount } from "../server/storage_services.ts";
import { assertState, storeState, withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { podName, podsOf, restart, served, whenReady, whenReplaced } from "./served.ts";

/** Files are stored on the volume; other data of a server is stored as `storage` specifies. */
const resource = (storage: JsonObject): JsonObject =>
  withModels({
    distribution: { name: "starter" },
    storage,
    workload: { storage: { size: "1Gi" } },
  }, MODELS_ENDPOINT);

const POSTGRES = { type: "postgres", connectionString: secret("database", "url") };

/** The port of an address that a test's database tells, under the name of a Service. */
const exposed = async (place: Place, address: string, name: string): Promise<string> => {
  const port = /@127\.0\.0\.1:(\d+)/.exec(address)?.[1];
  if (port === undefined) throw new Error(`no port in ${address}`);
  await place.expose(name, Number(port), Number(port));
  return address.replace("@127.0.0.1:", `@${name}:`);
};

/** Does something that makes the operator roll the pods, and returns when the new ones serve. */
const rolled = async (place: Place, name: string, change: () => Promise<void>): Promise<void> => {
  const old = (await podsOf(place, name)).map(podName);
  await change();
  await whenReplaced(place, name, old);
  await whenReady(place, name);
};

Deno.test("state in PostgreSQL and Redis survives the pod and a change of unusual passwords", () =>
  inPlace("databases", async (place) => {
    const [first = "", second = "", third = ""] = ODD_PASSWORDS;
    await using _vllm = await startModelService(place);
    await using redis = await startRedisAccount(first);
    await using postgres = await startPostgresAccount(second);
    const endpoint = await exposed(place, redis.endpoint, "redis");
    const url = (password: string) => exposed(place, postgres.url(password), "postgres");
    await place.secret("redis", { password: first });
    await place.secret("database", { url: await url(second) });
    await place.resource(
      "kept",
      resource({ kv: { type: "redis", endpoint, password: secret("redis", "password") }, sql: POSTGRES }),
    );
    await whenReady(place, "kept");
    const stack = pastStaleConnections(served(place, "kept"));
    const state = await storeState(stack);
    await restart(place, "kept");
    await assertState(stack, state);
    ok(await redis.keyCount() > 0);
    ok(await postgres.rowCount("openai_conversations") > 0);
    await rolled(place, "kept", async () => {
      await redis.setPassword(third);
      await postgres.setPassword(first);
      await place.secret("redis", { password: third });
      await place.secret("database", { url: await url(first) });
    });
    await assertState(stack, state);
  }));

Deno.test("one PostgreSQL keeps both stores of a server over a restart of its pod", () =>
  inPlace("postgres", async (place) => {
    const [password = ""] = ODD_PASSWORDS;
    await using _vllm = await startModelService(place);
    await using postgres = await startPostgresAccount(password);
    await place.secret("database", { url: await exposed(place, postgres.url(password), "postgres") });
    await place.resource("both", resource({ kv: { type: "postgres" }, sql: POSTGRES }));
    await whenReady(place, "both");
    const state = await storeState(served(place, "both"));
    await restart(place, "both");
    await assertState(served(place, "both"), state);
    ok(await postgres.rowCount("llamastack_kvstore") > 0);
  }));

Deno.test("the pod of a server reads the key with which it logs in to a PostgreSQL that demands a certificate", () =>
  inPlace("certified", async (place) => {
    await using _vllm = await startModelService(place);
    await using postgres = await startCertifyingPostgres();
    await place.secret("database", { url: await exposed(place, postgres.url("sslmode=require"), "postgres") });
    await place.secret("me", postgres.certificate);
    const stored = resource({ kv: { type: "postgres" }, sql: POSTGRES });
    await place.resource("known", put(stored, ["networking", "tls"], { clientSecretName: "me" }));
    await whenReady(place, "known");
    await assertState(served(place, "known"), await storeState(served(place, "known")));
    ok(await postgres.rowCount("openai_conversations") > 0);
    const key = `${CLIENT_TLS_FOLDER}/tls.key`;
    strictEqual(
      (await place.run("known", "stat", "--dereference", "--format=%u:%g %A", key)).trim(),
      "0:1001 -r--r-----",
    );
  }));
