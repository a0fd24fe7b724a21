/** Rules of `server.auth` in a config, whoever wrote it: the judgement of `spec.auth`, at the places of the config. */
import type { Auth } from "../../api/auth.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { isOlderMinor, type Server } from "../servers/families/families.ts";
import { wrongNetworks } from "./auth_findings.ts";
import {
  AUTH_PATH,
  brokenProhibitions,
  conditionsOf,
  deadScopes,
  policyPatterns,
  unknownConditions,
  UNOWNED,
} from "./auth_policies.ts";
import type { EntryFinding } from "./entry_findings.ts";

export const policyFindings = (
  config: JsonObject,
  { version, catalogue: { models } }: Pick<Server, "version" | "catalogue">,
): ReadonlyArray<EntryFinding> => {
  const section = objectAt(config, "server", "auth");
  const auth = readAs(section);
  const readsNetworks = models.UpstreamHeaderAuthConfig?.fields.trusted_proxy_cidrs !== undefined;
  const place = (path: FieldPath) => placeIn(section, path.slice(AUTH_PATH.length));
  const isOfForbid = ({ path }: { readonly path: FieldPath }) => path.includes("forbid");
  const end = (path: FieldPath) =>
    path.includes("forbid") ? "; the server ignores the rule, which forbids nothing" : "; the rule is for nothing";
  return [
    ...[...unknownConditions(auth), ...(readsNetworks ? wrongNetworks(auth) : [])]
      .map(({ path, detail }): EntryFinding => ({ path: place(path), message: detail, isFatal: true })),
    ...conditionsOf(auth).filter(({ condition }) => condition === UNOWNED && isOlderMinor(version, "0.4"))
      .map(({ path }): EntryFinding => ({
        path: place(path),
        message: `this server does not know the condition "${UNOWNED}"; remove it`,
        isFatal: true,
      })),
    ...brokenProhibitions(auth).map(({ path, detail }): EntryFinding => ({
      path: place(path),
      message: detail,
      isFatal: false,
      code: "PatternInvalid",
    })),
    ...policyPatterns(auth).filter((found) => !isOfForbid(found))
      .map(({ path, message }): EntryFinding => ({
        path: place(path),
        message,
        isFatal: false,
        code: "PatternInvalid",
      })),
    ...deadScopes(auth, version).map(({ path, code, detail }): EntryFinding => ({
      path: place(path),
      message: `${detail}${end(path)}`,
      isFatal: false,
      code,
    })),
  ];
};

const NAMES = { accessPolicy: "access_policy", routePolicy: "route_policy" } as const;

/** What is of another type, or comes from a variable, becomes something about which nothing is said. */
const readAs = (section: JsonObject): Auth => ({
  accessPolicy: rulesOf(section, "access_policy"),
  routePolicy: rulesOf(section, "route_policy"),
  upstreamHeader: {
    trustedProxyCidrs: listAt(section, "provider_config", "trusted_proxy_cidrs")
      .map((network) => written(network) ?? "0.0.0.0/0"),
  },
} as unknown as Auth);

const rulesOf = (section: JsonObject, policy: string): ReadonlyArray<unknown> =>
  listAt(section, policy).map((rule) => ({
    permit: scopeOf(objectAt(rule, "permit")),
    forbid: scopeOf(objectAt(rule, "forbid")),
    when: textsOf(at(rule, "when")).map((text) => written(text) ?? UNKNOWN),
    unless: textsOf(at(rule, "unless")).map((text) => written(text) ?? UNKNOWN),
  }));

/** A condition that every server has. */
const UNKNOWN = "user is owner";

const scopeOf = (scope: JsonObject) => ({
  resource: written(stringAt(scope, "resource") ?? "") ?? "",
  paths: textsOf(scope.paths).map((text) => written(text) ?? ""),
});

const textsOf = (value: Json | undefined): ReadonlyArray<Json> =>
  isList(value) ? value : typeof value === "string" && value !== "" ? [value] : [];

const written = (value: Json): string | undefined =>
  typeof value === "string" && !value.includes("${env.") ? value : undefined;

/** A single text has no index in the config. */
const placeIn = (section: JsonObject, [policy, ...steps]: FieldPath): FieldPath => {
  const above = ["server", "auth"];
  if (policy === "upstreamHeader") return [...above, "provider_config", "trusted_proxy_cidrs", ...steps.slice(1)];
  const name = NAMES[policy as keyof typeof NAMES];
  const [index, ...keys] = steps;
  const rule = listAt(section, name)[Number(index)];
  const last = keys.at(-1);
  const texts = keys.slice(0, -1).map(String);
  const isSingle = typeof last === "number" && isObject(rule) && !isList(at(rule, ...texts));
  return [...above, name, ...(index === undefined ? [] : [index]), ...(isSingle ? texts : keys)];
};
