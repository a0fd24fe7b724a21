/** The status of a stored resource. */
import { isSameValue, type JsonObject } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { RESOURCE, soundPart } from "./resource_schema.ts";
import type { Status } from "./v1alpha2.ts";

/** Without what does not have the shape of a status, as an earlier release could have been made to store it. */
export const statusOf = onceForEach(({ status = {} }: JsonObject): Status =>
  (soundPart(RESOURCE.properties?.status ?? {}, status) ?? {}) as unknown as Status
);

/** Whether the status has the shape of one, or there is none. */
export const hasSoundStatus = (resource: JsonObject): boolean =>
  isSameValue(statusOf(resource) as unknown as JsonObject, resource.status ?? {});
