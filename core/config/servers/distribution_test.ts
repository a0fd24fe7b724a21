import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, failures, generated, rejected, smallBase, SURROUNDINGS, warnings } from "../../../tests/given.ts";
import { derive } from "../derive.ts";
import { type ImageOverrides, NO_OVERRIDES, readDistributions, resolveDistribution } from "./distribution.ts";
import { EMBEDDED_DISTRIBUTIONS } from "./distributions.ts";

const resolve = (
  wanted: { name?: string; image?: string; serverVersion?: string },
  overrides: ImageOverrides = NO_OVERRIDES,
) =>
  Result.match(resolveDistribution(wanted, EMBEDDED_DISTRIBUTIONS, overrides), {
    onFailure: (failure) => failure.message,
    onSuccess: ({ image, server }) =>
      `${image} ${server?.family.name ?? "unknown"} ${server?.catalogue.server ?? ""}`.trim(),
  });
const settings = (image: string): ImageOverrides => ({ ...NO_OVERRIDES, settings: new Map([["starter", image]]) });

Deno.test("resolveDistribution() finds every shipped distribution", () => {
  deepStrictEqual([...EMBEDDED_DISTRIBUTIONS.keys()].sort(), [
    "meta-reference-gpu",
    "ogx-postgres-demo",
    "ogx-starter",
    "postgres-demo",
    "remote-vllm",
    "starter",
  ]);
  strictEqual(resolve({ name: "starter" }), "docker.io/llamastack/distribution-starter:0.7.1 0.7 0.7");
  strictEqual(resolve({ name: "ogx-starter" }), "docker.io/ogxai/distribution-starter:1.4.1 1.2 1.4");
});

Deno.test("resolveDistribution() prefers the settings, then RELATED_IMAGE, then the table", () => {
  const related = { ...NO_OVERRIDES, related: new Map([["RELATED_IMAGE_STARTER", "mirror/starter:latest"]]) };
  strictEqual(resolve({ name: "starter" }, related), "mirror/starter:latest 0.7 0.7");
  const both = { ...related, settings: new Map([["starter", "own/starter:0.7.3"]]) };
  strictEqual(resolve({ name: "starter" }, both), "own/starter:0.7.3 0.7 0.7");
  const dashed = { ...NO_OVERRIDES, related: new Map([["RELATED_IMAGE_OGX_STARTER", "mirror/ogx@sha256:abc"]]) };
  strictEqual(resolve({ name: "ogx-starter" }, dashed), "mirror/ogx@sha256:abc 1.2 1.4");
});

Deno.test("resolveDistribution() takes RELATED_IMAGE with the pinned image, as OLM sets it, for no override", () => {
  const pinned = EMBEDDED_DISTRIBUTIONS.get("starter")?.image ?? "";
  const related = { ...NO_OVERRIDES, related: new Map([["RELATED_IMAGE_STARTER", pinned]]) };
  for (const wanted of [{}, { serverVersion: "0.3.5" }, { serverVersion: "0.6.1" }, { serverVersion: "0.7.2" }]) {
    strictEqual(resolve({ name: "starter", ...wanted }, related), resolve({ name: "starter", ...wanted }));
  }
});

Deno.test("resolveDistribution() replaces only the pinned image by an override without a version", () => {
  const digest = `docker.io/llamastack/distribution-starter@sha256:${"a".repeat(64)}`;
  for (
    const overrides of [{ ...NO_OVERRIDES, related: new Map([["RELATED_IMAGE_STARTER", digest]]) }, settings(digest)]
  ) {
    ok(resolve({ name: "starter" }, overrides).startsWith(digest));
    strictEqual(
      resolve({ name: "starter", serverVersion: "0.3.5" }, overrides),
      resolve({ name: "starter", serverVersion: "0.3.5" }),
    );
  }
});

Deno.test("resolveDistribution() rejects an override of another server family", () => {
  ok(resolve({ name: "starter" }, settings("ogxai/distribution-starter:1.4.1")).includes("another server family"));
});

Deno.test("resolveDistribution() uses the minor version of the override for the catalogue", () => {
  const overrides = { ...NO_OVERRIDES, settings: new Map([["ogx-starter", "mirror/ogx:1.5.0"]]) };
  strictEqual(resolve({ name: "ogx-starter" }, overrides), "mirror/ogx:1.5.0 1.2 1.5");
});

Deno.test("resolveDistribution() rejects a server of another product and names the distributions that have it", () => {
  strictEqual(
    resolve({ name: "starter", serverVersion: "1.4.1" }),
    'spec.distribution.serverVersion: "1.4.1" is not a version of Llama Stack, which distribution "starter" runs; set ' +
      "spec.distribution.name to a distribution with this server: ogx-postgres-demo, ogx-starter",
  );
  ok(resolve({ name: "ogx-starter", serverVersion: "0.7.3" }).includes("not a version of OGX"));
  ok(!resolve({ name: "ogx-starter", serverVersion: "0.8" }).includes("only"));
});

Deno.test("resolveDistribution() names serverVersion where that is what is wrong", () => {
  ok(resolve({ name: "starter", serverVersion: "9.9.9" }).startsWith("spec.distribution.serverVersion: "));
});

Deno.test("resolveDistribution() lists the known names when one is unknown", () => {
  strictEqual(
    resolve({ name: "nope" }),
    'spec.distribution.name: unknown distribution "nope"; available distributions: ' +
      "meta-reference-gpu, ogx-postgres-demo, ogx-starter, postgres-demo, remote-vllm, starter. For other images, use " +
      "image instead of name",
  );
});

for (
  const [image, want] of [
    ["docker.io/llamastack/distribution-starter:0.7.2", "0.7 0.7"],
    ["mirror.example.com/x/ogxai/distribution-starter:1.5.0", "1.2 1.5"],
    ["mirror.example.com/x/ogxai/distribution-starter:1.9.0", "1.2 1.5"],
    ["docker.io/llamastack/distribution-starter:latest", "unknown"],
    ["docker.io/llamastack/distribution-starter@sha256:00", "unknown"],
    ["example.com/own/server:0.7.2", "unknown"],
    ["docker.io/llamastack/distribution-starter:0.2.12", "unknown"],
  ] as const
) {
  Deno.test(`resolveDistribution() assigns ${image} to server family ${want}`, () =>
    strictEqual(resolve({ image }), `${image} ${want}`));
}

Deno.test("resolveDistribution() prefers serverVersion to the tag, and rejects unknown versions", () => {
  strictEqual(
    resolve({ image: "x/ogxai/distribution-a:1.4.1", serverVersion: "0.7.3" }),
    "x/ogxai/distribution-a:1.4.1 0.7 0.7",
  );
  ok(resolve({ image: "x", serverVersion: "0.2.12" }).includes("unsupported server version 0.2.12"));
  ok(
    resolve({ image: "x", serverVersion: "2.0" }).includes(
      "(Llama Stack 0.2 from 0.2.13 on, Llama Stack 0.3, ",
    ),
  );
});

Deno.test("derive() needs a base where a config is to be generated for an image without one", () => {
  const spec = { distribution: { image: "example.com/own:1", serverVersion: "0.7" }, storage: { kv: {} } };
  deepStrictEqual(failures(spec), ["BaseConfigRequired at spec.distribution.image"]);
  ok(rejected(spec).failures[0]?.message.includes("as is needed for spec.storage"));
  ok(generated(spec, smallBase()));
});

Deno.test("derive() rejects TLS and workers on an image without a known config, and names the alternatives", () => {
  const image = { distribution: { image: "example.com/own:1" } };
  for (
    const [block, spec] of [
      ["spec.networking.tls", { ...image, networking: { tls: { enabled: true, secretName: "t" } } }],
      ["spec.workload.workers", { ...image, workload: { workers: 2 } }],
    ] as const
  ) {
    deepStrictEqual(failures(spec), ["BaseConfigRequired at spec.distribution.image"]);
    ok(rejected(spec).failures[0]?.message.includes(`as is needed for ${block}; use spec.distribution.name`));
  }
});

Deno.test("derive() requires a version to generate a config for an image of unknown version", () => {
  const spec = { distribution: { image: "example.com/own:1" }, storage: { kv: {} } };
  deepStrictEqual(failures(spec, smallBase()), ["UnsupportedServer at spec.distribution.image"]);
});

for (
  const [name, spec, want] of [
    ["the name alone", {}, "DistributionDefault"],
    ["port, CA, one worker and a claim", {
      networking: { port: 9000, tls: { caBundle: { configMapName: "c" } } },
      workload: { workers: 1, storage: { size: "1Gi" } },
    }, "DistributionDefault"],
    ["TLS", { networking: { tls: { enabled: true, secretName: "t" } } }, "Generated"],
    ["workers", { workload: { workers: 2 } }, "Generated"],
    ["TLS with a command of one's own", {
      networking: { tls: { enabled: true, secretName: "t" } },
      workload: { overrides: { command: ["serve"] } },
    }, "DistributionDefault"],
    ["an image of one's own", { distribution: { image: "x:1" } }, "DistributionDefault"],
    [
      "a distribution whose base has a fix that its start needs",
      { distribution: { name: "ogx-starter" } },
      "Generated",
    ],
    ["empty blocks", { providers: {}, resources: {}, storage: {} }, "DistributionDefault"],
    ["an own config", { overrideConfig: { configMapName: "c" } }, "Override"],
    ["a disabled API", { disabled: ["eval"] }, "Generated"],
  ] as const
) {
  Deno.test(`chooseSource() makes ${want} of ${name}`, () => {
    strictEqual(Result.getOrThrow(derive(decoded(spec), SURROUNDINGS))._tag, want);
  });
}

Deno.test("derive() names the ConfigMap and key of an own config", () => {
  const derived = Result.getOrThrow(derive(decoded({ overrideConfig: { configMapName: "mine" } }), SURROUNDINGS));
  ok(derived._tag === "Override" && derived.configMapName === "mine" && derived.key === "config.yaml");
});

Deno.test("derive() returns the image that the config was generated for", () => {
  strictEqual(generated({ disabled: ["eval"] }).distribution.image, "docker.io/llamastack/distribution-starter:0.7.1");
});

Deno.test("derive() warns when the server is newer than every catalogue", () => {
  deepStrictEqual(warnings({ storage: { kv: {} } }, { ...smallBase(), serverVersion: "1.9.0" }), [
    "NewerServer at spec.distribution",
  ]);
});

Deno.test("readDistributions() also reads the old flat form", () => {
  const table = Result.getOrThrow(readDistributions({ starter: "x/llamastack/distribution-starter:0.7.3" }, {}));
  deepStrictEqual(
    Result.getOrThrow(resolveDistribution({ name: "starter" }, table, NO_OVERRIDES)).server?.family.name,
    "0.7",
  );
});

for (const document of [[], "x", { a: {} }, { "": "x" }, { a: "" }]) {
  Deno.test(`readDistributions() rejects ${JSON.stringify(document)}`, () =>
    ok(Result.isFailure(readDistributions(document as never, {}))));
}

Deno.test("every distribution has a base config that its server accepts, and its fixes are listed", () => {
  for (const [name, { base, image, serverVersion }] of EMBEDDED_DISTRIBUTIONS) {
    ok(base !== undefined && image.endsWith(`:${serverVersion}`), name);
    // One base names a model by a variable that has no default.
    const env = name === "meta-reference-gpu" ? [{ name: "INFERENCE_MODEL", value: "m" }] : [];
    ok(generated({ distribution: { name }, storage: { kv: {}, sql: {} }, workload: { overrides: { env } } }), name);
  }
});
