import { deepStrictEqual } from "node:assert/strict";
import { imageName } from "./image_name.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

const CASES: ReadonlyArray<readonly [string, string, string, string | undefined, string | undefined]> = [
  ["ubuntu", "docker.io", "library/ubuntu", "latest", undefined],
  ["llamastack/distribution-starter:0.7.1", "docker.io", "llamastack/distribution-starter", "0.7.1", undefined],
  ["index.docker.io/a", "docker.io", "library/a", "latest", undefined],
  ["registry.example.com:5000/a/b", "registry.example.com:5000", "a/b", "latest", undefined],
  ["localhost/a:1", "localhost", "a", "1", undefined],
  [`quay.io/a/b@${DIGEST}`, "quay.io", "a/b", undefined, DIGEST],
  [`quay.io/a/b:1@${DIGEST}`, "quay.io", "a/b", undefined, DIGEST],
];

for (const [reference, registry, repository, tag, digest] of CASES) {
  Deno.test(`imageName() reads ${reference}`, () => {
    deepStrictEqual(imageName(reference), { registry, repository, tag, digest });
  });
}
