import { deepStrictEqual, ok } from "node:assert/strict";
import { decoded, generated, secret, warnings } from "../../../tests/given.ts";
import { isObject, type JsonObject } from "../../data/json.ts";
import { BASES } from "../servers/bases.ts";
import { CATALOGUES } from "../servers/catalogue.ts";
import { mayBeSecret, specCautions } from "./cautions.ts";

const withEnv = (...env: ReadonlyArray<object>) =>
  ({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm/v1" }] },
    workload: { overrides: { env } },
  }) as never;
const AT = "spec.workload.overrides.env[0]";

Deno.test("addCautions() warns of credentials in clear text in the environment, and does not print them", () => {
  for (
    const [name, value] of [
      ["OPENAI_API_KEY", "hunter2"],
      ["HF_TOKEN", "hunter2"],
      ["POSTGRES_PASSWORD", "hunter2"],
      ["OTEL_EXPORTER_OTLP_HEADERS", "x=1,Authorization=Bearer hunter2"],
      ["VLLM_API_TOKEN_1", "hunter2"],
      ["OPENAI_API_KEY2", "hunter2$"],
      ["PGPASSWORD", "hunter2"],
      ["DATABASE_URL", "postgresql://me:hunter2@db/ls"],
    ] as const
  ) {
    const spec = withEnv({ name, value });
    deepStrictEqual(warnings(spec), [`CredentialInEnvironment at ${AT}.value`], name);
    ok(generated(spec).config.warnings.every(({ message }) => !message.includes("hunter2")));
  }
});

Deno.test("mayBeSecret() knows the variables of every secret field of a server, also with a number", () => {
  const secrets = (value: unknown): ReadonlyArray<string> =>
    typeof value !== "object" || value === null ? [] : Object.entries(value).flatMap(([key, inner]) => [
      ...(isObject(inner) && inner.secret === true ? [key] : []),
      ...secrets(inner),
    ]);
  const fields = new Set(CATALOGUES.flatMap(secrets));
  // With the secret key only, nobody can sign in; AWS counts this one as public.
  fields.delete("aws_access_key_id");
  ok(fields.size >= 8, [...fields].join());
  // What the base configs name: `api_key: ${env.AWS_BEARER_TOKEN_BEDROCK:=}`.
  const variables = Object.values(BASES).flatMap((text) =>
    [...text.matchAll(/(\w+): *['"]?\$\{env\.([A-Z0-9_]+)/g)].flatMap(([, field = "", name = ""]) =>
      fields.has(field) ? [name] : []
    )
  );
  ok(variables.includes("AWS_BEARER_TOKEN_BEDROCK"), variables.join());
  for (const name of new Set([...[...fields].map((field) => field.toUpperCase()), ...variables])) {
    ok(mayBeSecret(name, "x") && mayBeSecret(`${name}_1`, "x"), name);
  }
});

Deno.test("addCautions() accepts references to Secrets, and variables that are no credentials", () => {
  deepStrictEqual(
    warnings(withEnv(
      { name: "OPENAI_API_KEY", valueFrom: secret("s", "k") },
      { name: "HF_TOKEN", value: "" },
      { name: "HF_HUB_OFFLINE", value: "1" },
      { name: "MAX_TOKENS", value: "512" },
      { name: "TOKEN_LIMIT_2", value: "512" },
      { name: "VLLM_URL_1", value: "http://vllm:8000/v1" },
      { name: "AWS_ACCESS_KEY_ID", value: "AKIA" },
      { name: "OTEL_EXPORTER_OTLP_HEADERS", value: "tenant=a" },
      { name: "COPY_TOKEN", value: "$(HF_TOKEN)" },
    )),
    [],
  );
});

Deno.test("addCautions() warns of variables that the operator sets from another field", () => {
  deepStrictEqual(warnings(withEnv({ name: "OGX_PORT", value: "9000" })), [`OperatorVariable at ${AT}.name`]);
  deepStrictEqual(warnings(withEnv({ name: "LLAMA_STACK_CONFIG", value: "/my/config.yaml" })), [
    `OperatorVariable at ${AT}.name`,
  ]);
});

Deno.test("addCautions() warns of tokens in the headers of telemetry", () => {
  const telemetry = (settings: object) => ({ providers: { telemetry: [{ provider: "otel", settings }] } }) as never;
  deepStrictEqual(warnings(telemetry({ OTEL_EXPORTER_OTLP_HEADERS: "api-key=hunter2" })), [
    "CredentialInSettings at spec.providers.telemetry[0].settings.OTEL_EXPORTER_OTLP_HEADERS",
  ]);
  deepStrictEqual(warnings(telemetry({ OTEL_SERVICE_NAME: "my" })), []);
});

Deno.test("addCautions() names the fields that an own command does not apply", () => {
  const own = (overrides: object) =>
    ({ providers: { inference: [{ provider: "openai" }] }, workload: { workers: 2, overrides } }) as never;
  deepStrictEqual(warnings(own({ args: ["--port", "9999"] })), [
    "OverriddenCommand at spec.workload.overrides.args",
  ]);
  deepStrictEqual(warnings(own({ command: ["llama", "stack", "run"] })), [
    "OverriddenCommand at spec.workload.overrides.command",
  ]);
});

Deno.test("specCautions() warns of images that name no registry", () => {
  const of = (image: string, provider = "quay.io/team/provider:1") =>
    specCautions(
      decoded({
        distribution: { image },
        externalProviders: { inference: [{ providerId: "own", image: provider }] },
      }).spec,
    ).filter(({ code }) => code === "ImageWithoutRegistry").map(({ path }) => path.join("."));
  deepStrictEqual(of("ogxai/distribution-starter:1.4.1"), ["spec.distribution.image"]);
  deepStrictEqual(of("own", "team/provider:1"), [
    "spec.distribution.image",
    "spec.externalProviders.inference.0.image",
  ]);
  for (const image of ["docker.io/a/b:1", "localhost/b", "registry:5000/b", "quay.io/a/b@sha256:00"]) {
    deepStrictEqual(of(image), []);
  }
});

Deno.test("specCautions() names external providers among what an own command has to do", () => {
  const { spec } = decoded({
    externalProviders: { inference: [{ providerId: "own", image: "quay.io/team/provider:1" }] },
    workload: { overrides: { command: ["llama", "stack", "run"] } },
  });
  deepStrictEqual(
    specCautions(spec).map(({ code, message }) => [code, message.includes("spec.externalProviders")]),
    [["OverriddenCommand", true]],
  );
});

Deno.test("specCautions() counts as done what a command reads from the file that the operator mounts", () => {
  const said = (spec: JsonObject, ...command: ReadonlyArray<string>) =>
    specCautions(decoded({ ...spec, workload: { workers: 2, overrides: { command } } }).spec)
      .map(({ message }) => /: (.*) are applied/.exec(message)?.[1]);
  const own = { overrideConfig: { configMapName: "c" }, networking: { port: 9000 } };
  deepStrictEqual(said(own, "llama", "stack", "run", "/etc/llama-stack/config.yaml"), ["spec.workload.workers"]);
  deepStrictEqual(said(own, "llama", "stack", "run", "/etc/llama-stack/run.yaml"), ["spec.workload.workers"]);
  deepStrictEqual(said(own, "sh", "-c", "ogx stack run $OGX_CONFIG"), ["spec.workload.workers"]);
  deepStrictEqual(said(own, "llama", "stack", "run", "/app/run.yaml"), [
    "spec.networking.port, spec.workload.workers, spec.overrideConfig",
  ]);
  const providers = { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] };
  deepStrictEqual(said({ providers }, "llama stack run ${LLAMA_STACK_CONFIG}"), []);
  // There is no such file.
  deepStrictEqual(said({}, "llama", "stack", "run", "/etc/llama-stack/config.yaml"), ["spec.workload.workers"]);
  // The default is what every server listens on.
  deepStrictEqual(said({ networking: { port: 8321 } }, "llama", "stack", "run"), ["spec.workload.workers"]);
});

Deno.test("addCautions() warns of another file of certificates beside a CA bundle", () => {
  const spec = (env: JsonObject, tls = {}) => ({
    storage: { kv: {} },
    networking: { tls },
    workload: { overrides: { env: [env] } },
  });
  const caBundle = { configMapName: "c" };
  const own = { name: "SSL_CERT_FILE", value: "/my/ca.crt" };
  deepStrictEqual(warnings(spec(own, { caBundle })), [`OperatorVariable at ${AT}.name`]);
  deepStrictEqual(warnings(spec({ ...own, value: "/etc/ssl/certs/ca-bundle/ca-bundle.crt" }, { caBundle })), []);
  deepStrictEqual(warnings(spec(own)), [`FileNotMounted at ${AT}.value`]);
});

Deno.test("addCautions() warns of the port of gRPC, unless the protocol is chosen", () => {
  const telemetry = (endpoint: string, settings: JsonObject = {}) =>
    warnings({ providers: { telemetry: [{ provider: "otel", endpoint, settings }] } });
  const said = ["TelemetrySetting at spec.providers.telemetry[0].endpoint"];
  deepStrictEqual(telemetry("http://collector:4317"), said);
  deepStrictEqual(telemetry("https://[::1]:4317/"), said);
  deepStrictEqual(telemetry("http://collector:4318"), []);
  deepStrictEqual(telemetry("http://collector:4317", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), []);
});
