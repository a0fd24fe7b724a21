import { type JsonObject, member, objectAt } from "../data/json.ts";

/** Whether the status of a resource is about its present spec: it was not edited since its last reconciliation. */
export const isObservedSpec = (resource: JsonObject | undefined): boolean =>
  member(objectAt(resource, "metadata"), "generation") === member(objectAt(resource, "status"), "observedGeneration");
