import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import { generated, rejected, secret } from "../../../../tests/given.ts";
import { CATALOGUES, providerType } from "../catalogue.ts";
import { serverOf } from "./families.ts";

const on = (serverVersion: string) => ({ serverVersion });

const WAY = "use remote::vllm with the OpenAI-compatible endpoint of the same service";
const UNLOADABLE = "its module cannot be loaded, so the server fails to start";
const UNUSED_TYPES = "it is incompatible with this release of the server, which fails to start";
const UNANSWERED =
  "it requests details of the model that its client library does not provide, so the server fails to start";
for (
  const [version, provider, type, reason] of [
    ["0.2.24", "runpod", "remote::runpod", UNUSED_TYPES],
    ["0.2.24", "passthrough", "remote::passthrough", UNUSED_TYPES],
    ["0.3.5", "remote::passthrough", "remote::passthrough", UNUSED_TYPES],
    ["0.2.24", "remote::hf::serverless", "remote::hf::serverless", UNANSWERED],
    ["0.3.5", "tgi", "remote::tgi", UNLOADABLE],
    ["0.4", "remote::tgi", "remote::tgi", UNLOADABLE],
    ["0.5", "remote::hf::endpoint", "remote::hf::endpoint", UNLOADABLE],
    ["0.6.1", "remote::hf::serverless", "remote::hf::serverless", UNLOADABLE],
  ] as const
) {
  Deno.test(`${provider} is rejected on ${version}, which fails to start with it`, () => {
    const spec = { providers: { inference: [{ provider, endpoint: "http://x:1" }] } };
    const { failures: found } = rejected(spec, on(version));
    deepStrictEqual(found.map(({ _tag }) => _tag), ["NotSupportedByServer"]);
    strictEqual(
      found[0]?.message,
      `spec.providers.inference[0].provider: not supported by Llama Stack ${version}: inference provider of type ` +
        `"${type}": ${reason}; ${WAY}`,
    );
  });
}

Deno.test("no message proposes a type with which the server does not start, or a server without a provider of the API", () => {
  const spec = (provider: string) => ({ providers: { inference: [{ provider, endpoint: "http://x:1" }] } });
  const message = (of: Parameters<typeof rejected>[0], version: string) =>
    rejected(of, on(version)).failures[0]?.message ?? "";
  doesNotMatch(message(spec("remote::hf::serverles"), "0.5.4"), /hf::serverless/);
  match(message(spec("remote::hf::endpoin"), "0.2.24"), /hf::endpoint/);
  const files = { providers: { fileProcessors: [{ provider: "inline::pypdf" }] } } as const;
  for (const version of ["0.3.5", "0.5.4"]) match(message(files as never, version), /fileProcessors.*0\.6/s, version);
});

Deno.test("safety providers that lack a method of one release are rejected there alone", () => {
  const spec = { providers: { safety: [{ provider: "remote::sambanova" }] } };
  for (const version of ["0.2.24", "0.3.5", "0.4.7"]) {
    deepStrictEqual(rejected(spec, on(version)).failures.map(({ _tag }) => _tag), ["NotSupportedByServer"]);
  }
  ok(generated(spec, on("0.5.4")));
});

Deno.test("a type that some server families cannot start with is accepted by the others", () => {
  ok(generated({ providers: { inference: [{ provider: "tgi", endpoint: "http://x:1" }] } }, on("0.2")));
  for (const { catalogue, family } of CATALOGUES.flatMap(({ server }) => serverOf(server) ?? [])) {
    const rows = Object.keys(family.unstartableTypes).map((row) => row.split(" "));
    const strangers = rows.filter(([api = "", type = ""]) => providerType(catalogue, api, type) === undefined);
    deepStrictEqual(strangers, [], `${catalogue.server} refuses a type that it does not have`);
  }
});

Deno.test("a model under a type that serves no models is rejected, and the type alone is accepted", () => {
  const inference = [{ provider: "cerebras", endpoint: "http://x:1", apiKey: secret("s", "k") }];
  ok(generated({ providers: { inference } }, on("0.2.24")));
  const { failures: found } = rejected(
    { providers: { inference }, resources: { models: [{ name: "m" }] } },
    on("0.2.24"),
  );
  strictEqual(
    found[0]?.message,
    'spec.resources.models[0].provider: not supported by Llama Stack 0.2.24: models of a provider of type "remote::cerebras": ' +
      `the server fails to start when one is registered; ${WAY}`,
  );
  ok(generated({ providers: { inference }, resources: { models: [{ name: "m" }] } }, on("0.6")));
});
