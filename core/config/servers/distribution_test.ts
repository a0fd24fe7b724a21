import { DEFAULT_SURROUNDINGS } from "../default_surroundings.ts";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, failures, generated, rejected, smallBase, SURROUNDINGS, warnings } from "../../../tests/given.ts";
import type { JsonObject } from "../../data/json.ts";
import { REGISTRIES_DEFAULT } from "../../operator/registries.ts";
import { derive, type Surroundings, warningsOf } from "../derive.ts";
import { BASES } from "./bases.ts";
import {
  type Circumstances,
  type ImageOverrides,
  NO_OVERRIDES,
  resolveDistribution,
  type RunningServer,
} from "./distribution.ts";
import { readDistributions } from "./distribution_table.ts";
import { EMBEDDED_DISTRIBUTIONS } from "./distributions.ts";

const resolve = (
  wanted: { name?: string; image?: string; serverVersion?: string },
  overrides: ImageOverrides = NO_OVERRIDES,
  circumstances: Circumstances = {},
) =>
  Result.match(resolveDistribution(wanted, EMBEDDED_DISTRIBUTIONS, overrides, circumstances), {
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
  strictEqual(resolve({ name: "starter" }), "docker.io/ogxai/distribution-starter:1.4.1 1.2 1.4");
  strictEqual(resolve({ name: "postgres-demo" }), "docker.io/ogxai/distribution-postgres-demo:1.4.1 1.2 1.4");
  strictEqual(resolve({ name: "ogx-starter" }), resolve({ name: "starter" }));
  strictEqual(resolve({ name: "ogx-postgres-demo" }), resolve({ name: "postgres-demo" }));
});

Deno.test("resolveDistribution() prefers the settings, then RELATED_IMAGE, then the table", () => {
  const related = { ...NO_OVERRIDES, related: new Map([["RELATED_IMAGE_STARTER", "mirror/starter:latest"]]) };
  strictEqual(resolve({ name: "starter" }, related), "mirror/starter:latest 1.2 1.4");
  const both = { ...related, settings: new Map([["starter", "own/starter:1.4.2"]]) };
  strictEqual(resolve({ name: "starter" }, both), "own/starter:1.4.2 1.2 1.4");
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

Deno.test("resolveDistribution() rejects an override for another server than the resource asks for, or without a base", () => {
  const override = settings("ogxai/distribution-starter:1.4.1");
  ok(
    resolve({ name: "starter", serverVersion: "0.6.1" }, override).includes(
      "another server family than Llama Stack 0.6.1",
    ),
  );
  ok(resolve({ name: "starter" }, settings("mirror/starter:2.0.0")).includes("another server family"));
});

Deno.test("resolveDistribution() uses the minor version of the override for the catalogue", () => {
  const overrides = { ...NO_OVERRIDES, settings: new Map([["ogx-starter", "mirror/ogx:1.5.0"]]) };
  strictEqual(resolve({ name: "ogx-starter" }, overrides), "mirror/ogx:1.5.0 1.2 1.5");
});

Deno.test("resolveDistribution() takes an override with a version in its tag together with the base of that version", () => {
  for (const version of ["0.3.5", "0.6.1", "0.7.1", "1.0.4"]) {
    const minor = version.split(".").slice(0, 2).join(".");
    const found = resolve({ name: "starter" }, settings(`mirror.example.com/distribution-starter:${version}`));
    ok(found.startsWith(`mirror.example.com/distribution-starter:${version} `) && found.endsWith(` ${minor}`), found);
  }
  const derived = generated({ distribution: { name: "starter" }, resources: { shields: ["guard"] } }, {
    overrides: settings("mirror.example.com/distribution-starter:0.6.1"),
  });
  strictEqual(derived.server.version, "0.6.1");
});

Deno.test("resolveDistribution() gives an alias the override of the name that it stands for, unless it has its own", () => {
  strictEqual(resolve({ name: "ogx-starter" }, settings("m/starter:1.4.1")), "m/starter:1.4.1 1.2 1.4");
  const both = new Map([["starter", "m/starter:0.7.1"], ["ogx-starter", "m/starter:1.4.1"]]);
  strictEqual(resolve({ name: "ogx-starter" }, { ...NO_OVERRIDES, settings: both }), "m/starter:1.4.1 1.2 1.4");
  strictEqual(resolve({ name: "starter" }, { ...NO_OVERRIDES, settings: both }), "m/starter:0.7.1 0.7 0.7");
});

const GONE = "docker.io/llamastack/distribution-starter:0.7.1";
const runs = (image: string | undefined, serverVersion: string | undefined): Circumstances => ({
  running: { image, serverVersion },
});

Deno.test("resolveDistribution() leaves a server on the image and the version of Llama Stack that it runs", () => {
  const starter = { name: "starter" };
  strictEqual(resolve(starter, NO_OVERRIDES, runs(GONE, "0.7.1")), `${GONE} 0.7 0.7`);
  const short = "llamastack/distribution-starter:0.2.14";
  strictEqual(resolve(starter, NO_OVERRIDES, runs(short, "0.2.14")), `${short} legacy 0.2`);
  // Where only the status is left, the image of that version.
  strictEqual(resolve(starter, NO_OVERRIDES, runs(undefined, "0.7.1")), `${GONE} 0.7 0.7`);
  const floating = "docker.io/llamastack/distribution-starter:latest";
  strictEqual(resolve(starter, NO_OVERRIDES, runs(floating, undefined)), `${floating} unknown`);
  strictEqual(resolve(starter, NO_OVERRIDES, runs(floating, "0.7.3")), `${floating} 0.7 0.7`);
  const published = "docker.io/ogxai/distribution-starter:0.6.1";
  strictEqual(resolve(starter, NO_OVERRIDES, runs(published, "0.6.1")), `${published} 0.4 0.6`);
  const nowhere = "docker.io/llamastack/distribution-remote-vllm:0.3.0";
  strictEqual(resolve({ name: "remote-vllm" }, NO_OVERRIDES, runs(nowhere, "0.3.0")), `${nowhere} 0.3 0.3`);
  strictEqual(
    resolve({ ...starter, serverVersion: "0.7.1" }, NO_OVERRIDES, runs(floating, undefined)),
    `${floating} 0.7 0.7`,
  );
  // The same server is published elsewhere, but nobody asked for another image.
  const old = "docker.io/llamastack/distribution-starter:0.6.1";
  for (const serverVersion of ["0.6", "0.6.1"]) {
    strictEqual(resolve({ ...starter, serverVersion }, NO_OVERRIDES, runs(old, "0.6.1")), `${old} 0.4 0.6`);
  }
});

Deno.test("resolveDistribution() moves a server that runs where somebody asks for that", () => {
  const newest = resolve({ name: "starter" });
  strictEqual(resolve({ name: "starter", serverVersion: "1.4.1" }, NO_OVERRIDES, runs(GONE, "0.7.1")), newest);
  strictEqual(resolve({ name: "ogx-starter" }, NO_OVERRIDES, runs(GONE, "0.7.1")), newest);
  // Its image was that of another name, or of the author.
  const other = "docker.io/llamastack/distribution-postgres-demo:0.7.1";
  strictEqual(resolve({ name: "starter" }, NO_OVERRIDES, runs(other, "0.7.1")), newest);
  strictEqual(resolve({ name: "starter" }, NO_OVERRIDES, runs("example.com/own:1", "0.7.1")), newest);
  // OGX is upgraded as before.
  strictEqual(
    resolve({ name: "starter" }, NO_OVERRIDES, runs("docker.io/ogxai/distribution-starter:1.2.5", "1.2.5")),
    newest,
  );
});

Deno.test("resolveDistribution() leaves Llama Stack as it is under an override for OGX, and when its own override goes", () => {
  const starter = { name: "starter" };
  strictEqual(resolve(starter, settings("m/starter:1.4.1"), runs(GONE, "0.7.1")), `${GONE} 0.7 0.7`);
  strictEqual(resolve(starter, settings("m/starter:1.4.1")), "m/starter:1.4.1 1.2 1.4");
  const mirrored = { image: "m/starter:0.7.1", serverVersion: "0.7.1" };
  strictEqual(
    resolve(starter, NO_OVERRIDES, { running: { ...mirrored, distribution: "starter" } }),
    "m/starter:0.7.1 0.7 0.7",
  );
  // An image of the author's, before he named the distribution.
  strictEqual(resolve(starter, NO_OVERRIDES, { running: mirrored }), resolve(starter));
});

Deno.test("resolveDistribution() gives an alias no override of another product, or of an unknown one", () => {
  const alias = { name: "ogx-starter" };
  for (const image of ["m/starter:0.7.1", `m/starter@sha256:${"a".repeat(64)}`]) {
    strictEqual(resolve(alias, settings(image)), resolve(alias), image);
  }
});

Deno.test("resolveDistribution() reads an override without a version for the server that runs", () => {
  const digest = `m/starter@sha256:${"a".repeat(64)}`;
  strictEqual(resolve({ name: "starter" }, settings(digest), runs(digest, "0.7.1")), `${digest} 0.7 0.7`);
  strictEqual(resolve({ name: "starter" }, settings(digest)), `${digest} 1.2 1.4`);
});

Deno.test("a new resource with a name whose images are gone is rejected, unless somebody has a copy", () => {
  for (const name of ["remote-vllm", "meta-reference-gpu"]) {
    const resolved = resolve({ name });
    ok(resolved.startsWith(`spec.distribution.name: no image of distribution "${name}" is published`), resolved);
    const { image = "" } = EMBEDDED_DISTRIBUTIONS.get(name) ?? {};
    const copy = { ...NO_OVERRIDES, settings: new Map([[name, `m/${name}:1`]]) };
    ok(resolve({ name }, copy).startsWith(`m/${name}:1 `));
    ok(resolve({ name }, NO_OVERRIDES, { isMirrored: () => true }).startsWith(image));
    ok(resolve({ name }, NO_OVERRIDES, runs(image, undefined)).startsWith(image));
  }
});

/** The warnings of a resource that sets nothing else, without a mirror. */
const told = (distribution: JsonObject, running?: RunningServer) => {
  const surroundings = running === undefined ? DEFAULT_SURROUNDINGS : { ...DEFAULT_SURROUNDINGS, running };
  return warningsOf(Result.getOrThrow(derive(decoded({ distribution }), surroundings)))
    .map(({ code, message }) => `${code} ${message}`);
};

Deno.test("derive() uses the base of a published image, whether it is named by name or by image", () => {
  const providers = { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] };
  for (const version of ["0.5.2", "0.6.1", "1.4.1"]) {
    const image = `docker.io/ogxai/distribution-starter:${version}`;
    const byImage = generated({ distribution: { image }, providers });
    strictEqual(byImage.distribution.image, image);
    strictEqual(
      byImage.config.yaml,
      generated({ distribution: { name: "starter", serverVersion: version }, providers }).config.yaml,
    );
  }
  // The author asks for a file of the labels.
  const labelled = { image: "docker.io/ogxai/distribution-starter:1.4.1", config: "other.yaml" };
  deepStrictEqual(failures({ distribution: labelled, providers }), ["BaseConfigRequired at spec.distribution.image"]);
});

Deno.test("derive() warns of an image that nobody publishes, with the ways out that there are", () => {
  const copy = "name a copy of it in image-overrides of the operator's settings or in spec.distribution.image";
  const gone = (image: string) =>
    `ImageNotPublished image ${image} has not been published since 2026-06, so only nodes that have it can run it; `;
  const move = 'set spec.distribution.serverVersion to "1.4.1" to move to OGX 1.4.1; docs/upgrade.md says what this ' +
    "move loses";
  deepStrictEqual(told({ name: "starter", serverVersion: "0.7.1" }), [`${gone(GONE)}${copy}, or ${move}`]);
  deepStrictEqual(told({ name: "starter" }, { image: GONE, serverVersion: "0.7.1" }), [
    `${gone(GONE)}${copy}, or ${move}`,
  ]);
  const own = "docker.io/llamastack/distribution-starter:0.6.1";
  deepStrictEqual(told({ image: own }), [
    `${
      gone(own)
    }set spec.distribution.image to docker.io/ogxai/distribution-starter:0.6.1, which has the same server, or ${copy}`,
  ]);
  const published = { image: "docker.io/ogxai/distribution-starter:0.6.1", serverVersion: "0.6.1" };
  deepStrictEqual(told({ name: "starter" }, published), [`ServerStays the server stays on Llama Stack 0.6.1; ${move}`]);
  for (const quiet of [{ name: "starter" }, { name: "starter", serverVersion: "0.6.1" }, { image: published.image }]) {
    deepStrictEqual(told(quiet), []);
  }
});

Deno.test("resolveDistribution() names serverVersion where that is what is wrong", () => {
  ok(resolve({ name: "starter", serverVersion: "9.9.9" }).startsWith("spec.distribution.serverVersion: "));
});

Deno.test("resolveDistribution() lists the known names when one is unknown", () => {
  strictEqual(
    resolve({ name: "nope" }),
    'spec.distribution.name: unknown distribution "nope"; available distributions: ' +
      "ogx-postgres-demo, ogx-starter, postgres-demo, starter. For other images, set spec.distribution.image instead of " +
      'name; or an administrator adds an image for "nope" to image-overrides of the operator\'s settings',
  );
});

Deno.test("a published image without a version in its tag is refused with the advice to name its version, which then is enough", () => {
  const digest = `@sha256:${"0".repeat(64)}`;
  const at = (image: string, more: JsonObject = {}) =>
    derive(decoded({ distribution: { image, ...more }, storage: { kv: {} } }), SURROUNDINGS);
  const said = (image: string) =>
    Result.match(at(image), {
      onSuccess: () => "",
      onFailure: ({ failures }) => failures.map(({ message }) => message).join(),
    });
  const mirrored = "mirror.example.com/ogxai/distribution-starter";
  for (const image of [`${mirrored}${digest}`, `${mirrored}:latest`]) {
    match(
      said(image),
      /no known base config.*; set spec\.distribution\.serverVersion to the version of its server, use/,
    );
    const named = Result.getOrThrow(at(image, { serverVersion: "1.4.1" }));
    deepStrictEqual([named._tag, named.distribution.image], ["Generated", image]);
  }
  // Its version would not tell the config of any other image.
  ok(!said(`mirror.example.com/own${digest}`).includes("serverVersion"));
});

Deno.test("an unknown distribution hides no warning about the rest of the spec", () => {
  const env = [{ name: "VLLM_API_TOKEN_1", value: "fake" }];
  const { failures, warnings } = rejected({ distribution: { name: "rh-dev" }, workload: { overrides: { env } } });
  deepStrictEqual([failures.length, warnings.map(({ code }) => code)], [1, ["CredentialInEnvironment"]]);
});

Deno.test("an image override makes any name a distribution, whose config is that of its labels or of the resource", () => {
  const image = "quay.io/rhoai/core-rhel9:3.2";
  const surroundings: Surroundings = {
    ...SURROUNDINGS,
    overrides: { settings: new Map([["rh-dev", image]]), related: new Map() },
  };
  const of = (spec: JsonObject, more: Partial<Surroundings> = {}) =>
    derive(decoded({ distribution: { name: "rh-dev" }, ...spec }), { ...surroundings, ...more });
  const plain = Result.getOrThrow(of({}));
  deepStrictEqual([plain._tag, plain.distribution.image], ["DistributionDefault", image]);
  const kv = { storage: { kv: {} } };
  const refused = of(kv);
  ok(Result.isFailure(refused) && refused.failure.failures[0]?._tag === "BaseConfigRequired");
  const base = { origin: "labels", content: BASES["starter-1.4.yaml"] ?? "" };
  const labels = {
    kind: "read",
    read: { image, digest: "sha256:00", config: { name: "config.yaml", base, serverVersion: "1.4.1" } },
  } as never;
  const generated = Result.getOrThrow(of(kv, { labels, imageLabels: "Auto" }));
  deepStrictEqual([generated._tag, generated.distribution.server?.version], ["Generated", "1.4.1"]);
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
  strictEqual(generated({ disabled: ["eval"] }).distribution.image, GONE);
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
    const env = name === "meta-reference-gpu" ? [{ name: "INFERENCE_MODEL", value: "Llama3.2-3B-Instruct" }] : [];
    ok(generated({ distribution: { name }, storage: { kv: {}, sql: {} }, workload: { overrides: { env } } }), name);
  }
});

Deno.test("a version that a distribution never had names only ways that work", () => {
  const refused = (name: string, serverVersion: string) =>
    rejected({ distribution: { name, serverVersion }, storage: { kv: {} } }, { registries: REGISTRIES_DEFAULT })
      .failures.map(({ _tag, message }) => `${_tag} ${message}`).join("\n");
  match(refused("remote-vllm", "1.4.1"), /^ImageNotPublished .*use distribution "starter"/);
  match(refused("meta-reference-gpu", "1.4.1"), /^ImageNotPublished /);
});

Deno.test("a distribution that is written in another way is recognized", () => {
  const [failure] = rejected({ distribution: { name: "Starter" } }).failures;
  match(failure?.message ?? "", /unknown distribution "Starter"; did you mean starter\? Available distributions:/);
});
