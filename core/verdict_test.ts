import { ok, strictEqual } from "node:assert/strict";
import * as failure from "./failure.ts";
import type { ReconcileFailure } from "./reconcile_failure.ts";
import { verdictOn } from "./verdict.ts";

const path = ["spec", "x"];
const one = {
  path,
  detail: "what is wrong",
  name: "n",
  id: "i",
  image: "img",
  version: "1",
  origin: "o",
  type: "t",
  api: "a",
  server: "s",
  what: "w",
  instead: "use y",
  key: "k",
  distribution: "d",
  pinned: "p",
  bytes: 2,
  bytesMax: 1,
  resource: "models",
  field: "inference",
  available: ["a"],
  causes: ["c"],
  supported: ["s"],
  contradictions: ["c"],
  offered: ["o"],
  known: ["k"],
  paths: ["p", "q"],
  missing: ["m"],
  namespace: "ns",
  kind: "Service",
  owner: "Deployment x",
  blocks: true,
  from: "f",
  to: "t",
  losses: ["l"],
  accept: "a: b",
  changed: ["c"],
  way: "w",
  count: 2,
  setting: "allow.x",
  max: 1,
} as const;

for (const [name, Failure] of Object.entries(failure)) {
  Deno.test(`FR-076 NFR-004 ${name} has a sentence, a reason and a verdict`, () => {
    const made = new (Failure as new (fields: typeof one) => ReconcileFailure)(one);
    strictEqual(made._tag, name);
    ok(made.message.length > 10 && !made.message.includes("undefined"), made.message);
    const verdict = verdictOn(made);
    const retried = ["ObjectRefused", "OwnershipConflict", "DeletionPending", "WriteFailed"];
    strictEqual(verdict._tag, retried.includes(name) ? "BackOff" : "WaitForEdit");
    ok(/^[A-Z][A-Za-z]+$/.test(verdict.reason));
  });
}
