import { ok, strictEqual } from "node:assert/strict";
import { converged, edited, world } from "../../tests/worlds.ts";
import { type JsonObject, listAt, put, stringAt } from "../json.ts";
import { decide } from "./decide.ts";
import { ACCEPT_LINE_CHANGE_ANNOTATION } from "./stored_data.ts";
import type { World } from "./world.ts";

const PROVIDERS = { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] };
const CLAIM = { replicas: 1, storage: { size: "1Gi" } };
const stored = (more: JsonObject = {}): JsonObject => ({ providers: PROVIDERS, workload: CLAIM, ...more });
const models = (...list: ReadonlyArray<JsonObject>): JsonObject => stored({ resources: { models: list } });
const E = { name: "e", modelType: "embedding", embeddingDimension: 384 };

const told = (one: World, type: string): string => {
  const found = listAt(converged(one).world.resource.status, "conditions").find((each) =>
    stringAt(each, "type") === type
  );
  return `${stringAt(found, "status")} ${stringAt(found, "reason")} ${stringAt(found, "message")}`;
};
const running = (one: World): string => JSON.stringify([...one.live]);

Deno.test("R25 R42 decide() holds a move to another line on stored data until it is accepted, and says what would be lost", () => {
  const { world: before } = converged(world(stored()));
  const moved = edited(before, stored({ distribution: { name: "ogx-starter" } }));
  const said = told(moved, "ConfigGenerated");
  ok(said.startsWith("False LineChangeLosesData spec.distribution: the move from Llama Stack 0.7 to OGX"), said);
  ok(said.includes("the prompts; the vector stores") && said.includes(`${ACCEPT_LINE_CHANGE_ANNOTATION}: "1.2"`), said);
  strictEqual(running(converged(moved).world), running(before));
  const accepted = {
    ...moved,
    resource: put(moved.resource, ["metadata", "annotations", ACCEPT_LINE_CHANGE_ANNOTATION], "1.2"),
  };
  ok(told(accepted, "Ready").startsWith("True"));
  const wrong = {
    ...moved,
    resource: put(moved.resource, ["metadata", "annotations", ACCEPT_LINE_CHANGE_ANNOTATION], "0.7"),
  };
  ok(told(wrong, "ConfigGenerated").includes("LineChangeLosesData"));
});

Deno.test("R25 R28 decide() knows what a server of before 0.3 has stored, and what it registered", () => {
  const old = (more: JsonObject = {}) => stored({ distribution: { name: "remote-vllm" }, ...more });
  const { world: before } = converged(world(old({ resources: { models: [{ name: "m" }] } })));
  const newer = told(edited(before, stored({ distribution: { name: "starter" } })), "ConfigGenerated");
  ok(newer.includes("LineChangeLosesData") && newer.includes("before 0.3"), newer);
  const changed = old({ resources: { models: [{ name: "m", modelType: "embedding", embeddingDimension: 384 }] } });
  ok(told(edited(before, changed), "ConfigGenerated").includes("RegistryConflict"));
});

Deno.test("R25 decide() lets a move through where nothing is stored or nothing ever ran, and holds each step down", () => {
  const bare = { providers: PROVIDERS };
  const { world: before } = converged(world(bare));
  ok(told(edited(before, { ...bare, distribution: { name: "ogx-starter" } }), "Ready").startsWith("True"));
  const { world: ogx } = converged(world(stored({ distribution: { name: "ogx-starter" } })));
  ok(told(edited(ogx, stored()), "ConfigGenerated").includes("LineChangeLosesData"));
  const { world: fresh } = converged(world(stored()));
  const live = new Map(fresh.live);
  const deployment = live.get("Deployment/my") ?? {};
  live.set("Deployment/my", { ...deployment, status: { observedGeneration: 1, availableReplicas: 0 } });
  const moved = edited({ ...fresh, live }, stored({ distribution: { name: "ogx-starter" } }));
  ok(decide(moved).steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment"));
});

for (
  const [what, changed, words] of [
    ["another dimension", models({ name: "a" }, { ...E, embeddingDimension: 768 }), "embeddingDimension"],
    ["another type", models({ ...E, name: "a" }, E), "modelType and embeddingDimension"],
  ] as const
) {
  Deno.test(`R28 decide() waits when a stored model gets ${what}, and names the way out`, () => {
    const { world: before } = converged(world(models({ name: "a" }, E)));
    const after = edited(before, changed);
    const said = told(after, "ConfigGenerated");
    ok(said.startsWith("False RegistryConflict") && said.includes(words) && said.includes("under another id"), said);
    strictEqual(running(converged(after).world), running(before));
  });
}

Deno.test("R28 decide() compares models by the name that the line stores them under", () => {
  const changed = (distribution: string) => {
    const of = (providerModelId: string) => ({
      ...models({ name: "a", providerModelId }),
      distribution: { name: distribution },
    });
    return told(edited(converged(world(of("x"))).world, of("y")), "ConfigGenerated");
  };
  ok(changed("starter").startsWith("True"));
  ok(changed("ogx-starter").includes("RegistryConflict"), changed("ogx-starter"));
});

Deno.test("R28 decide() warns that a removed model stays listed, and leaves a server without stored data alone", () => {
  const { world: before } = converged(world(models({ name: "a" }, E)));
  const notes = decide(edited(before, models(E))).steps.flatMap((step) =>
    step._tag === "Announce" && step.note.reason === "StoredData" ? [step.note.note] : []
  );
  ok(notes[0]?.includes('goes on listing "vllm/a"'), notes.join());
  const free = { providers: PROVIDERS, resources: { models: [E] } };
  const { world: loose } = converged(world(free));
  ok(
    told(edited(loose, { ...free, resources: { models: [{ ...E, embeddingDimension: 768 }] } }), "Ready").startsWith(
      "True",
    ),
  );
});
