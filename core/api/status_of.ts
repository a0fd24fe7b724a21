/** The status of a stored resource. */
import type { JsonObject } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { RESOURCE, soundPart } from "./resource_schema.ts";
import type { Status } from "./v1alpha2.ts";

const SCHEMA = RESOURCE.properties?.status ?? {};

/** Without what does not have the shape of a status, as an earlier release could have been made to store it. */
export const statusOf = onceForEach(({ status = {} }: JsonObject): Status =>
  (soundPart(SCHEMA, status) ?? {}) as unknown as Status
);

/** Whether the status has the shape of one, or there is none. */
export const hasSoundStatus = ({ status }: JsonObject): boolean =>
  status === undefined || soundPart(SCHEMA, status) === status;
