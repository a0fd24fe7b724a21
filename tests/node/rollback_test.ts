import { match, notStrictEqual, strictEqual } from "node:assert/strict";
import { stringAt } from "../../core/data/json.ts";
import { assertState, storeState, withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace } from "./place.ts";
import {
  condition,
  podName,
  podsOf,
  resourceWhen,
  served,
  UNSTARTABLE,
  whenReady,
  whenServiceLeads,
  withEnv,
} from "./served.ts";

Deno.test("a server on a claim whose edit cannot start gets its last good pods back, with its data and the reason", () =>
  inPlace("rollback", async (place) => {
    await using _vllm = await startModelService(place);
    const spec = withModels(
      { distribution: { name: "starter" }, workload: { storage: { size: "1Gi" } } },
      MODELS_ENDPOINT,
    );
    await place.resource("undone", spec);
    await whenReady(place, "undone");
    strictEqual(stringAt(await place.read("Deployment", "undone"), "spec", "strategy", "type"), "Recreate");
    const state = await storeState(served(place, "undone"));
    const [first] = (await podsOf(place, "undone")).map(podName);
    // The port of the edit is one of pods that never serve.
    await place.resource("undone", { ...withEnv(spec, ...UNSTARTABLE), networking: { port: 8400 } });
    const undone = await resourceWhen(
      place,
      "undone",
      "rolled back and available",
      (object) =>
        stringAt(condition(object, "DeploymentUpdated"), "reason") === "RolledBack" &&
        stringAt(condition(object, "Available"), "status") === "True",
    );
    match(
      stringAt(condition(undone, "DeploymentUpdated"), "message") ?? "",
      /it may not write a file or folder that the log names/,
    );
    notStrictEqual((await podsOf(place, "undone")).map(podName)[0], first);
    await whenServiceLeads(place, "undone");
    await assertState(served(place, "undone"), state);
    // An edit that can start ends it.
    await place.resource("undone", withEnv(spec, "EDITED", "yes"));
    await whenReady(place, "undone");
    await assertState(served(place, "undone"), state);
  }));
