import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { secret } from "../../tests/given.ts";
import { converged, edited, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { decodeResource } from "../api/decode.ts";
import { type JsonObject, put } from "../data/json.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import type { Contest } from "../snapshot/contest.ts";
import type { RollingUpgrade } from "../snapshot/rolling_upgrade.ts";
import { type Ask, type Facts, type Plan, plan, type Planned } from "./plan.ts";

const SPEC: JsonObject = {
  distribution: { name: "ogx-starter" },
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
};

/** What a cluster would answer. */
interface World {
  readonly live?: ReadonlyMap<string, JsonObject>;
  readonly scalers?: ReadonlyArray<string>;
  readonly contests?: ReadonlyArray<Contest>;
  /** Those that hold slots; whoever takes one is added. */
  readonly upgrades?: Array<RollingUpgrade>;
}

const factsOf = (seen: ClusterSnapshot, more: Partial<Facts> = {}): Facts => ({
  snapshot: seen,
  decoded: decodeResource(seen.resource, "lenient"),
  isFresh: false,
  pollsSecrets: false,
  ...more,
});

const answered = (
  facts: Facts,
  world: World = {},
): { readonly planned: Planned; readonly asked: ReadonlyArray<Ask> } => {
  const asked: Array<Ask> = [];
  let next: Plan = plan(facts);
  while (next._tag !== "Planned") {
    asked.push(next);
    next = answer(next, world);
  }
  return { planned: next, asked };
};

const answer = (ask: Ask, { live = new Map(), scalers = [], contests, upgrades = [] }: World): Plan => {
  switch (ask._tag) {
    case "Objects":
    case "Owners":
      return ask.resume(ask.question.map(({ kind, name }) => live.get(liveKey(kind, name))));
    case "Scalers":
      return ask.resume(scalers);
    case "Labels":
      return ask.resume({ kind: "unknown" });
    case "Slots": {
      const { value, slot } = ask.resume([...upgrades]);
      if (slot !== undefined) upgrades.push(slot);
      return value;
    }
    case "Contests":
      return ask.resume(contests);
  }
};

const tags = (asked: ReadonlyArray<Ask>): ReadonlyArray<string> => asked.map(({ _tag }) => _tag);

const objectsIn = (asked: ReadonlyArray<Ask>): ReadonlyArray<string> =>
  asked.flatMap((ask) => ask._tag === "Objects" ? ask.question.map(({ kind, name }) => liveKey(kind, name)) : []);

Deno.test("a plan for a new resource asks for its Deployment alone, since a write to any other name that is taken is rejected", () => {
  const { asked, planned } = answered(factsOf(snapshot(SPEC), { isFresh: true }));
  deepStrictEqual(objectsIn(asked), ["Deployment/my"]);
  deepStrictEqual(tags(asked), ["Objects", "Labels"]);
  strictEqual(planned.decision.kind, "rollout");
});

Deno.test("a plan asks for no object that is watched", () => {
  const { snapshot: settled } = converged(snapshot(SPEC));
  const { asked, planned } = answered(factsOf(settled));
  deepStrictEqual(tags(asked), ["Labels"]);
  deepStrictEqual(planned.decision.steps, []);
});

Deno.test("a plan for a failing resource asks for what its running server needs", () => {
  const { snapshot: settled } = converged(snapshot(SPEC));
  const failing = edited(settled, { ...SPEC, distribution: { name: "unknown" } });
  const live = new Map(settled.live);
  live.delete("Service/my-service");
  deepStrictEqual(objectsIn(answered(factsOf({ ...failing, live })).asked), ["Service/my-service"]);
});

Deno.test("a plan takes nothing for granted of Secrets that are not watched", () => {
  const spec = { ...SPEC, storage: { sql: { type: "postgres", connectionString: secret("pg", "url") } } };
  const secrets = secretsOf({ pg: { url: "postgresql://user:password@db:5432/llama" } });
  const { asked } = answered(factsOf(snapshot(spec, { secrets }), { isFresh: true, pollsSecrets: true }));
  ok(objectsIn(asked).some((name) => name.startsWith("Secret/")), objectsIn(asked).join());
});

Deno.test("a plan asks who sets the number of pods only where it is not for the operator to set", () => {
  const external = { ...SPEC, workload: { scaling: "External" } };
  const { planned, asked } = answered(factsOf(snapshot(external)), { scalers: ["one", "two"] });
  strictEqual(tags(asked).filter((tag) => tag === "Scalers").length, 1);
  deepStrictEqual(planned.snapshot.scalers, ["one", "two"]);
});

Deno.test("a plan asks who owns the fields that differ, and which of the repairs are in vain", () => {
  const { snapshot: settled } = converged(snapshot(SPEC));
  const key = "Service/my-service";
  const changed = put(settled.live.get(key) ?? {}, ["spec", "selector"], { app: "other" }) as JsonObject;
  const edits = {
    manager: "kubectl-edit",
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:selector": {} } },
  };
  const whole = put(changed, ["metadata", "managedFields"], [edits]) as JsonObject;
  const seen: ClusterSnapshot = { ...settled, live: new Map([...settled.live, [key, changed]]) };
  const { asked, planned } = answered(factsOf(seen), { live: new Map([[key, whole]]) });
  deepStrictEqual(tags(asked), ["Labels", "Owners", "Contests"]);
  deepStrictEqual(planned.decision.steps.map(({ _tag }) => _tag), ["Apply"]);
  const fields = asked.flatMap((ask) => ask._tag === "Contests" ? ask.question : []);
  ok(fields.length > 0);
  const { nowMs } = seen;
  const contests = fields.map((field) => ({
    ...field,
    heldUntilMs: nowMs + 1000,
    overAtMs: nowMs + 2000,
    isNew: true,
  }));
  deepStrictEqual(answered(factsOf(seen), { live: new Map([[key, whole]]), contests }).planned.decision.steps, []);
});

Deno.test("a plan asks for slots only if the decision takes one, last, and once, also where others changed an object", () => {
  const { snapshot: settled } = converged(snapshot(SPEC));
  const { operator } = settled;
  const overrides = { settings: new Map([["ogx-starter", "mirror.example/starter:1.5.0"]]), related: new Map() };
  const upgraded: ClusterSnapshot = {
    ...settled,
    operator: { ...operator, upgradeParallelism: 1, surroundings: { ...operator.surroundings, overrides } },
  };
  const key = "Service/my-service";
  const changed = put(settled.live.get(key) ?? {}, ["spec", "selector"], { app: "other" }) as JsonObject;
  for (
    const [live, questions] of [
      [new Map(), ["Labels", "Objects", "Slots"]],
      [new Map([[key, changed]]), ["Labels", "Objects", "Owners", "Slots", "Contests"]],
    ] as const
  ) {
    const seen: ClusterSnapshot = { ...upgraded, live: new Map([...settled.live, ...live]) };
    const upgrades: Array<RollingUpgrade> = [];
    const { asked, planned } = answered(factsOf(seen), { live, upgrades });
    deepStrictEqual(tags(asked), questions);
    deepStrictEqual(upgrades.map(({ key }) => key), ["default/my"]);
    ok(planned.decision.kind === "rollout" && planned.decision.rollout.kind === "apply");
    const other = { ...upgrades[0] as RollingUpgrade, key: "default/other" };
    const { planned: queued } = answered(factsOf(seen), { live, upgrades: [other] });
    ok(queued.decision.kind === "rollout" && queued.decision.rollout.kind === "queue");
  }
});
