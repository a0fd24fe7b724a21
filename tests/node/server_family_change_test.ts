import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { ACCEPT_FAMILY_CHANGE_ANNOTATION } from "../../core/plan/stored_data/stored_data.ts";
import { KIND_NAMES, kindsThere, LOST_AS, storeKinds } from "../server/stored_kinds.ts";
import { withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { condition, podName, podsOf, resourceWhen, served, whenReady, whenReplaced } from "./served.ts";

const resource = (distribution: string): JsonObject =>
  withModels({
    distribution: { name: distribution },
    storage: { kv: { type: "sqlite" }, sql: { type: "sqlite" } },
    workload: { storage: { size: "1Gi" } },
  }, MODELS_ENDPOINT);

Deno.test("a change from Llama Stack 0.7 to OGX waits while the data is served, and loses only what was listed when accepted", () =>
  inPlace("line-move", async (place) => {
    await using _vllm = await startModelService(place);
    await place.resource("moved", resource("starter"));
    await whenReady(place, "moved");
    const stack = served(place, "moved");
    const stored = await storeKinds(stack, KIND_NAMES);
    const pods = (await podsOf(place, "moved")).map(podName);
    const image = await imageOf(place);

    await place.resource("moved", resource("ogx-starter"));
    const held = await resourceWhen(
      place,
      "moved",
      "held",
      (object) => stringAt(condition(object, "ConfigGenerated"), "reason") === "ServerFamilyChangeLosesData",
    );
    const said = stringAt(condition(held, "ConfigGenerated"), "message") ?? "";
    ok(said.includes(`${ACCEPT_FAMILY_CHANGE_ANNOTATION}: "1.2"`), said);
    deepStrictEqual(await kindsThere(stack, stored), KIND_NAMES);
    deepStrictEqual((await podsOf(place, "moved")).map(podName), pods);
    strictEqual(await imageOf(place), image);

    await place.resource("moved", resource("ogx-starter"), { [ACCEPT_FAMILY_CHANGE_ANNOTATION]: "1.2" });
    await whenReplaced(place, "moved", pods);
    await whenReady(place, "moved");
    const version = (object: JsonObject) => stringAt(object, "status", "version", "llamaStackServerVersion");
    await resourceWhen(place, "moved", "asked", (object) => version(object) === "1.5.0");
    const kept = await kindsThere(served(place, "moved", { server: "ogx 1.5.0" }), stored);
    deepStrictEqual(kept, ["chat completion", "conversation", "file", "response"]);
    // Both ways: the message lists every loss, and nothing that is still there.
    for (const kind of KIND_NAMES) strictEqual(said.includes(LOST_AS[kind]), !kept.includes(kind), `${kind}: ${said}`);
  }));

const imageOf = async (place: Place): Promise<string> => {
  const [container] = listAt(await place.read("Deployment", "moved"), "spec", "template", "spec", "containers");
  return stringAt(container, "image") ?? "";
};
