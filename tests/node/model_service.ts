/** A model server of the test under the name of a Service, as a resource names it. */
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../tools/model_server.ts";
import type { Place } from "./place.ts";

export type ModelService = ModelServer & AsyncDisposable;

export const startModelService = async (
  place: Place,
  name = "vllm",
  options: ModelServerOptions = {},
): Promise<ModelService> => {
  const models = startModelServer(options);
  try {
    await place.expose(name, MODEL_PORT, models.port);
  } catch (cause) {
    await models.stop();
    throw cause;
  }
  return { ...models, [Symbol.asyncDispose]: () => models.stop() };
};

export const MODEL_PORT = 8000;

export const MODELS_ENDPOINT = `http://vllm:${MODEL_PORT}`;

/** Of a server whose only models are those of `startModelService`. */
export const CHAT = { model: "vllm/test-model", messages: [{ role: "user", content: "hello" }] };
