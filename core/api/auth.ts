/**
 * `spec.auth`: how the server authenticates its callers, and what they may do.
 *
 * Patterns are short, because the CRD repeats each of them wherever it is used; conditions and placeholders are judged
 * in core/config/stages/auth_findings.ts.
 */
import { list, map, named, oneOf, optional, set, struct, text } from "./fields.ts";
import { SecretKeyRef } from "./secret_key_ref.ts";

const URL_MAX = 2048;
const url = (doc: string) =>
  named(
    doc,
    URL_MAX,
    /^https?:\/\/[!-~]+$/u,
    `a URL that begins with http:// or https://, of at most ${URL_MAX} characters`,
  );

/** Fewer characters than RFC 9110 allows, as gateways have them. */
const header = (doc: string) => named(doc, 128, /^[-\w.]+$/u, "the name of an HTTP header");

const attributes = (doc: string) =>
  optional(map(doc, text("Attribute.", { max: 63 }), { min: 1, max: 16, keyMax: 253 }));

const claimsMapping = attributes(
  "claimsMapping maps claims to attributes. If unset, sub is roles, groups is teams, and so on.",
);

const tenantClaim = optional(
  text("tenantClaim is the claim with the tenant of the caller. OGX 1.2 and newer.", { max: 253 }),
);

const Oidc = struct("oidc accepts JSON Web Tokens of an OpenID Connect issuer.", {
  issuer: url("issuer is the claim iss of its tokens."),
  audience: text("audience is the claim aud of tokens for this server.", { max: 512 }),
  jwksUri: url("jwksUri is the URL of the keys of the issuer."),
  jwksToken: optional(
    SecretKeyRef.annotate({
      description: "jwksToken selects the token with which the keys are read, if they need one.",
    }),
  ),
  claimsMapping,
  tenantClaim,
});

const Introspection = struct("introspection asks an OAuth 2.0 server about each token (RFC 7662).", {
  url: url("url of the introspection endpoint."),
  clientId: text("clientId is the client as which the server asks.", { max: 256 }),
  clientSecret: SecretKeyRef.annotate({ description: "clientSecret selects the secret of the client." }),
  claimsMapping,
  tenantClaim,
});

const Kubernetes = struct(
  "kubernetes accepts tokens of this cluster's API server. The server can use them as well: prefer oidc.",
  { claimsMapping: attributes("claimsMapping maps claims to attributes. If unset, username and groups are roles.") },
);

const Webhook = struct("webhook asks a service about each request, and sends it the token.", {
  endpoint: url("endpoint is the URL of the service."),
  tenantField: optional(
    text("tenantField is the field of its answer with the tenant of the caller. OGX 1.2 and newer.", { max: 253 }),
  ),
});

const UpstreamHeader = struct(
  "upstreamHeader trusts headers of a gateway. Requires networking.allowedFrom, excludes networking.expose and networking.policy.ingress. OGX 0.8 and newer.",
  {
    principalHeader: header("principalHeader is the header with the name of the caller."),
    attributesHeader: optional(header("attributesHeader is the header with attributes of the caller, as JSON.")),
    attributeHeaders: attributes("attributeHeaders maps headers to attributes. OGX 1.0 and newer."),
    tenantHeader: optional(header("tenantHeader is the header with the tenant of the caller. OGX 1.2 and newer.")),
    trustedProxyCidrs: optional(
      list(
        "trustedProxyCidrs are the networks of the gateway. OGX 1.4 and newer.",
        named("Network.", 43, /^[0-9A-Fa-f.:]+\/[0-9]{1,3}$/u, "a network such as 10.0.0.0/8"),
        { min: 1, max: 32 },
      ),
    ),
  },
);

const conditions = (doc: string) => optional(list(doc, text("Condition.", { max: 512 }), { min: 1, max: 8 }));

const policy = {
  when: conditions("when are conditions, all of which must hold."),
  unless: conditions("unless are conditions under which the rule does not apply."),
  description: optional(text("description of the rule.", { max: 256 })),
};

const resources = (doc: string) =>
  optional(struct(doc, {
    actions: set("actions on it.", oneOf("Action.", ["create", "read", "update", "delete"]), { min: 1, max: 4 }),
    principal: optional(text("principal is the caller. If unset, every caller.", { max: 512 })),
    resource: optional(
      named(
        "resource is TYPE::ID, TYPE::* or regex:PATTERN. If unset, all.",
        512,
        /^(regex:.+|[a-z_]+::.+)$/u,
        "TYPE::ID, TYPE::* or regex:PATTERN",
      ),
    ),
  }));

const paths = (doc: string) =>
  optional(struct(doc, {
    paths: list(
      "paths such as /v1/models, /v1/files*, regex:PATTERN or *.",
      named("Path.", 512, /^(\*|\/.*|regex:.+)$/u, "a path that begins with /, *, or regex:PATTERN"),
      { min: 1, max: 32 },
    ),
  }));

export const Auth = struct(
  "auth makes the server authenticate its callers, in exactly one way. Health and version stay open. Llama Stack 0.3 and newer.",
  {
    oidc: optional(Oidc),
    introspection: optional(Introspection),
    kubernetes: optional(Kubernetes),
    webhook: optional(Webhook),
    upstreamHeader: optional(UpstreamHeader),
    accessPolicy: optional(
      list(
        "accessPolicy says what callers may do; the first rule that applies counts, and everything else is denied. If " +
          "unset, resources are for their owner and callers that share an attribute with it, and those of the config for " +
          "everyone.",
        struct("AccessRule permits or forbids actions.", {
          permit: resources("permit is what is permitted."),
          forbid: resources("forbid is what is forbidden."),
          ...policy,
        }),
        { min: 1, max: 64 },
      ),
    ),
    routePolicy: optional(
      list(
        "routePolicy says which paths may be requested, in the same way. If unset, all. Llama Stack 0.5 and newer.",
        struct("RouteRule permits or forbids paths.", {
          permit: paths("permit is what is permitted."),
          forbid: paths("forbid is what is forbidden."),
          ...policy,
        }),
        { min: 1, max: 64 },
      ),
    ),
  },
);
export type Auth = typeof Auth.Type;

export const Tenancy = struct("tenancy keeps the data of tenants apart. OGX 1.2 and newer.", {
  mode: oneOf(
    "mode is single, where defaultTenantId is the tenant of every caller, or multi, where auth names it with tenantClaim, " +
      "tenantField or tenantHeader, and callers without a tenant are rejected.",
    ["single", "multi"],
  ),
  defaultTenantId: optional(
    named(
      "defaultTenantId is the tenant of every caller.",
      128,
      /^[a-z0-9][a-z0-9_-]*$/u,
      "lower-case letters, digits, - and _",
    ),
  ),
});
