import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { after, converged, edited, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, put } from "../data/json.ts";
import * as Redacted from "effect/Redacted";
import { secret } from "../../tests/given.ts";
import { manifestDigest } from "../resources/objects.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import type { Contest, LastApplied } from "../snapshot/contest.ts";
import { appliedIn, contestText, repairsIn } from "./contest.ts";

const SPEC: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const { snapshot: SETTLED } = converged(snapshot(SPEC));
/** What a reconciliation of this applies. */
const appliedBy = (seen: ClusterSnapshot): LastApplied =>
  new Map(
    planOf(seen).steps.flatMap((step) =>
      step._tag === "Apply"
        ? [[`${step.manifest.kind}/${step.manifest.metadata.name}`, manifestDigest(step.manifest) ?? ""] as const]
        : []
    ),
  );

const withLive = (key: string, object: JsonObject | undefined): ClusterSnapshot => {
  const live = new Map(SETTLED.live);
  if (object === undefined) live.delete(key);
  else live.set(key, object);
  const seen = { ...SETTLED, live };
  return { ...seen, lastApplied: appliedBy(seen) };
};
const bare = (key: string): ClusterSnapshot =>
  withLive(key, put(SETTLED.live.get(key) ?? {}, ["metadata", "annotations"], undefined));

const applied = (seen: ClusterSnapshot): ReadonlyArray<string> => [...appliedBy(seen).keys()];
const repairs = (seen: ClusterSnapshot) => repairsIn(planOf(seen).steps.filter((step) => step._tag === "Apply"), seen);

const held = (key: string): Contest => ({
  object: key.replace("/", " "),
  field: "",
  manager: "",
  heldUntilMs: SETTLED.nowMs + 10_000,
  overAtMs: SETTLED.nowMs + 20_000,
  isNew: true,
});

for (
  const [what, key, seen] of [
    ["a Deployment without any annotation", "Deployment/my", bare("Deployment/my")],
    ["a Service without any annotation", "Service/my-service", bare("Service/my-service")],
    ["a Service that was deleted", "Service/my-service", withLive("Service/my-service", undefined)],
    ["a ServiceAccount that was deleted", "ServiceAccount/my-sa", withLive("ServiceAccount/my-sa", undefined)],
  ] as const
) {
  Deno.test(`${what} counts as overwritten if it was applied like this last, and waits while that is in vain`, () => {
    deepStrictEqual(applied(seen), [key]);
    deepStrictEqual(repairs(seen), [{ object: key.replace("/", " "), field: "", manager: "" }]);
    deepStrictEqual(repairs({ ...seen, lastApplied: new Map() }), []);
    const waits = { ...seen, contests: [held(key)] };
    deepStrictEqual(applied(waits), []);
    strictEqual(planOf(waits).lookAgainMs, 10_000);
  });
}

Deno.test("an edit is applied at once, also to an object that waits", () => {
  const seen = { ...bare("Deployment/my"), contests: [held("Deployment/my")] };
  const models: JsonObject = { ...SPEC, resources: { models: [{ name: "m" }] } };
  strictEqual(applied(edited(seen, models)).includes("Deployment/my"), true);
});

Deno.test("objects that running servers need wait as well while the resource has errors", () => {
  const key = "ServiceAccount/my-sa";
  const seen = edited(withLive(key, undefined), { ...SPEC, distribution: { name: "unknown" } });
  deepStrictEqual(applied(seen), [key]);
  deepStrictEqual(applied({ ...seen, contests: [held(key)] }), []);
});

Deno.test("only what the API server answered to counts as applied", () => {
  const seen = withLive("Service/my-service", undefined);
  const steps = planOf(seen).steps.filter((step) => step._tag === "Apply");
  const key = "Service/my-service";
  deepStrictEqual([...appliedIn(steps, seen, SETTLED.live)], [[key, manifestDigest(SETTLED.live.get(key) ?? {})]]);
  deepStrictEqual([...appliedIn(steps, seen, seen.live)], []);
});

Deno.test("a pod template that an operator with another key replaces again and again waits, and one that is new does not", () => {
  const secrets = secretsOf({ key: { value: "v" } });
  const withKey: JsonObject = {
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", apiKey: secret("key", "value") }] },
  };
  const { snapshot: mine } = converged(snapshot(withKey, { secrets, rollingUpgrades: [] }));
  const other = { ...mine.operator, hmacKey: Redacted.make("another key") };
  const before = theirs(mine, other);
  const steps = planOf(before).steps.filter((step) => step._tag === "Apply");
  const replaced = {
    ...before,
    nowMs: before.nowMs + 5000,
    lastApplied: appliedIn(steps, before, after(before, planOf(before)).live),
  };
  const { lastApplied } = replaced;
  const field = { object: "Deployment my", field: "", manager: "" };
  deepStrictEqual(repairs(replaced), [field]);
  deepStrictEqual(applied({ ...replaced, contests: [held("Deployment/my")] }), []);
  deepStrictEqual(repairs({ ...mine, lastApplied }), []);
  const models: JsonObject = { ...withKey, resources: { models: [{ name: "m" }] } };
  deepStrictEqual(repairs(edited(replaced, models)), []);
});

/** What an operator with another key makes of it. */
const theirs = (seen: ClusterSnapshot, operator: ClusterSnapshot["operator"]): ClusterSnapshot => ({
  ...converged({ ...seen, operator }).snapshot,
  operator: seen.operator,
});

Deno.test("a person reads what happens to the object", () => {
  strictEqual(
    contestText(held("Service/my-service")),
    "Service my-service (deleted, its annotations are removed, or a second operator writes it)",
  );
});
