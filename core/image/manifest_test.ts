import { deepStrictEqual, match } from "node:assert/strict";
import * as Result from "effect/Result";
import type { Json } from "../data/json.ts";
import { labelsOf, readManifest } from "./manifest.ts";

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const bad = (document: Json): string => {
  const found = readManifest(document);
  return Result.isFailure(found) ? found.failure.message : "no failure";
};

Deno.test("readManifest() lists the Linux images of an index, without attestations", () => {
  const entry = (letter: string, architecture: string, os = "linux") => ({
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    digest: digest(letter),
    platform: { architecture, os },
  });
  const found = Result.getOrThrow(
    readManifest({
      manifests: [
        entry("a", "amd64"),
        entry("b", "arm64"),
        entry("c", "unknown", "unknown"),
        entry("d", "amd64", "windows"),
      ],
    }),
  );
  deepStrictEqual(
    found.kind === "index" ? found.platforms.map((item) => [item.architecture, item.digest]) : found,
    [["amd64", digest("a")], ["arm64", digest("b")]],
  );
});

Deno.test("readManifest() reads config and layers of an image", () => {
  const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar+zstd", digest: digest("b") };
  const found = readManifest({ schemaVersion: 2, config: { digest: digest("a"), mediaType: "x" }, layers: [layer] });
  deepStrictEqual(Result.getOrThrow(found), {
    kind: "image",
    config: digest("a"),
    layers: [layer.digest],
  });
});

const CASES: ReadonlyArray<readonly [string, Json, RegExp]> = [
  ["a text", "x", /no JSON object/],
  ["an index without Linux", { manifests: [] }, /no image for Linux/],
  ["a manifest without config", { layers: [] }, /no config/],
  ["a digest that leads elsewhere", { config: { digest: "../../v2/other" }, layers: [] }, /no config/],
  [
    "ten thousand layers",
    { config: { digest: digest("a") }, layers: Array(10_000).fill({ digest: digest("b") }) },
    /10000 layers/,
  ],
  ["ten thousand platforms", { manifests: Array(10_000).fill({}) }, /10000 entries/],
];
for (const [what, document, message] of CASES) {
  Deno.test(`readManifest() rejects ${what}`, () => match(bad(document), message));
}

Deno.test("labelsOf() leaves out labels that are no text", () => {
  deepStrictEqual(labelsOf({ config: { Labels: { a: "1", b: 2 } } }), { a: "1" });
  deepStrictEqual(labelsOf({ config: { Labels: null } }), {});
});
