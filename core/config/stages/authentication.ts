/**
 * Whether the server of a config asks its callers who they are, and what it refuses of the section `server` besides what its class
 * says. Source: core/stack.py, core/datatypes.py and core/server/server.py of the servers.
 */
import { isList, isObject, type Json, type JsonObject, listAt, member, objectAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import type { Catalogue } from "../servers/catalogue.ts";
import type { Misfit } from "../servers/class_misfits.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import { expandedText, type KnownEnvironment, type ValueOf } from "../known_environment.ts";

/** `Off`: a section is there, and the server goes on without authentication and says nothing. */
export type Authentication = "On" | "Off" | "None";

export const authenticationOf = (
  config: JsonObject,
  environment: KnownEnvironment,
  server: Pick<Server, "family" | "version"> | undefined,
): Authentication => {
  const auth = objectAt(config, "server", "auth");
  if (!isObject(member(objectAt(config, "server"), "auth"))) return "None";
  const provider = member(auth, "provider_config");
  // The shape of Llama Stack up to 0.2.16; the other servers of that family reject what they do not understand.
  if (server?.family.name === "legacy") return "On";
  // So do the next ones: 0.5 starts without a provider.
  if (server !== undefined && isOlderMinor(server.version, isObject(provider) ? "0.6" : "0.5")) return "On";
  // Rules for paths are enforced without users as well.
  if (listAt(auth, "route_policy").length > 0 && provider === undefined) return "On";
  if (provider !== undefined && provider !== null) {
    // The class refuses it, and the server does not start.
    if (!isObject(provider) || !Object.hasOwn(provider, "type")) return "On";
  }
  const type = isObject(provider) ? member(provider, "type") : undefined;
  return type === undefined || type === null || type === "" || isEmpty(type, environment) ? "Off" : "On";
};

type Read = (value: Json | undefined) => Json | undefined;

/** What the server refuses of it when it starts. Of what comes from variables without a known value, nothing is said. */
export const refusedOfServer = (
  config: JsonObject,
  { version, catalogue }: Pick<Server, "version" | "catalogue">,
  valueOf: ValueOf,
): ReadonlyArray<Misfit> => {
  const section = objectAt(config, "server");
  const read: Read = (value) => {
    const expanded = typeof value === "string" ? expandedText(value, valueOf) : value;
    return expanded === undefined ? value : expanded;
  };
  return isOlderMinor(version, "1.2") ? refusedOrigins(section, catalogue, read) : [
    ...refusedAuthentication(section, read),
    ...refusedTenancy(objectAt(section, "tenancy"), read),
    ...refusedCiphers(section, read),
  ];
};

/** Servers up to 0.7 have the section. Source: CORSConfig in core/datatypes.py. */
const refusedOrigins = (section: JsonObject, { models }: Catalogue, read: Read): ReadonlyArray<Misfit> => {
  const cors = objectAt(section, "cors");
  const isRefused = models.ServerConfig?.fields.cors !== undefined && isTrue(read(member(cors, "allow_credentials"))) &&
    listAt(cors, "allow_origins").some((origin) => read(origin) === "*");
  return !isRefused ? [] : [{
    path: ["server", "cors", "allow_credentials"],
    message: "not allowed beside the origin *; write the origins by name, or remove it",
  }];
};

const refusedAuthentication = (section: JsonObject, read: Read): ReadonlyArray<Misfit> => {
  const provider = objectAt(section, "auth", "provider_config");
  const type = read(member(provider, "type"));
  if (type === "local_api_key" && read(member(objectAt(section, "tenancy"), "mode")) === "multi") {
    return [{
      path: ["server", "tenancy", "mode"],
      message: "local_api_key tells no tenants apart; use single or disabled, or another type of authentication",
    }];
  }
  const isRefused = VERIFYING_TYPES.includes(String(type)) && isFalse(read(member(provider, "verify_tls"))) &&
    isSecure(section, read);
  return !isRefused ? [] : [{
    path: ["server", "auth", "provider_config", "verify_tls"],
    message: "the server refuses false; remove it, and name the certificate authority in tls_cafile, " +
      "or accept the risk with server.insecure: true",
  }];
};

const refusedTenancy = (tenancy: JsonObject, read: Read): ReadonlyArray<Misfit> => {
  const path = ["server", "tenancy", "default_tenant_id"];
  const tenant = read(member(tenancy, "default_tenant_id")) ?? "";
  if (tenant === "" && read(member(tenancy, "mode")) === "single") {
    return [{ path, message: "required where mode is single; write the tenant of every caller" }];
  }
  // The class says what is wrong with other types.
  const isWrong = typeof tenant === "string" && tenant !== "" && !tenant.includes("${env.") &&
    !TENANT.test(tenant.trim());
  return !isWrong ? [] : [{
    path,
    message: `${quoted(tenant)} is not accepted; write letters, digits, - and _, up to 128, a letter or digit first`,
  }];
};

/** The server makes it lower case. */
const TENANT = /^[a-z0-9][a-z0-9_-]{0,127}$/i;

/** The class judges them even where the operator's start command serves other certificates. */
const refusedCiphers = (section: JsonObject, read: Read): ReadonlyArray<Misfit> => {
  const hasFile = (field: string) => ![undefined, null, ""].includes(read(member(section, field)) as string | null);
  const ciphers = member(objectAt(section, "tls_config"), "ciphers");
  if (!hasFile("tls_certfile") || !hasFile("tls_keyfile") || !isSecure(section, read) || !isList(ciphers)) return [];
  const isRefused = (cipher: Json) =>
    typeof cipher === "string" && !cipher.includes("${env.") && !CIPHERS.includes(cipher);
  const path = ["server", "tls_config", "ciphers"];
  return ciphers.length === 0
    ? [{ path, message: `an empty list is not accepted; remove it, or write one of ${CIPHERS.join(", ")}` }]
    : ciphers.flatMap((cipher, index) =>
      isRefused(cipher)
        ? [{
          path: [...path, index],
          message: `not a cipher that the server accepts; write one of ${CIPHERS.join(", ")}`,
        }]
        : []
    );
};

/** FIPS_APPROVED_CIPHERS in core/server_tls.py, the same from 1.2 to 1.5. */
const CIPHERS: ReadonlyArray<string> = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "DHE-RSA-AES128-GCM-SHA256",
  "DHE-RSA-AES256-GCM-SHA384",
];

const isSecure = (section: JsonObject, read: Read): boolean => {
  const insecure = read(member(section, "insecure"));
  return insecure === undefined || isFalse(insecure);
};

/** Types of authentication with the field `verify_tls`; the others ignore it. */
const VERIFYING_TYPES = ["oauth2_token", "kubernetes"];

/** As Pydantic reads a boolean. */
const isTrue = (value: Json | undefined): boolean =>
  value === true || value === 1 || typeof value === "string" && /^(1|on|t|true|y|yes)$/i.test(value);

const isFalse = (value: Json | undefined): boolean =>
  value === false || value === 0 || typeof value === "string" && /^(0|off|f|false|n|no)$/i.test(value);

const isEmpty = (type: unknown, environment: KnownEnvironment): boolean =>
  typeof type === "string" &&
  expandedText(type, (variable) => environment(variable) === "Unset" ? "" : undefined) === null;
