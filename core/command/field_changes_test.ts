import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { FIELD_MANAGER } from "../snapshot/field_manager.ts";
import { fieldChanges } from "./field_changes.ts";

const paths = (wanted: JsonObject, live: JsonObject) =>
  fieldChanges(wanted, live).map(({ path, before, after }) => [path, before, after]);

Deno.test("fieldChanges() names the members of maps and the items of lists", () => {
  const live = {
    metadata: { annotations: { "a/b": "1" } },
    spec: { replicas: 1, containers: [{ name: "other", image: "x" }, { name: "server", image: "old" }] },
  };
  const wanted = {
    metadata: { annotations: { "a/b": "2" } },
    spec: { replicas: 2, containers: [{ name: "server", image: "new", tty: true }] },
  };
  deepStrictEqual(paths(wanted, live), [
    ['metadata.annotations["a/b"]', "1", "2"],
    ["spec.replicas", 1, 2],
    ["spec.containers[server].image", "old", "new"],
    ["spec.containers[server].tty", undefined, true],
  ]);
});

Deno.test("fieldChanges() leaves alone what only the live object has, and other spellings of a quantity", () => {
  const live = { spec: { requests: { cpu: "500m" }, dnsPolicy: "ClusterFirst" }, status: { phase: "Bound" } };
  deepStrictEqual(paths({ spec: { requests: { cpu: "0.5" } } }, live), []);
});

Deno.test("fieldChanges() shows a list of plain values as one", () => {
  deepStrictEqual(paths({ args: ["a", "b"] }, { args: ["a"] }), [["args", ["a"], ["a", "b"]]]);
});

Deno.test("fieldChanges() reports removed fields of the operator, never those of others", () => {
  const fields = {
    "f:spec": {
      "f:paused": {},
      "f:containers": {
        'k:{"name":"server"}': { ".": {}, "f:name": {}, "f:tty": {} },
        'k:{"name":"side"}': { ".": {} },
      },
      "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
    },
  };
  const live = {
    metadata: {
      managedFields: [
        { manager: FIELD_MANAGER, operation: "Apply", fieldsV1: fields },
        { manager: "them", operation: "Apply", fieldsV1: { "f:spec": { "f:theirs": {} } } },
      ],
    },
    spec: {
      paused: true,
      theirs: 1,
      containers: [{ name: "server", tty: true }, { name: "side" }],
      ports: [{ port: 80, protocol: "TCP" }],
    },
  };
  const wanted = { spec: { containers: [{ name: "server" }], ports: [{ port: 80 }] } };
  deepStrictEqual(paths(wanted, live), [
    ["spec.paused", true, undefined],
    ["spec.containers[server].tty", true, undefined],
    ["spec.containers[side]", { name: "side" }, undefined],
  ]);
});
