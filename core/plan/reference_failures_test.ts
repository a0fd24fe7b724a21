import { deepStrictEqual, match, ok } from "node:assert/strict";
import { listAt, put, stringAt } from "../data/json.ts";
import { after, planOf, snapshot } from "../../tests/snapshots.ts";

const env = (...keys: ReadonlyArray<string>) => ({
  workload: {
    overrides: { env: keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: "absent", key } } })) },
  },
});

Deno.test("a missing Secret that five fields reference is reported once, with the number of the others", () => {
  const before = snapshot(env("A", "B", "C", "D", "E"));
  const plan = planOf(before);
  deepStrictEqual(plan.failures.map(({ message }) => message), [
    'Secret "absent" not found in namespace "default"; referenced by spec.workload.overrides.env[0] and 4 other fields',
  ]);
  const notes = plan.steps.flatMap((step) => step._tag === "Announce" ? [step.note.note] : []);
  deepStrictEqual(notes.filter((note) => note.includes("absent")).length, 1);
});

Deno.test("status and Events have the paths of v1alpha1 for an author of v1alpha1", () => {
  const start = snapshot(env("A"));
  const written = [{ apiVersion: "llamastack.io/v1alpha1", manager: "kubectl", fieldsV1: { "f:spec": {} } }];
  const before = {
    ...start,
    resource: { ...start.resource, ...(put(start.resource, ["metadata", "managedFields"], written) as object) },
  };
  const plan = planOf(before);
  const texts = [
    ...plan.steps.flatMap((step) => step._tag === "Announce" ? [step.note.note] : []),
    ...listAt(after(before, plan).resource, "status", "conditions").map((item) => stringAt(item, "message") ?? ""),
  ].filter((text) => text.includes("absent"));
  ok(texts.length > 1);
  for (const text of texts) match(text, /referenced by spec\.server\.containerSpec\.env\[0\]/);
  // Said once: the next reconciliation knows it.
  const next = planOf(after(before, plan));
  deepStrictEqual(next.steps.filter(({ _tag }) => _tag === "Announce"), []);
});
