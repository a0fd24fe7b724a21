import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { config, generated, rejected, warnings } from "../../../tests/given.ts";
import { endsSoon } from "../../../tests/measured.ts";
import type { JsonObject } from "../../data/json.ts";
import { BASE_BYTES_MAX } from "../../data/limits.ts";
import { REGISTRIES_DEFAULT } from "../../operator/registries.ts";
import type { Surroundings } from "../derive.ts";
import { baseId, isConditional, readBase } from "./base.ts";
import { type Server, serverOf } from "./families/families.ts";

const server07 = serverOf("0.7.1") as Server;
const server14 = serverOf("1.4.1") as Server;
const read = (content: string | Uint8Array, server = server07) => readBase({ origin: "test", content }, server);
const message = (content: string | Uint8Array, server = server07) =>
  Result.match(read(content, server), { onFailure: (failure) => failure.message, onSuccess: () => "accepted" });
const head = "version: 2\nimage_name: my\nproviders: {}\n";

/** Growth of the heap that a hostile base may cause, in bytes; the largest accepted base has 1 MiB of text. */
const HOSTILE_BYTES_MAX = 128 * 1024 * 1024;

const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
for (let level = 1; level < 12; level++) {
  bomb.push(`a${level}: &a${level} [${Array(5).fill(`*a${level - 1}`).join(",")}]`);
}

for (
  const [name, content, words] of [
    ["an alias bomb", `${head}${bomb.join("\n")}`, "aliases"],
    [
      "few aliases to a large anchor",
      `${head}a: &a [${Array(2000).fill("x").join(",")}]\n${
        Array.from({ length: 60 }, (_, i) => `b${i}: *a`).join("\n")
      }`,
      "50000 values",
    ],
    ["10 MB", head + "x: " + "y".repeat(10 * 1024 * 1024), "at most"],
    ["10 MB of bytes", new Uint8Array(10 * 1024 * 1024), "at most"],
    ["deep nesting", `${head}x: ${"[".repeat(100_000)}`, "Cannot read the base"],
    [
      "deep block nesting",
      head + Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      "Cannot read the base",
    ],
    ["a list at the top", "- version: 2", "not a map"],
    ["a text", "hello", "not a map"],
    ["nothing", "", "Cannot read the base"],
    ["a NUL", `${head}x: "a\u0000b"`, "Cannot read the base"],
    ["bytes that are not UTF-8", new Uint8Array([0x76, 0xff, 0xfe]), "not UTF-8"],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x76, 0x00]), "not UTF-8"],
    ["an unknown tag", `${head}x: !!python/object:os.system {}`, "Cannot read the base"],
    ["two documents", `${head}---\nversion: 2`, "Cannot read the base"],
    ["providers as a list", "version: 2\nproviders: []", "providers must be a map"],
    ["no providers", "version: 2", "providers is missing"],
    ["providers.inference as a map", "version: 2\nproviders: {inference: {}}", "must be a list"],
    ["a provider without id", "version: 2\nproviders: {inference: [{provider_type: x}]}", "needs provider_id"],
    [
      "a provider with a misspelt key",
      "version: 2\nproviders: {inference: [{provider_id: a, provider_type: b}, {provider_id: a, provider_tpye: b}]}",
      "providers.inference[1] needs provider_type, and has provider_tpye",
    ],
    ["storage as a text", `${head}storage: here`, "storage must be a map"],
    ["backends as a list", `${head}storage: {backends: []}`, "storage.backends must be a map"],
    ["models as a map", `${head}registered_resources: {models: {}}`, "must be a list of maps"],
    ["apis as a text", `${head}apis: all`, "apis must be a list"],
    ["server as null", `${head}server:`, "server must be a map"],
  ] as const
) {
  Deno.test(`readBase() rejects ${name} within bounded time and memory`, async () => {
    const heap = Deno.memoryUsage().heapUsed;
    const said = await endsSoon(() => message(content));
    ok(said.includes(words), said.slice(0, 300));
    ok(said.length < 1000, `a message of ${said.length} characters`);
    ok(Deno.memoryUsage().heapUsed - heap < HOSTILE_BYTES_MAX);
  });
}

Deno.test("readBase() quotes no line of an invalid base config, because it may contain a secret", () => {
  ok(!message("version: 2\npassword: hunter2\n  broken: [").includes("hunter2"));
});

Deno.test("readBase() reads a base up to its limit", () => {
  const content = `${head}x: ${"y".repeat(BASE_BYTES_MAX - head.length - 3)}`;
  ok(Result.isSuccess(read(content)));
});

for (
  const [name, content, server, words] of [
    [
      "refuses a version it does not know",
      "version: 3\nproviders: {}",
      server07,
      "Unsupported version 3 of config.yaml in the base config",
    ],
    [
      "refuses a base without version",
      "providers: {}",
      server07,
      "Unsupported version (none) of config.yaml in the base config (test); every server reads version 2: write version: 2",
    ],
    [
      "refuses APIs that the server lost",
      "version: 2\nproviders: {agents: []}",
      server07,
      "Llama Stack 0.7.1 has no API agents",
    ],
    [
      "refuses APIs that only older servers have",
      "version: 2\napis: [eval]\nproviders: {}",
      server14,
      "OGX 1.4.1 has no API eval",
    ],
    [
      "refuses provider types that the server lost",
      "version: 2\nproviders: {inference: [{provider_id: a, provider_type: 'remote::tgi'}]}",
      server07,
      "no inference provider remote::tgi",
    ],
  ] as const
) {
  Deno.test(`readBase() ${name}`, () => ok(message(content, server).includes(words), message(content, server)));
}

Deno.test("readBase() accepts version 2 as number and as text, and leaves conditional entries of unknown types alone", () => {
  strictEqual(
    message("version: '2'\nproviders: {inference: [{provider_id: '${env.X:+a}', provider_type: 'remote::tgi'}]}"),
    "accepted",
  );
});

Deno.test("readBase() takes sections without content for absent where the server does", () => {
  const of = (text: string, server: Server) => Result.getOrUndefined(read(`${head}${text}`, server));
  const bare = of("", server07);
  deepStrictEqual(of("vector_stores:\nsafety:\n", server07), bare);
  deepStrictEqual(of("apis:\nvector_stores:\n", serverOf("1.5.0") as Server), bare);
  for (const section of ["apis", "server", "storage", "registered_resources"]) {
    match(message(`${head}${section}:\n`), new RegExp(`${section} must be`));
  }
});

Deno.test("generation() keeps a section of the base that the server ignores, with a warning", () => {
  for (const distribution of [{ name: "starter" }, { name: "ogx-starter", serverVersion: "1.2" }]) {
    const base = { origin: "test", content: `${head}telemetry: {enabled: true}\n` };
    const spec = { distribution, providers: { inference: [{ provider: "openai" }] } };
    deepStrictEqual(warnings(spec, { base }), ["SectionIgnored at spec.distribution"]);
    deepStrictEqual(config(spec, { base }).telemetry, { enabled: true });
  }
});

const at = (text: string) => ({ base: { origin: "test", content: text } });
const asking = { providers: { inference: [{ provider: "openai" }] } };

Deno.test("generation() keeps what the server of another version reads at top level, with a warning that names where it is now", () => {
  const content = `${head}metadata_store: {type: sqlite}\nmodels: [{model_id: a, provider_id: b}]\nshields: []\n`;
  const [first, second, ...others] = generated(asking, at(content)).config.warnings;
  deepStrictEqual([first?.message, second?.message, others], [
    "in the base config, Llama Stack 0.7.1 ignores metadata_store at top level, and reads storage.stores.metadata",
    "in the base config, Llama Stack 0.7.1 ignores models at top level, and reads registered_resources.models",
    [],
  ]);
  deepStrictEqual(config(asking, at(content)).models, [{ model_id: "a", provider_id: "b" }]);
});

Deno.test("generation() keeps storage of a base for Llama Stack 0.2, with a warning", () => {
  const content = `${head}storage: {backends: {kv_default: {type: kv_sqlite}}}\n`;
  const spec = { ...asking, distribution: { name: "starter", serverVersion: "0.2" } };
  deepStrictEqual(warnings(spec, at(content)).filter((line) => line.startsWith("Section")), [
    "SectionIgnored at spec.distribution",
  ]);
});

/** A base that Llama Stack up to 0.6 reads. */
const OF_0_6 = "version: 2\nproviders: {tool_runtime: [{provider_id: a, provider_type: 'inline::rag-runtime'}]}\n";
const refusal = (distribution: JsonObject, more: Partial<Surroundings>) =>
  rejected({ ...asking, distribution }, more).failures.map(({ message }) => message).join("\n");

Deno.test("the refusal of a base names a server version of the distribution that accepts it, and that one does", () => {
  const said = refusal({ name: "starter", serverVersion: "1.4.1" }, { ...at(OF_0_6), registries: REGISTRIES_DEFAULT });
  const version = /set spec\.distribution\.serverVersion to ([0-9.]+), which has that$/.exec(said)?.[1];
  strictEqual(version, "0.6.1", said);
  generated({ ...asking, distribution: { name: "starter", serverVersion: version } }, at(OF_0_6));
});

Deno.test("the refusal of a base for an own image names the versions that accept it", () => {
  const image = "registry.example.com/own/server:1";
  match(
    refusal({ image, serverVersion: "1.4" }, at(OF_0_6)),
    /set spec\.distribution\.serverVersion to the version of the server in the image, if it is 0\.2, 0\.3, 0\.4, 0\.5 or 0\.6$/,
  );
  generated({ ...asking, distribution: { image, serverVersion: "0.5" } }, at(OF_0_6));
  match(refusal({ image }, { ...at(OF_0_6), serverVersion: "1.4" }), /, or set --server-version to the version/);
});

Deno.test("the refusal of a base in labels that name the server does not advise another version, which would not count", () => {
  const image = "registry.example.com/own/server:1";
  const config = { file: "config.yaml", base: { origin: "test", content: OF_0_6 }, serverVersion: "1.4.1" };
  const said = refusal({ image }, {
    labels: { kind: "read", read: { image, digest: `sha256:${"a".repeat(64)}`, wanted: undefined, config } },
  });
  match(
    said,
    /or replace spec\.providers, spec\.resources and spec\.storage by a complete config in spec\.overrideConfig$/,
  );
});

Deno.test("the refusal of a base that fits no server names only what to remove", () => {
  const nowhere = "version: 2\napis: [no_api]\nproviders: {}\n";
  match(refusal({ name: "starter", serverVersion: "1.4.1" }, at(nowhere)), /has no API no_api; remove that from it$/);
});

Deno.test("readBase() reads YAML as the server does: yes is a boolean, 012 is ten, a date is a text", () => {
  const tree = Result.getOrThrow(read(`${head}a: yes\nb: 012\nc: 2024-01-01\nd: y`));
  deepStrictEqual([tree.a, tree.b, tree.c, tree.d], [true, 10, "2024-01-01", "y"]);
});

Deno.test("baseId() is the name inside a conditional id", () => {
  deepStrictEqual(
    ["vllm", "${env.VLLM_URL:+vllm}", "${env.VLLM_URL}", ""].map((
      provider_id,
    ) => [baseId({ provider_id }), isConditional({ provider_id })]),
    [["vllm", false], ["vllm", true], ["${env.VLLM_URL}", true], ["", false]],
  );
});
