import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as failure from "../failure/failures.ts";
import type { ReconcileFailure } from "../plan/reconcile_failure.ts";
import { FAILURES, isRetried, reasonOf, rowOf } from "./failure_table.ts";
import { UpgradeConfigFailure } from "../plan/upgrade_config_failure.ts";

const path = ["spec", "x"];
const item = {
  path,
  detail: "what is wrong",
  name: "n",
  id: "i",
  variable: "VLLM_URL",
  product: "OGX",
  others: ["a"],
  image: "img",
  since: "2026-06",
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
  running: "Llama Stack 0.7.1",
  ours: "Llama Stack 0.2.14",
  max: 1,
  reason: "ProviderApiMismatch",
  setBy: ["spec.workload.overrides.env[0].name"],
} as const;

/** The text that is made from `item`. */
const sampled = (text: () => string): string => {
  let made: string | undefined;
  let cause: unknown;
  try {
    made = text();
  } catch (error) {
    cause = error;
  }
  if (made !== undefined && made.length > 10 && !made.includes("undefined")) return made;
  throw new Error(`its text is ${made}; add samples of the properties that it reads to item in this file`, { cause });
};

const RETRIED = ["DeletionRefused", "ObjectRefused", "OwnershipConflict", "DeletionPending", "WriteFailed"];

for (const [name, Failure] of Object.entries(failure)) {
  Deno.test(`${name} has a message, a reason and a row`, () => {
    const made = new (Failure as new (fields: typeof item) => ReconcileFailure)(item);
    strictEqual(made._tag, name);
    sampled(() => made.message);
    strictEqual(isRetried(made), RETRIED.includes(name));
    ok(/^[A-Z][A-Za-z]+$/.test(reasonOf(made)));
    sampled(() => rowOf(made).advice(made, { metadata: { name: "n", namespace: "ns" } }).action);
  });
}

Deno.test("FAILURES has a row for every class, and for none that does not exist", () => {
  deepStrictEqual(Object.keys(FAILURES).sort(), [...Object.keys(failure), "UpgradeConfigFailure"].sort());
});

Deno.test("UpgradeConfigFailure names both versions of the operator, and every cause", () => {
  const causes = [
    new failure.UnknownProvider({ path, id: "a", known: [] }),
    new failure.ModelConflict({ path, id: "b" }),
  ] as const;
  const { message } = new UpgradeConfigFailure({
    from: "1.0.0",
    to: "1.1.0",
    causes,
  });
  ok(
    message.startsWith(
      "Operator 1.1.0 cannot generate the config of this resource, which operator 1.0.0 could generate: ",
    ),
  );
  ok(causes.every((cause) => message.includes(cause.message)));
});
