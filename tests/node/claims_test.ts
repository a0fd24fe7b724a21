import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { KIND } from "../../core/api/v1alpha2.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { assertState, storeState, withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { resourceWhen, restart, served, whenReady, word } from "./served.ts";
import { eventually } from "../waiting.ts";

const resource = (storage: JsonObject, distribution = "starter"): JsonObject =>
  withModels({
    distribution: { name: distribution },
    storage,
    workload: { storage: { size: "1Gi" } },
  }, MODELS_ENDPOINT);

Deno.test("deletion removes everything but the claim, and a new resource of that name finds its data", () =>
  inPlace("deletion", async (place) => {
    await using _vllm = await startModelService(place);
    const spec = resource({ kv: { type: "sqlite" }, sql: { type: "sqlite" } });
    await place.resource("again", spec);
    await whenReady(place, "again");
    const state = await storeState(served(place, "again"));
    const claim = stringAt(await place.read("PersistentVolumeClaim", "again-pvc"), "metadata", "uid");
    await place.remove(KIND, "again");
    let left = "";
    const isGone = async () => (left = await ofResource(place)) === "" ? true : undefined;
    await eventually("everything of the resource is gone", isGone).catch(() => strictEqual(left, ""));
    strictEqual(stringAt(await place.read("PersistentVolumeClaim", "again-pvc"), "metadata", "uid"), claim);
    await place.resource("again", spec);
    await whenReady(place, "again");
    await assertState(served(place, "again"), state);
    strictEqual(stringAt(await place.read("PersistentVolumeClaim", "again-pvc"), "metadata", "uid"), claim);
  }));

/** Objects that carry the resource's name, the claim aside. */
const ofResource = async (place: Place): Promise<string> => {
  const kinds = ["Deployment", "Pod", "Service", "ConfigMap", "Secret", "ServiceAccount"] as const;
  const lists = await Promise.all(kinds.map((kind) => place.list(kind)));
  return lists.flat().map((object) => stringAt(object, "metadata", "name") ?? "").filter((name) =>
    name.startsWith("again")
  )
    .join();
};

Deno.test("the data of OGX 1.5 survives its pod", () =>
  inPlace("ogx", async (place) => {
    await using _vllm = await startModelService(place);
    await place.resource("kept", resource({}, "ogx-starter"));
    await whenReady(place, "kept");
    const stack = served(place, "kept", { server: "ogx 1.5.0" });
    const state = await storeState(stack);
    await restart(place, "kept");
    await assertState(stack, state);
    const told = await resourceWhen(place, "kept", "asked", (object) => word(object, "HealthCheck") === "True");
    deepStrictEqual(stringAt(told, "status", "version", "llamaStackServerVersion"), "1.5.0");
  }));
