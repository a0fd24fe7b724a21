/**
 * `spec.auth`: how the server authenticates its callers, and what they may do.
 *
 * No text here can contain `${`: the server would replace `${env.NAME}` by something that nobody has checked, and an
 * empty issuer, for example, is one that is not verified. Secrets come from Secrets.
 */
import { int32, list, map, named, oneOf, optional, set, struct } from "./fields.ts";
import { SecretKeyRef } from "./secret_key_ref.ts";

/** Printable ASCII without `$`, in which no placeholder fits. */
const URL_PATTERN = /^https?:\/\/[!-#%-~]+$/u;
const URL_MAX = 2048;
const url = (doc: string) =>
  named(doc, URL_MAX, URL_PATTERN, `a URL that begins with http:// or https://, of at most ${URL_MAX} characters`);

/** Text on one line without `${`. */
const PLAIN_PATTERN = /^[^$\p{Cc}]*(\$+[^${\p{Cc}][^$\p{Cc}]*)*\$*$/u;
const plain = (doc: string, max: number) =>
  named(doc, max, PLAIN_PATTERN, `1 to ${max} characters on one line, without \${`);

const WORD_PATTERN = /^[^$\p{Cc}\p{Z}]+$/u;
const word = (doc: string, max: number) =>
  named(doc, max, WORD_PATTERN, `1 to ${max} characters without white space and $`);

/** Source: RFC 9110, field names. */
const header = (doc: string) => named(doc, 128, /^[A-Za-z0-9!#%&'*+.^_`|~-]+$/u, "the name of an HTTP header");

const attribute = word("Attribute.", 63);

const claimsMapping = (fallback: string) =>
  optional(
    map(
      `claimsMapping maps claims to attributes, such as groups to teams. Defaults to ${fallback}.`,
      attribute,
      { min: 1, max: 16, keyMax: 253 },
    ),
  );

const tenantClaim = optional(
  word("tenantClaim is the claim that contains the tenant. Supported from OGX 1.2 on.", 128),
);

const OF_TOKENS = "sub to roles, groups to teams and others";

const Oidc = struct("oidc accepts the JSON Web Tokens of an OpenID Connect issuer.", {
  issuer: url("issuer is the URL of the issuer, exactly as the claim iss of its tokens has it."),
  audience: word("audience is the value that the claim aud of a token must contain.", 512),
  jwksUri: url("jwksUri is the URL of the keys of the issuer. Its configuration calls it jwks_uri."),
  jwksToken: optional(
    SecretKeyRef.annotate({ description: "jwksToken selects the token with which the server reads the keys." }),
  ),
  keyRefreshSeconds: optional(
    int32("keyRefreshSeconds is the time in seconds after which the keys are read again. Defaults to 3600.", {
      min: 1,
      max: 604_800,
    }),
  ),
  claimsMapping: claimsMapping(OF_TOKENS),
  tenantClaim,
});

const Introspection = struct("introspection asks an OAuth 2.0 server about each token (RFC 7662).", {
  url: url("url of the introspection endpoint."),
  clientId: plain("clientId is the client as which the server asks.", 256),
  clientSecret: SecretKeyRef.annotate({ description: "clientSecret selects the secret of the client." }),
  claimsMapping: claimsMapping(OF_TOKENS),
  tenantClaim,
});

const Kubernetes = struct(
  "kubernetes accepts tokens of the API server of this cluster, such as those of ServiceAccounts. The server can use them " +
    "itself: prefer oidc where you can.",
  { claimsMapping: claimsMapping("username and groups to roles") },
);

const Webhook = struct("webhook asks a service of yours about each request, and sends it the token.", {
  endpoint: url("endpoint is the URL to which requests are sent with POST."),
  tenantField: optional(
    word("tenantField is the field of the answer that contains the tenant. Supported from OGX 1.2 on.", 128),
  ),
});

const UpstreamHeader = struct(
  "upstreamHeader trusts the headers of a gateway in front of the server. Requires networking.allowedFrom, and excludes " +
    "networking.expose. Supported from OGX 0.8 on.",
  {
    principalHeader: header("principalHeader is the header with the name of the caller."),
    attributesHeader: optional(header("attributesHeader is the header with attributes of the caller, as JSON.")),
    attributeHeaders: optional(
      map("attributeHeaders maps headers to attributes. Supported from OGX 1.0 on.", attribute, {
        min: 1,
        max: 16,
        keyMax: 128,
      }),
    ),
    tenantHeader: optional(header("tenantHeader is the header with the tenant. Supported from OGX 1.2 on.")),
    trustedProxyCidrs: optional(
      list(
        "trustedProxyCidrs are the networks of the gateway; other callers are rejected. Supported from OGX 1.4 on.",
        named("Network.", 43, /^[0-9A-Fa-f.:]+\/[0-9]{1,3}$/u, "a network such as 10.0.0.0/8"),
        { min: 1, max: 32 },
      ),
    ),
  },
);

/** What the parser of every server understands. Source: access_control/conditions.py. */
const VALUE = "[^$\\p{Cc}\\p{Z}]+";
const CONDITION_PATTERN = new RegExp(
  `^(user is( not)? owner|user with ${VALUE}( not)? in ${VALUE}|user( not)? in owners ${VALUE}|resource is unowned)$`,
  "u",
);
const Conditions = (doc: string) =>
  optional(
    list(
      doc,
      named(
        "Condition.",
        512,
        CONDITION_PATTERN,
        'a condition: "user is [not] owner", "user with VALUE [not] in ATTRIBUTE", "user [not] in owners ATTRIBUTE" or ' +
          '"resource is unowned"',
      ),
      { min: 1, max: 8 },
    ),
  );

const conditions = {
  when: Conditions("when lists conditions that must all be met for the rule to apply."),
  unless: Conditions("unless lists conditions under which the rule does not apply."),
  description: optional(plain("description of the rule.", 256)),
};

const Scope = (doc: string) =>
  optional(
    struct(doc, {
      actions: set("actions on the resource.", oneOf("Action.", ["create", "read", "update", "delete"]), {
        min: 1,
        max: 4,
      }),
      principal: optional(plain("principal is the only caller that the rule is about.", 512)),
      resource: optional(
        named(
          "resource is what the rule is about: model::ID, model::* or regex:PATTERN. Defaults to everything.",
          512,
          /^(regex:([^$\p{Cc}]|\$+[^${\p{Cc}])+\$*|[a-z_]+::[^$\p{Cc}]+)$/u,
          "TYPE::ID, TYPE::* or regex:PATTERN",
        ),
      ),
    }),
  );

const AccessRule = struct("AccessRule permits or forbids actions on resources.", {
  permit: Scope("permit is what the rule permits."),
  forbid: Scope("forbid is what the rule forbids."),
  ...conditions,
});

const Paths = (doc: string) =>
  optional(
    struct(doc, {
      paths: list(
        "paths of requests: /v1/models, /v1/files*, regex:PATTERN or *.",
        named(
          "Path.",
          512,
          /^(\*|\/[!-#%-~]*|regex:([^$\p{Cc}]|\$+[^${\p{Cc}])+\$*)$/u,
          "a path that begins with /, *, or regex:PATTERN",
        ),
        { min: 1, max: 32 },
      ),
    }),
  );

const RouteRule = struct("RouteRule permits or forbids requests by their path.", {
  permit: Paths("permit is what the rule permits."),
  forbid: Paths("forbid is what the rule forbids."),
  ...conditions,
});

export const Auth = struct(
  "auth makes the server authenticate its callers. Exactly one of oidc, introspection, kubernetes, webhook and " +
    "upstreamHeader must be set. Health and version stay open. Supported from Llama Stack 0.3 on.",
  {
    oidc: optional(Oidc),
    introspection: optional(Introspection),
    kubernetes: optional(Kubernetes),
    webhook: optional(Webhook),
    upstreamHeader: optional(UpstreamHeader),
    accessPolicy: optional(
      list(
        "accessPolicy says what callers may do with models, files and other resources: the first rule that applies " +
          "counts, and without one the action is denied. If unset, resources are usable by callers that share an " +
          "attribute with their owner, and those without an owner by everyone.",
        AccessRule,
        { min: 1, max: 64 },
      ),
    ),
    routePolicy: optional(
      list(
        "routePolicy says which paths callers may request, in the same way. If unset, all. Supported from 0.5 on.",
        RouteRule,
        { min: 1, max: 64 },
      ),
    ),
    tenancy: optional(
      struct("tenancy separates the data of tenants. Supported from OGX 1.2 on.", {
        mode: oneOf("mode is single, or multi for tenants that the authentication names.", ["single", "multi"]),
        defaultTenantId: optional(
          named(
            "defaultTenantId is the tenant of all callers. Required if mode is single, and only valid then.",
            128,
            /^[a-z0-9][a-z0-9_-]*$/u,
            'lower-case letters, digits, "-" and "_"',
          ),
        ),
      }),
    ),
  },
);
export type Auth = typeof Auth.Type;
