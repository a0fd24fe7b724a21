/** The status of a stored resource. */
import { type JsonObject, objectAt } from "../data/json.ts";
import { hasSoundStatus } from "./resource_schema.ts";
import type { Status } from "./v1alpha2.ts";

/** Empty where the stored one does not have the shape of a status, as an earlier release could have been made to store it. */
export const statusOf = (resource: JsonObject): Status =>
  (hasSoundStatus(resource) ? objectAt(resource, "status") : {}) as unknown as Status;
