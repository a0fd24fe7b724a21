import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import type { JsonObject } from "../../core/data/json.ts";
import type { Surroundings } from "../../core/config/derive.ts";
import { manifest, secret } from "../given.ts";
import { listedProviders } from "./asked.ts";
import { boot } from "../../tools/server/boot.ts";
import { until } from "../waiting.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { startPostgres } from "../../tools/server/postgres.ts";
import { SAMPLE } from "./server_families_sample.ts";
import { sideBySide } from "./side_by_side.ts";

interface Case {
  readonly distribution: string;
  readonly surroundings?: Partial<Surroundings>;
}

const CASES: readonly Case[] = [
  { distribution: "starter" },
  { distribution: "postgres-demo" },
  { distribution: "starter", surroundings: { serverVersion: "0.7.3" } },
  { distribution: "postgres-demo", surroundings: { serverVersion: "0.7.3" } },
  { distribution: "ogx-starter", surroundings: { serverVersion: "1.5.0" } },
  { distribution: "ogx-postgres-demo", surroundings: { serverVersion: "1.5.0" } },
];

/** It loads its model onto a GPU when it starts. */
const NEEDS_HARDWARE = "meta-reference-gpu";

Deno.test("every embedded distribution is booted here, or with the older server families", () => {
  deepStrictEqual(
    [...new Set([...CASES, ...SAMPLE].map(({ distribution }) => distribution)), NEEDS_HARDWARE].sort(),
    [
      ...EMBEDDED_DISTRIBUTIONS.keys(),
    ].sort(),
  );
});

Deno.test("every embedded base boots by the environment that it reads, and a chat reaches its vLLM", async () => {
  const models = startModelServer({ requireKey: "key-1" });
  const password = "plain-password";
  const postgres = await startPostgres({ password: "of the superuser" });
  try {
    await sideBySide(CASES, async ({ distribution, surroundings = {} }, index) => {
      const database = `stack${index}`;
      await postgres.createDatabase(database, database, password);
      const env: Readonly<Record<string, string>> = {
        VLLM_URL: models.baseUrl,
        INFERENCE_MODEL: "test-model",
        POSTGRES_HOST: postgres.host,
        POSTGRES_PORT: `${postgres.port}`,
        POSTGRES_DB: database,
        POSTGRES_USER: database,
      };
      const overrides = {
        env: [
          ...Object.entries(env).map(([name, value]) => ({ name, value })),
          { name: "VLLM_API_TOKEN", valueFrom: secret("vllm", "token") },
          { name: "POSTGRES_PASSWORD", valueFrom: secret("database", "password") },
        ],
      };
      const asked = manifest({ distribution: { name: distribution }, ...CAUSE, workload: { overrides } });
      const secrets = { vllm: { token: "key-1" }, database: { password } };
      await using stack = await boot(asked, { surroundings, secrets });
      const vllm = (await listedProviders(stack)).find(({ provider_type }) => provider_type === "remote::vllm");
      ok(vllm !== undefined, distribution);
      const messages = [{ role: "user", content: distribution }];
      const { body } = await stack.post("/v1/chat/completions", { model: `${vllm.provider_id}/test-model`, messages });
      strictEqual(body.choices?.[0].message.content, `You said: ${distribution}`, JSON.stringify(body));
      if (!distribution.includes("postgres")) return;
      const as = { user: database, password, database };
      const answered = async (): Promise<string> => {
        const request = { model: `${vllm.provider_id}/test-model`, input: "keep this" };
        const response = await stack.post("/v1/responses", request);
        strictEqual(response.status, 200, JSON.stringify(response.body));
        return response.body.id;
      };
      const isKept = async (id: string): Promise<boolean> =>
        await postgres.query("select to_regclass('responses')", as) !== "" &&
        await postgres.query(`select count(*) from responses where id = '${id}'`, as) === "1";
      // On a new database the first answer may not do: of a server that is still making its tables, what is written meanwhile
      // is lost and only its log says so. Here the stored chat above starts making them. Source:
      // `SqlAlchemySqlStoreImpl._ensure_engine`, Llama Stack 0.6 to OGX 1.5.
      await until(`a response kept in ${distribution}`, async () => await isKept(await answered()));
      const id = await answered();
      await until(`the response ${id} in ${distribution}`, () => isKept(id));
    });
  } finally {
    await postgres.stop();
    await models.stop();
  }
});

/** `starter` of Llama Stack needs no fix: without fields that require a config, its image runs its own. */
const CAUSE: JsonObject = { resources: { tools: ["websearch"] } };
