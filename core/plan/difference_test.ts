import { strictEqual } from "node:assert/strict";
import type { Json } from "../data/json.ts";
import { matchesDesired } from "./difference.ts";

const PEER = { podSelector: {} };

for (
  const [name, wanted, live, want] of [
    ["ignores what the API server adds", { a: 1 }, { a: 1, b: 2 }, true],
    ["sees a changed field", { a: 1 }, { a: 2 }, false],
    ["sees a missing field", { a: { b: 1 } }, {}, false],
    ["takes an empty map for an absent one", { annotations: {} }, {}, true],
    ["takes an empty list for an absent one", { args: [] }, {}, true],
    ["compares plain lists item by item", ["a", "b"], ["a", "b", "c"], false],
    ["finds named items in any order", [{ name: "a", v: 1 }], [{ name: "b" }, { name: "a", v: 1, w: 2 }], true],
    ["sees a changed named item", [{ name: "a", v: 1 }], [{ name: "a", v: 2 }], false],
    ["knows that 0.5 is 500m", { limits: { cpu: "0.5" } }, { limits: { cpu: "500m" } }, true],
    ["knows that 1024Mi is 1Gi", { sizeLimit: "1024Mi" }, { sizeLimit: "1Gi" }, true],
    ["knows that 2 is no 2Gi", { requests: { memory: "2" } }, { requests: { memory: "2Gi" } }, false],
    ["tells texts of digits apart", { value: "10000000001" }, { value: "10000000002" }, false],
    ["tells texts apart that would be one quantity", { value: "1k" }, { value: "1000" }, false],
    ["tells a number from a text of letters", { a: 1 }, { a: "x" }, false],
    ["tells null from absent", { a: null }, {}, false],
    ...([
      ["a rule", { ingress: [{ from: [] }] }, { ingress: [{}, {}] }],
      ["a peer", { ingress: [{ from: [PEER] }] }, { ingress: [{ from: [PEER, PEER] }] }],
      ["what widens a peer", { ingress: [{ from: [PEER] }] }, {
        ingress: [{ from: [{ ...PEER, namespaceSelector: {} }] }],
      }],
      ["a range of ports", { egress: [{ ports: [{ port: 1 }] }] }, { egress: [{ ports: [{ port: 1, endPort: 9 }] }] }],
      ["a label that selects no pod", { podSelector: { matchLabels: { a: "b" } } }, {
        podSelector: { matchLabels: { a: "b", c: "d" } },
      }],
      ["a Gateway", { parentRefs: [{ name: "a" }] }, { parentRefs: [{ name: "a" }, { name: "b" }] }],
      ["a copy of each request", { rules: [{ backendRefs: [{ name: "a" }] }] }, {
        rules: [{ backendRefs: [{ name: "a" }], filters: [{ type: "RequestMirror" }] }],
      }],
    ] as const).map(([what, wanted, live]) => [`sees ${what} in what is applied as a whole`, wanted, live, false]),
    ["takes empty lists for absent ones in a rule", { ingress: [{ from: [], ports: [] }] }, { ingress: [{}] }, true],
    ["leaves other groups of rules to their owners", { groups: [{ name: "a" }] }, {
      groups: [{ name: "b" }, { name: "a" }],
    }, true],
  ] as ReadonlyArray<readonly [string, Json, Json, boolean]>
) {
  Deno.test(`matchesDesired() ${name}`, () => strictEqual(matchesDesired(wanted, live), want));
}
