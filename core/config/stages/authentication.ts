/** Whether the server of a config asks its callers who they are. Source: core/stack.py and core/server/server.py of the servers. */
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, member, objectAt } from "../../data/json.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
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
  if (provider !== undefined && provider !== null) {
    // The class refuses it, and the server does not start.
    if (!isObject(provider) || !Object.hasOwn(provider, "type")) return "On";
  }
  const type = isObject(provider) ? member(provider, "type") : undefined;
  return type === undefined || type === null || type === "" || isEmpty(type, environment) ? "Off" : "On";
};

/**
 * What the server refuses when it starts; undefined if nothing is certain. Source: validate_auth_security in
 * core/server/server.py, since 1.2.
 */
export const refusedAuthentication = (
  config: JsonObject,
  { version }: Pick<Server, "version">,
  /** Empty: not set. Undefined: not known. */
  valueOf: (variable: string) => string | undefined,
): { readonly path: FieldPath; readonly message: string } | undefined => {
  if (isOlderMinor(version, "1.2")) return undefined;
  const section = objectAt(config, "server");
  const read = (value: Json | undefined) => typeof value === "string" ? expandedText(value, valueOf) ?? value : value;
  const provider = objectAt(section, "auth", "provider_config");
  const type = read(member(provider, "type"));
  if (type === "local_api_key" && read(member(objectAt(section, "tenancy"), "mode")) === "multi") {
    return {
      path: ["server", "tenancy", "mode"],
      message: "local_api_key tells no tenants apart; use single or disabled, or another type of authentication",
    };
  }
  const insecure = read(member(section, "insecure"));
  const isRefused = VERIFYING_TYPES.includes(String(type)) && isFalse(read(member(provider, "verify_tls"))) &&
    (insecure === undefined || isFalse(insecure));
  return isRefused
    ? {
      path: ["server", "auth", "provider_config", "verify_tls"],
      message: "the server refuses false; remove it, and name the certificate authority in tls_cafile, " +
        "or accept the risk with server.insecure: true",
    }
    : undefined;
};

/** Types of authentication with the field `verify_tls`; the others ignore it. */
const VERIFYING_TYPES = ["oauth2_token", "kubernetes"];

/** As Pydantic reads a boolean. */
const isFalse = (value: Json | undefined): boolean =>
  value === false || value === 0 || typeof value === "string" && /^(0|off|f|false|n|no)$/i.test(value);

const isEmpty = (type: unknown, environment: KnownEnvironment): boolean =>
  typeof type === "string" &&
  expandedText(type, (variable) => environment(variable) === "Unset" ? "" : undefined) === null;
