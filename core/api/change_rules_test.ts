import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";
import { changeFindings } from "./change_rules.ts";

const messages = (spec: JsonObject) => changeFindings(manifest(spec)).map(({ message }) => message);

// What the API server accepts although no pod can ever start with it, or the objects then do something else.
for (
  const [spec, part] of [
    [{ networking: { allowedFrom: { namespaces: ["a", "team-*"] } } }, 'not the name of a namespace: "team-*"'],
    [{ distribution: { image: "https://quay.io/foo/bar:1" } }, "not an image reference"],
    [{ distribution: { image: "a:1:2" } }, "not an image reference"],
    [{ externalProviders: { eval: [{ providerId: "p", image: " r/x:1" }] } }, "not an image reference"],
    [{ externalProviders: { inference: [{ providerId: "p", image: "a b;$(touch x)" }] } }, "not an image reference"],
    [{ networking: { allowedFrom: { labels: ["team=a"] } } }, 'not a label key: "team=a"'],
    [{ workload: { storage: { mountPath: "data/x" } } }, "not an absolute path"],
    ...["Foo.example.com", "1.2.3.4", "*", "::1", "a..b", "a_b.example.com", "a.example.com.", "*.*.example.com"]
      .map((
        hostname,
      ): [JsonObject, string] => [{ networking: { expose: { hostname } } }, `not a host name: "${hostname}"`]),
    [{ networking: { expose: { ingressClassName: "NG inx" } } }, 'not the name of an IngressClass: "NG inx"'],
    [{ networking: { expose: { annotations: { "a b": "c" } } } }, 'not the key of an annotation: "a b"'],
    [{ networking: { serviceAnnotations: { "a b": "c" } } }, 'not the key of an annotation: "a b"'],
  ] as ReadonlyArray<readonly [JsonObject, string]>
) {
  Deno.test(`changeFindings() rejects what would not work: ${part} in ${JSON.stringify(spec)}`, () => {
    const found = messages(spec);
    strictEqual(found.length, 1, found.join("\n"));
    ok(found[0]?.includes(part), found.join());
  });
}

Deno.test("changeFindings() names the item and the field of each mistake", () => {
  deepStrictEqual(
    changeFindings(manifest({ externalProviders: { eval: [{ image: "a" }, { image: "A" }, { image: "B" }] } }))
      .map(({ path }) => path.slice(3)),
    [[1, "image"], [2, "image"]],
  );
});

Deno.test("changeFindings() ignores values of other types, which the schema rejects", () => {
  for (const value of [null, 1, "x", true, [], [null], [[]], {}, { a: null }]) {
    for (
      const spec of [
        { workload: value, externalProviders: value, networking: value, distribution: value },
        { workload: { storage: value, autoscaling: value, podDisruptionBudget: value } },
        { networking: { allowedFrom: value, port: value }, externalProviders: { inference: value } },
      ]
    ) messages(spec);
  }
});

Deno.test("changeFindings() reports a bounded number of mistakes", () => {
  const namespaces = Array.from({ length: 500 }, (_, index) => `A${index}`);
  strictEqual(messages({ networking: { allowedFrom: { namespaces } } }).length, 32);
});
