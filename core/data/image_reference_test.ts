import { deepStrictEqual } from "node:assert/strict";
import { imageName, isImageReference } from "./image_reference.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;

Deno.test("isImageReference() accepts the forms that container runtimes read", () => {
  const valid = [
    "ubuntu",
    "quay.io/team/server:1.0",
    "localhost/a",
    "localhost:5000/a/b:c",
    "Registry.example:5000/a",
    "REGISTRY/a",
    "[::1]:5000/a:b",
    "docker.io/llamastack/distribution-starter:0.7.3",
    `quay.io/a/b@${DIGEST}`,
    `quay.io/a/b:1.0-rc_1@${DIGEST}`,
    "a/b__c/d.e/f--g:V1",
  ];
  deepStrictEqual(valid.filter((text) => !isImageReference(text)), []);
});

Deno.test("isImageReference() rejects what no container runtime can pull", () => {
  const wrong = [
    "",
    "https://quay.io/foo/bar:1",
    "quay.io/Foo/Bar:1",
    "Foo:1",
    "docker.io/foo:bar baz",
    "a:1:2",
    "x@sha256:abc",
    "${IMAGE}",
    " quay.io/foo/bar",
    "quay.io/foo/bar ",
    "quay.io//bar",
    "quay.io/foo/",
    "quay.io/foo:",
    "a/b:-1",
    "a_.b",
    "0".repeat(64),
    `a@${DIGEST}0`,
    "-a.example/b",
  ];
  deepStrictEqual(wrong.filter(isImageReference), []);
});

Deno.test("isImageReference() takes no longer for hostile texts", () => {
  for (const text of ["a".repeat(511), "a-".repeat(255), "a/".repeat(255), "a.".repeat(255), "_".repeat(511)]) {
    isImageReference(`${text}!`);
  }
});

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
