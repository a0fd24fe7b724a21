/** Rules of `spec.auth` and `spec.tenancy`: the part of the table in rules.ts that is about callers. */
import { listAt, member, objectAt, stringAt } from "../data/json.ts";
import { exclusive, type Rule, tiedTo } from "./rule.ts";

const tenant = tiedTo(
  "spec.tenancy",
  "defaultTenantId",
  "mode",
  ["single"],
  "defaultTenantId is required when mode is single",
  "defaultTenantId is only valid when mode is single",
);

/** Where each kind of authentication finds the tenant of a caller. Names of Kubernetes accounts are no names of tenants. */
const TENANTS_BY = [["oidc", "tenantClaim"], ["introspection", "tenantClaim"], ["webhook", "tenantField"], [
  "upstreamHeader",
  "tenantHeader",
]] as const;
const NO_TENANTS = `tenancy.mode multi requires ${
  TENANTS_BY.map((path) => ["auth", ...path].join(".")).join(" or ")
}, without which no caller has a tenant`;

const AUTHENTICATIONS = ["oidc", "introspection", "kubernetes", "webhook", "upstreamHeader"];
const ONE_AUTHENTICATION = `exactly one of ${
  AUTHENTICATIONS.slice(0, -1).join(", ")
} and upstreamHeader must be specified`;

const ofPolicy = (at: string): ReadonlyArray<Rule> => {
  const one = "exactly one of permit and forbid must be specified";
  return [
    {
      at,
      cel: "has(self.permit) != has(self.forbid)",
      message: one,
      reason: "FieldValueInvalid",
      broken: (self) => Object.hasOwn(self, "permit") === Object.hasOwn(self, "forbid") ? one : undefined,
    },
    exclusive(at, "when", "unless"),
  ];
};

const GATEWAY =
  "auth.upstreamHeader requires networking.allowedFrom without * or a label of every namespace, and excludes " +
  "networking.expose and networking.policy.ingress: the server believes whoever reaches it";
/** Kubernetes gives it to each of them. */
const LABEL_OF_ALL = "kubernetes.io/metadata.name";

export const AUTHENTICATION_RULES: ReadonlyArray<Rule> = [
  tenant.needed,
  tenant.only,
  {
    at: "spec",
    cel: `!has(self.tenancy) || self.tenancy.mode != 'multi' || has(self.auth) && (${
      TENANTS_BY.map(([kind, field]) => `has(self.auth.${kind}) && has(self.auth.${kind}.${field})`).join(" || ")
    })`,
    message: NO_TENANTS,
    reason: "FieldValueInvalid",
    fieldPath: ".tenancy.mode",
    broken: (self) =>
      stringAt(self, "tenancy", "mode") === "multi" &&
        TENANTS_BY.every(([kind, field]) => !Object.hasOwn(objectAt(self, "auth", kind), field))
        ? NO_TENANTS
        : undefined,
  },
  {
    at: "spec.auth",
    cel: `[${AUTHENTICATIONS.map((kind) => `has(self.${kind})`).join(", ")}].filter(is, is).size() == 1`,
    message: ONE_AUTHENTICATION,
    reason: "FieldValueInvalid",
    broken: (self) =>
      AUTHENTICATIONS.filter((kind) => Object.hasOwn(self, kind)).length === 1 ? undefined : ONE_AUTHENTICATION,
  },
  ...ofPolicy("spec.auth.accessPolicy[]"),
  ...ofPolicy("spec.auth.routePolicy[]"),
  {
    at: "spec",
    cel: "!has(self.auth) || !has(self.auth.upstreamHeader) || has(self.networking) && " +
      "has(self.networking.allowedFrom) && !(has(self.networking.allowedFrom.namespaces) && " +
      "'*' in self.networking.allowedFrom.namespaces) && !(has(self.networking.allowedFrom.labels) && " +
      `'${LABEL_OF_ALL}' in self.networking.allowedFrom.labels) && (!has(self.networking.expose) || ` +
      "has(self.networking.expose.enabled) && !self.networking.expose.enabled) && " +
      "(!has(self.networking.policy) || !has(self.networking.policy.ingress))",
    message: GATEWAY,
    reason: "FieldValueForbidden",
    fieldPath: ".auth.upstreamHeader",
    broken: (self) => {
      const { allowedFrom, expose, policy } = objectAt(self, "networking");
      const isGuarded = allowedFrom !== undefined && !listAt(allowedFrom, "namespaces").includes("*") &&
        !listAt(allowedFrom, "labels").includes(LABEL_OF_ALL) &&
        (expose === undefined || member(expose, "enabled") === false) &&
        (policy === undefined || member(policy, "ingress") === undefined);
      return Object.hasOwn(objectAt(self, "auth"), "upstreamHeader") && !isGuarded ? GATEWAY : undefined;
    },
  },
];
