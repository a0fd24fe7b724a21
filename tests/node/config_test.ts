import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { generated } from "../given.ts";
import { listedProviders } from "../server/asked.ts";
import { withModels } from "../server/stored_state.ts";
import { CHAT, MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace } from "./place.ts";
import { condition, podName, podsOf, served, whenReady, whenReplaced } from "./served.ts";

Deno.test("overrideConfig runs the author's file, and an edit of it rolls the pod", () =>
  inPlace("override", async (place) => {
    await using _vllm = await startModelService(place);
    // Written for Llama Stack 0.7, as the image of the name is here.
    const file = (id: string) => {
      const inference = [{ id, provider: "vllm", endpoint: MODELS_ENDPOINT }];
      return place.apply("ConfigMap", "own", {
        data: { "config.yaml": generated({ providers: { inference } }).config.yaml },
      });
    };
    await file("first");
    await place.resource("own", { distribution: { name: "starter" }, overrideConfig: { configMapName: "own" } });
    const resource = await whenReady(place, "own");
    strictEqual(condition(resource, "ConfigGenerated")?.reason, "OverrideConfigUsed");
    const chat = (id: string) =>
      served(place, "own").post("/v1/chat/completions", { ...CHAT, model: `${id}/test-model` });
    strictEqual((await chat("first")).body.choices?.[0].message.content, "You said: hello");
    const old = (await podsOf(place, "own")).map(podName);
    await file("second");
    await whenReplaced(place, "own", old);
    await whenReady(place, "own");
    strictEqual((await chat("second")).status, 200);
    strictEqual((await chat("first")).status, 404);
  }));

Deno.test("disabled APIs are gone from the server, the others answer", () =>
  inPlace("disabled", async (place) => {
    await using _vllm = await startModelService(place);
    const disabled = ["vector_io", "files"];
    await place.resource("less", { ...withModels({ distribution: { name: "starter" } }, MODELS_ENDPOINT), disabled });
    await whenReady(place, "less");
    const stack = served(place, "less");
    const provided = (await listedProviders(stack)).map(({ api }) => api);
    deepStrictEqual(disabled.filter((api) => provided.includes(api)), []);
    for (const path of ["/v1/vector_stores", "/v1/files"]) strictEqual((await stack.get(path)).status, 404, path);
    strictEqual((await stack.post("/v1/chat/completions", CHAT)).status, 200);
  }));
