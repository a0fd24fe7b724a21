import { deepStrictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, smallBase, SURROUNDINGS } from "../../../tests/given.ts";
import { formatPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";
import { derive } from "../derive.ts";

const refused = (env: ReadonlyArray<JsonObject>, name = "starter", serverVersion?: string): ReadonlyArray<string> => {
  const distribution = { name, ...(serverVersion === undefined ? {} : { serverVersion }) };
  const spec = { distribution, storage: { kv: {} }, workload: { overrides: { env: [...env] } } };
  const derived = derive(decoded(spec), SURROUNDINGS);
  return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
};

const FROM_SECRET = { secretKeyRef: { name: "s", key: "k" } };

Deno.test("variables that the client of AWS reads itself are refused where a provider makes one", () => {
  const of = (env: ReadonlyArray<JsonObject>, provider: JsonObject, serverVersion = "0.7") => {
    const [api = "", rest = {}] = Object.entries(provider)[0] ?? [];
    const derived = derive(
      decoded({
        distribution: { name: "starter", serverVersion },
        providers: { [api]: [rest as JsonObject] },
        workload: { overrides: { env: [...env] } },
      }),
      SURROUNDINGS,
    );
    return Result.isFailure(derived) ? derived.failure.failures.map(({ path }) => formatPath(path)) : [];
  };
  const at = ["spec.workload.overrides.env[0]"];
  const atValue = ["spec.workload.overrides.env[0].value"];
  const s3 = (settings: JsonObject = {}) => ({
    files: { provider: "remote::s3", settings: { bucket_name: "b", ...settings } },
  });
  const keys = { aws_access_key_id: "${env.A:=a}", aws_secret_access_key: "${env.B:=b}" };
  const token = { name: "AWS_WEB_IDENTITY_TOKEN_FILE", value: "/token" };
  deepStrictEqual(of([token], s3()), at);
  deepStrictEqual(of([token], s3(keys)), []);
  deepStrictEqual(of([token, { name: "AWS_ROLE_ARN", value: "arn:aws:iam::1:role/a" }], s3()), []);
  deepStrictEqual(of([{ name: "AWS_ACCESS_KEY_ID", value: "a" }], s3()), at);
  deepStrictEqual(
    of([{ name: "AWS_ACCESS_KEY_ID", value: "a" }, { name: "AWS_SECRET_ACCESS_KEY", value: "b" }], s3()),
    [],
  );
  const safety = { safety: { provider: "bedrock", settings: { region_name: "us-east-1", ...keys } } };
  deepStrictEqual(of([], safety), ["spec.providers.safety[0]"]);
  deepStrictEqual(of([], safety, "0.8"), []);
  deepStrictEqual(of([{ name: "AWS_PROFILE", value: "mine" }], s3()), at);
  deepStrictEqual(of([{ name: "AWS_PROFILE", value: "mine" }, { name: "AWS_CONFIG_FILE", value: "/c" }], s3()), []);
  deepStrictEqual(of([{ name: "AWS_RETRY_MODE", value: "often" }], s3()), atValue);
  deepStrictEqual(of([{ name: "AWS_RETRY_MODE", value: "standard" }], s3()), []);
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "" }], s3()), atValue);
  deepStrictEqual(
    of([{ name: "AWS_MAX_ATTEMPTS", value: "x" }], { inference: { provider: "bedrock" } }, "0.8"),
    atValue,
  );
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "" }], { inference: { provider: "bedrock" } }, "0.8"), []);
  deepStrictEqual(of([{ name: "AWS_MAX_ATTEMPTS", value: "x" }], { inference: { provider: "bedrock" } }, "0.7"), []);
});

Deno.test("a variable that switches on a provider with which the server does not start is refused", () => {
  const tgi = [{ name: "TGI_URL", value: "http://tgi:8080" }];
  deepStrictEqual(refused(tgi, "starter", "0.3"), [
    'spec.workload.overrides.env[0]: provider "tgi" of the base config: remote::tgi: its module cannot be loaded, so the server ' +
    "fails to start; use remote::vllm with the OpenAI-compatible endpoint of the same service",
  ]);
  deepStrictEqual(refused(tgi, "starter", "0.2"), []);
});

Deno.test("variables that leave a provider of the base config half configured are refused, by literal and by Secret", () => {
  deepStrictEqual(refused([{ name: "GEMINI_AI_PROJECT", value: "p" }]), [
    'spec.workload.overrides.env[0]: provider "gemini" of the base config, field project: requires access_token; ' +
    "remove it if you use an API key",
  ]);
  deepStrictEqual(refused([{ name: "A", value: "b" }, { name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }]), [
    'spec.workload.overrides.env[1]: provider "gemini" of the base config, field project: required with access_token',
  ]);
  deepStrictEqual(
    refused([{ name: "GEMINI_ACCESS_TOKEN", valueFrom: FROM_SECRET }, { name: "GEMINI_AI_PROJECT", value: "p" }]),
    [],
  );
  deepStrictEqual(refused([{ name: "OPENAI_API_KEY", value: "k" }]), []);
  deepStrictEqual(refused([{ name: "SQLITE_STORE_DIR", value: "" }]).length, 1);
  deepStrictEqual(refused([{ name: "SQLITE_STORE_DIR", value: "/data" }]), []);
  const cerebras = { name: "CEREBRAS_API_KEY", valueFrom: FROM_SECRET };
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "api.cerebras.ai" }]), [
    "spec.workload.overrides.env[1].value: providers of type remote::cerebras read this variable themselves; expected a URL",
  ]);
  deepStrictEqual(refused([cerebras, { name: "CEREBRAS_BASE_URL", value: "https://api.cerebras.ai" }]), []);
  deepStrictEqual(refused([{ name: "CEREBRAS_BASE_URL", value: "of nobody" }]), []);
  const chroma = { name: "ENABLE_CHROMADB", value: "chromadb" };
  deepStrictEqual(refused([chroma], "postgres-demo"), [
    'spec.workload.overrides.env[0]: provider "chromadb" of the base config, field url: required; set CHROMADB_URL, too',
  ]);
  deepStrictEqual(refused([chroma, { name: "CHROMADB_URL", value: "http://chroma:8000" }], "postgres-demo"), []);
});

Deno.test("a provider of the base config with which the server starts, though without its address, is not refused", () => {
  for (const serverVersion of ["0.4", "0.6.1", "0.7.1", "1.5"]) {
    for (const key of [{ value: "key" }, { valueFrom: FROM_SECRET }]) {
      deepStrictEqual(refused([{ name: "AZURE_API_KEY", ...key }], "starter", serverVersion), []);
    }
  }
  deepStrictEqual(refused([{ name: "AZURE_API_KEY", value: "key" }], "starter", "0.3").length, 1);
});

Deno.test("nothing is said of a provider of the base config that a variable may switch off in another form", () => {
  const of = (id: string, name = "GEMINI_AI_PROJECT", value = "p") => {
    const config = {
      api_key: "${env.KEY:=}",
      access_token: "${env.GEMINI_ACCESS_TOKEN:=}",
      project: "${env.GEMINI_AI_PROJECT:=}",
    };
    const base = smallBase({
      providers: { inference: [{ provider_id: id, provider_type: "remote::gemini", config }] },
    });
    const env = [{ name, value }];
    const resource = decoded({
      distribution: { name: "starter" },
      storage: { kv: {} },
      workload: { overrides: { env } },
    });
    const derived = derive(resource, { ...SURROUNDINGS, ...base });
    return Result.isFailure(derived) ? derived.failure.failures.map(({ message }) => message) : [];
  };
  deepStrictEqual(
    ["${env.USE:=__disabled__}", "${env.USE:=gemini}", "__disabled__", "gemini"].map((id) => of(id).length),
    [0, 0, 0, 1],
  );
  deepStrictEqual(["${env.USE:=__disabled__}", "gemini"].map((id) => of(id, "KEY", "5").length), [0, 1]);
});
