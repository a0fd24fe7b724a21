/** What `server.auth` means to a server: without defaults, and with what is equal in other words. */
import { CLUSTER_CA_FILE } from "../config/environment.ts";
import { productOf, type Server } from "../config/servers/families/families.ts";
import { isList, isObject, isSameValue, type Json, type JsonObject, objectAt, omit, stringAt } from "../data/json.ts";
import { SECRET } from "./entries.ts";
import { flat } from "./leaves.ts";
import { rulesOf } from "./policies.ts";

export const AUTH_SUBJECT = "server.auth";

/** Without a type nobody is authenticated, and then no policy applies. Source: is_action_allowed in core/access_control of the servers. */
export const authFields = (auth: JsonObject, audience: string): ReadonlyArray<readonly [string, Json | undefined]> => {
  const config = objectAt(auth, "provider_config");
  const fields = flat(omit(config, ...(isObject(config.introspection) ? OF_SIGNED_TOKENS : []))).filter((
    [key, value],
  ) =>
    !isSameValue(AUTH[key], value) && !(key === "audience" && value === audience) &&
    !(key === "api_server_url" && value === "https://kubernetes.default.svc")
  )
    .map(([key, value]) =>
      [key, key === "tls_cafile" && CLUSTER_CA.has(String(value)) ? CLUSTER_CA_FILE : value] as const
    )
    .map(([key, value]) => [key, SECRET_FIELDS.has(key) ? SECRET : value] as const);
  return [...fields, ["access_policy", policy(auth.access_policy)], ["route_policy", policy(auth.route_policy)]];
};

/** The rule that the operator adds says what every server does. */
const policy = (rules: Json | undefined): Json | undefined => {
  const read = rulesOf(rules);
  return isList(read ?? null)
    ? (read as ReadonlyArray<Json>).filter((rule) => stringAt(rule, "description") !== "open to everyone")
    : read;
};

/** Of tokens where the config names none. */
export const audienceOn = ({ version }: Server): string => productOf(version) === "OGX" ? "ogx" : "llama-stack";

const AUTH: JsonObject = {
  "jwks.key_recheck_period": 3600,
  "introspection.send_secret_in_body": false,
  verify_tls: true,
};

/** Not checked where another server is asked about each token. Source: introspect_token in core/server/auth_providers.py. */
const OF_SIGNED_TOKENS = ["audience", "issuer"];

/** Kubernetes keeps the same certificate in both. */
const CLUSTER_CA: ReadonlySet<string> = new Set([
  CLUSTER_CA_FILE,
  "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
]);

const SECRET_FIELDS: ReadonlySet<string> = new Set(["jwks.token", "introspection.client_secret"]);
