/** Whether a status and its resource belong together. */
import { statusOf } from "../api/status_of.ts";
import type { JsonObject } from "../data/json.ts";
import { liveObject } from "./live_object.ts";

/** Whether the status of a resource is about its present spec: it was not edited since its last reconciliation. */
export const isObservedSpec = (resource: JsonObject | undefined): boolean =>
  resource === undefined || liveObject(resource).generation === statusOf(resource).observedGeneration;
