import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { allFields, onlyField, ownsWithin, withoutField } from "./field_set.ts";

const PORT = 'k:{"containerPort":8321,"protocol":"TCP"}';
const FIELDS = {
  "f:spec": { "f:replicas": {}, "f:ports": { [PORT]: { ".": {}, "f:name": {} } }, "f:selector": {} },
};

Deno.test("ownsWithin() finds members, items by their keys, and what is part of a field that is owned as a whole", () => {
  strictEqual(ownsWithin(FIELDS, ["spec", "replicas"]), true);
  strictEqual(ownsWithin(FIELDS, ["spec", "paused"]), false);
  strictEqual(ownsWithin(FIELDS, ["spec", "selector", "matchLabels"]), true);
  strictEqual(ownsWithin(FIELDS, ["spec", "ports", { containerPort: 8321, protocol: "TCP" }, "name"]), true);
  strictEqual(ownsWithin(FIELDS, ["spec", "ports", { containerPort: 8321, protocol: "UDP" }, "name"]), false);
  strictEqual(ownsWithin(FIELDS, []), false);
});

Deno.test("ownsWithin() takes a key that an item leaves out for the API server's default", () => {
  strictEqual(ownsWithin(FIELDS, ["spec", "ports", { containerPort: 8321, name: "http" }]), true);
  strictEqual(ownsWithin(FIELDS, ["spec", "ports", { containerPort: 8322 }]), false);
});

Deno.test("withoutField() returns what is left and what was taken, which are all fields together", () => {
  const steps = ["spec", "ports", { containerPort: 8321, protocol: "TCP" }, "name"];
  const [left, taken] = withoutField(FIELDS, steps);
  strictEqual(ownsWithin(left, steps.slice(0, -1)), true);
  strictEqual(ownsWithin(left, steps), false);
  deepStrictEqual(taken, onlyField(steps));
  deepStrictEqual(allFields(left, taken), FIELDS);
});

Deno.test("withoutField() leaves no empty parents, and returns a set as it is that lacks the field", () => {
  deepStrictEqual(withoutField({ "f:spec": { "f:replicas": {} } }, ["spec", "replicas"])[0], {});
  deepStrictEqual(withoutField(FIELDS, ["spec", "paused"]), [FIELDS, {}]);
});
