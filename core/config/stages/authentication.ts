/** Whether the server of a config asks its callers who they are. Source: core/stack.py and core/server/server.py of the servers. */
import { isObject, type JsonObject, listAt, member, objectAt } from "../../data/json.ts";
import type { Server } from "../servers/families/families.ts";
import { expandedText, type KnownEnvironment } from "../known_environment.ts";

/** `Off`: a section is there, and the server goes on without authentication and says nothing. */
export type Authentication = "On" | "Off" | "None";

export const authenticationOf = (
  config: JsonObject,
  environment: KnownEnvironment,
  server: Pick<Server, "family"> | undefined,
): Authentication => {
  const auth = objectAt(config, "server", "auth");
  if (!isObject(member(objectAt(config, "server"), "auth"))) return "None";
  const provider = member(auth, "provider_config");
  // The shape of Llama Stack up to 0.2.16; the other servers of that family reject what they do not understand.
  if (server?.family.name === "legacy") return "On";
  // Rules for paths are enforced without users as well.
  if (listAt(auth, "route_policy").length > 0 && provider === undefined) return "On";
  const type = isObject(provider) ? member(provider, "type") : undefined;
  return type === undefined || type === null || type === "" || isEmpty(type, environment) ? "Off" : "On";
};

const isEmpty = (type: unknown, environment: KnownEnvironment): boolean =>
  typeof type === "string" &&
  expandedText(type, (variable) => environment(variable) === "Unset" ? "" : undefined) === null;
