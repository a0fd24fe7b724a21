import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { failures, generated, rejected, SURROUNDINGS, warnings } from "../../../tests/given.ts";
import type { ImageLabels, ReadLabels } from "./image_labels.ts";
import { BASES } from "./bases.ts";
import { readsLabels } from "./labelled.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const CONFIG = {
  file: "config.yaml",
  base: { origin: "config.yaml of image a", content: `${BASES["starter-1.5.yaml"]}` },
  serverVersion: "1.5.0",
};
const IMAGE = "registry.example.com:5000/ai/mine:1";
const read = (change: Partial<ReadLabels> = {}): ImageLabels => ({
  kind: "read",
  read: { image: IMAGE, digest: DIGEST, wanted: undefined, config: CONFIG, ...change },
});
const PROVIDERS = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const OWN = { distribution: { image: IMAGE }, ...PROVIDERS };

Deno.test("an image with labels gets a config from them, and pods run the digest that they were read from", () => {
  const { distribution, server, config } = generated(OWN, { labels: read() });
  strictEqual(distribution.image, `registry.example.com:5000/ai/mine@${DIGEST}`);
  strictEqual(server.version, "1.5.0");
  match(config.yaml, /http:\/\/vllm:8000\/v1/);
});

Deno.test("the label of the version counts before serverVersion, which counts where the image names none", () => {
  const distribution = { image: IMAGE, serverVersion: "1.4" };
  strictEqual(generated({ ...OWN, distribution }, { labels: read() }).server.version, "1.5.0");
  const unnamed = read({ config: { ...CONFIG, serverVersion: undefined } });
  deepStrictEqual(failures(OWN, { labels: unnamed }), ["UnsupportedServer at spec.distribution.image"]);
  strictEqual(
    generated({ ...OWN, distribution: { image: IMAGE, serverVersion: "1.5" } }, { labels: unnamed }).server.version,
    "1.5",
  );
  const unknown = read({ config: { ...CONFIG, serverVersion: "99.1.0" } });
  deepStrictEqual(failures(OWN, { labels: unknown }), ["UnsupportedImageVersion at spec.distribution.image"]);
  const advice = rejected(OWN, { labels: unknown }).failures.map(({ message }) => message).join();
  match(advice, /use an image with a supported version/);
  ok(!advice.includes("serverVersion"));
});

Deno.test("without labels, or if they cannot be read, a config is refused with the cause", () => {
  const why = (labels: ImageLabels) => rejected(OWN, { labels }).failures.map(({ message }) => message).join();
  match(why(read({ config: undefined })), /\(the image has no labels with a config\); use spec\.distribution\.name/);
  match(why({ kind: "unreadable", detail: "registry a cannot be reached" }), /\(registry a cannot be reached\)/);
  deepStrictEqual(failures(OWN, { labels: { kind: "awaited" } }), ["ImageLabelsAwaited at spec.distribution.image"]);
});

Deno.test("a config that cannot be used of a requested digest says how to request another one", () => {
  const withContent = (content: string): ImageLabels => ({
    ...read({ config: { ...CONFIG, base: { ...CONFIG.base, content } } }) as Extract<ImageLabels, { kind: "read" }>,
    isRequested: true,
  });
  for (const content of ["[]", "version: 1"]) {
    const [failure] = rejected(OWN, { labels: withContent(content) }).failures;
    match(failure?.message ?? "", /the annotation llamastack\.io\/image-digest requests this digest/);
  }
});

Deno.test("a name keeps its embedded base if the labels of its other image cannot be read, with a warning", () => {
  const named = { distribution: { name: "ogx-starter" }, ...PROVIDERS };
  const overrides = { settings: new Map([["ogx-starter", "mirror.example/ogx:mine"]]), related: new Map() };
  const labels: ImageLabels = { kind: "unreadable", detail: "registry a cannot be reached" };
  ok(warnings(named, { overrides, labels }).includes("ImageLabelsUnread at spec.distribution.name"));
  strictEqual(generated(named, { overrides, labels }).distribution.image, "mirror.example/ogx:mine");
  const none = generated(named, { overrides, labels: read({ config: undefined }) });
  strictEqual(none.distribution.image, "mirror.example/ogx:mine");
  ok(!warnings(named, { overrides, labels: read({ config: undefined }) }).some((text) => text.startsWith("Image")));
  const other = read({ config: { ...CONFIG, serverVersion: "0.7.3" } });
  deepStrictEqual(failures(named, { overrides, labels: other }), [
    "OverrideForOtherServerFamily at spec.distribution.name",
  ]);
});

Deno.test("a base of the command line counts before labels", () => {
  const base = { origin: "file", content: `${BASES["starter-1.5.yaml"]}` };
  const distribution = { image: IMAGE, serverVersion: "1.5.0" };
  strictEqual(generated({ ...OWN, distribution }, { base, labels: read() }).distribution.image, IMAGE);
});

Deno.test("readsLabels() leaves pinned images alone, unless they are asked for", () => {
  const { distribution } = generated({ distribution: { name: "ogx-starter" }, ...PROVIDERS }, SURROUNDINGS);
  const overridden = { ...distribution, isOverridden: true };
  const own = { ...distribution, base: undefined };
  deepStrictEqual([distribution, overridden, own].map((item) => readsLabels(item, "Auto")), [false, true, true]);
  deepStrictEqual([distribution, overridden, own].map((item) => readsLabels(item, "Always")), [true, true, true]);
  deepStrictEqual([distribution, overridden, own].map((item) => readsLabels(item, "Never")), [false, false, false]);
});

Deno.test("labels that do not name the server are accepted with serverVersion, and named in the failure without it", () => {
  const unnamed = read({ config: { ...CONFIG, serverVersion: undefined } });
  const [failure] = rejected(OWN, { labels: unnamed }).failures;
  match(
    failure?.message ?? "",
    /the labels of the image do not name it \(com\.ogx\.distribution\.version or io\.llamastack\.config\.version, such as 1\.4\.1/,
  );
  const distribution = { image: IMAGE, serverVersion: "1.5" };
  strictEqual(generated({ ...OWN, distribution }, { labels: unnamed }).server.version, "1.5");
});
