/**
 * `spec.auth` → `server.auth`: one kind of authentication, whose type is a fixed word, and the policies. A server takes an
 * authentication without a type, or with an empty one, for none at all.
 *
 * Source: core/datatypes.py, server/auth.py and core/access_control of the servers.
 */
import type { Auth } from "../../api/auth.ts";
import type { SecretKeyRef } from "../../api/secret_key_ref.ts";
import { addressBytes } from "../../image/internal_address.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { at, isList, isObject, type Json, type JsonObject, objectAt, put } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { NotSupportedByServer, RuleBroken, SecretValueUnusable } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { textTraps } from "../connections/secret_traps.ts";
import { type EnvEntry, type Facts, noted, withConfig } from "../draft.ts";
import { CA_BUNDLE_FILE, CLUSTER_CA_FILE } from "../environment.ts";
import { isOlderMinor, productOf } from "../servers/families/families.ts";
import { envName, placeholder, secretEntry } from "./secrets.ts";
import { type Stage, stage } from "../stage.ts";

type AuthFailure = NotSupportedByServer | RuleBroken | SecretValueUnusable;

const AT: FieldPath = ["spec", "auth"];

export const authenticateCallers: Stage<AuthFailure> = stage((draft, facts) => {
  const { auth } = facts.spec;
  if (auth === undefined) return { draft, failures: [] };
  const unsupported = unsupportedFields(auth, facts);
  const failures = [
    ...unsupported,
    ...placeholders(auth as unknown as Json, AT),
    ...unknownConditions(auth),
    ...wrongNetworks(auth),
    ...unusableSecrets(auth, facts),
  ];
  const warnings = [...policyPatterns(auth), ...sharedTokens(auth), ...tokensInClear(facts)];
  if (failures.length > 0) return { draft: noted(draft, { warnings }), failures };
  return {
    draft: noted(
      withConfig(draft, put(withOwnedStores(draft.config, facts), ["server", "auth"], section(auth, facts))),
      {
        env: secretsOf(auth).map(({ name, ref, path }) => secretEntry(name, ref, path)),
        warnings,
      },
    ),
    failures: [],
  };
});

const inAuth = (...path: FieldPath): FieldPath => [...AT, ...path];

interface Since {
  readonly path: FieldPath;
  readonly what: string;
  /** The first minor version that has it. */
  readonly since: string;
}

const unsupportedFields = (
  auth: Auth,
  { server: { version }, serverName }: Facts,
): ReadonlyArray<NotSupportedByServer> => {
  const { upstreamHeader } = auth;
  const wanted: ReadonlyArray<Since | undefined> = [
    // Older ones ask the probes of the kubelet for a token as well.
    { path: AT, what: "authentication with an open health check", since: "0.3" },
    upstreamHeader && { path: inAuth("upstreamHeader"), what: "authentication by a gateway", since: "0.8" },
    upstreamHeader?.attributeHeaders &&
    { path: inAuth("upstreamHeader", "attributeHeaders"), what: "a header for each attribute", since: "1.0" },
    upstreamHeader?.trustedProxyCidrs &&
    { path: inAuth("upstreamHeader", "trustedProxyCidrs"), what: "networks of the gateway", since: "1.4" },
    auth.routePolicy && { path: inAuth("routePolicy"), what: "rules for paths", since: "0.5" },
    ...conditionsOf(auth).map(({ condition, path }) =>
      condition === UNOWNED ? { path, what: `the condition "${UNOWNED}"`, since: "0.4" } : undefined
    ),
    ...patternsOf(auth).map(({ path }) => ({ path, what: "regular expressions", since: "0.6" })),
  ];
  const lacking = wanted.filter((field) => field !== undefined).filter(({ since }) => isOlderMinor(version, since));
  // What is in the block is not supported either.
  const shown = lacking.filter(({ path }) =>
    !lacking.some((other) => other.path.length < path.length && other.path.every((step, index) => path[index] === step))
  );
  return shown.map(({ path, what, since }) =>
    new NotSupportedByServer({
      path,
      what,
      server: serverName,
      instead: `choose ${productOf(since)} ${since} or newer in spec.distribution, or remove the field`,
    })
  );
};

/** The server would replace them by what nobody has checked: an empty issuer, for example, is not verified. */
const placeholders = (value: Json, path: FieldPath): ReadonlyArray<RuleBroken> => {
  if (typeof value === "string") {
    return value.includes("${env.")
      ? [new RuleBroken({ path, detail: "variables of the environment are not allowed here; write the text itself" })]
      : [];
  }
  if (isList(value)) return value.flatMap((item, index) => placeholders(item, [...path, index]));
  return isObject(value) ? Object.entries(value).flatMap(([key, item]) => placeholders(item, [...path, key])) : [];
};

const UNOWNED = "resource is unowned";

/** Every server has this parser, and ends at its start for any other condition. Source: access_control/conditions.py. */
const VALUE = "[^\\s\\p{Cc}]+";
const CONDITION = new RegExp(
  `^(user is( not)? owner|user with ${VALUE}( not)? in ${VALUE}|user( not)? in owners ${VALUE}|${UNOWNED})$`,
  "u",
);

const unknownConditions = (auth: Auth): ReadonlyArray<RuleBroken> =>
  conditionsOf(auth).filter(({ condition }) => !CONDITION.test(condition)).map(({ path, condition }) =>
    new RuleBroken({
      path,
      detail:
        `unknown condition ${quoted(condition)}; write "user is [not] owner", "user with VALUE [not] in ATTRIBUTE", ` +
        `"user [not] in owners ATTRIBUTE" or "${UNOWNED}", with one space between words`,
    })
  );

const conditionsOf = (auth: Auth): ReadonlyArray<{ readonly condition: string; readonly path: FieldPath }> =>
  (["accessPolicy", "routePolicy"] as const).flatMap((policy) =>
    (auth[policy] ?? []).flatMap((rule, index) =>
      (["when", "unless"] as const).flatMap((field) =>
        (rule[field] ?? []).map((condition, place) => ({ condition, path: [...AT, policy, index, field, place] }))
      )
    )
  );

const REGEX = "regex:";

/** Regular expressions of both policies, without their prefix. */
const patternsOf = (auth: Auth): ReadonlyArray<{ readonly pattern: string; readonly path: FieldPath }> => {
  const inAccess = (auth.accessPolicy ?? []).flatMap((rule, index) =>
    (["permit", "forbid"] as const).map((effect) => ({
      text: rule[effect]?.resource ?? "",
      path: [...AT, "accessPolicy", index, effect, "resource"],
    }))
  );
  const inRoutes = (auth.routePolicy ?? []).flatMap((rule, index) =>
    (["permit", "forbid"] as const).flatMap((effect) =>
      (rule[effect]?.paths ?? []).map((text, place) => ({
        text,
        path: [...AT, "routePolicy", index, effect, "paths", place],
      }))
    )
  );
  return [...inAccess, ...inRoutes].filter(({ text }) => text.startsWith(REGEX))
    .map(({ text, path }) => ({ pattern: text.slice(REGEX.length), path }));
};

/** The server only logs it, and treats the rule as one for nothing. */
const policyPatterns = (auth: Auth): ReadonlyArray<Warning> =>
  patternsOf(auth).filter(({ pattern }) => !isPattern(pattern)).map(({ path }) =>
    warning(
      "PatternInvalid",
      path,
      "this does not look like a regular expression of Python; the server ignores a rule whose expression is invalid",
    )
  );

const isPattern = (pattern: string): boolean => {
  try {
    // Written in another way by Python: named groups, and flags at the beginning.
    new RegExp(pattern.replace(/^\(\?[aimsux]+\)/, "").replaceAll("(?P<", "(?<"));
    return true;
  } catch {
    return false;
  }
};

const wrongNetworks = ({ upstreamHeader }: Auth): ReadonlyArray<RuleBroken> =>
  (upstreamHeader?.trustedProxyCidrs ?? []).flatMap((network, index) => {
    const [address = "", bits = ""] = network.split("/");
    const bytes = addressBytes(address);
    // Python rejects numbers that begin with 0.
    const isNetwork = bytes !== undefined && Number(bits) <= bytes.length * 8 &&
      (bytes.length > 4 || !/(^|\.)0[0-9]/.test(address));
    return isNetwork ? [] : [
      new RuleBroken({
        path: [...AT, "upstreamHeader", "trustedProxyCidrs", index],
        detail: `${quoted(network)} is not a network; write one such as 10.0.0.0/8`,
      }),
    ];
  });

interface AuthSecret {
  readonly name: string;
  readonly ref: SecretKeyRef;
  readonly path: FieldPath;
}

const JWKS_TOKEN = envName("auth", "jwks_token");
const CLIENT_SECRET = envName("auth", "client_secret");

const secretsOf = ({ oidc, introspection }: Auth): ReadonlyArray<AuthSecret> => [
  ...(oidc?.jwksToken === undefined
    ? []
    : [{ name: JWKS_TOKEN, ref: oidc.jwksToken, path: [...AT, "oidc", "jwksToken"] }]),
  ...(introspection === undefined
    ? []
    : [{ name: CLIENT_SECRET, ref: introspection.clientSecret, path: [...AT, "introspection", "clientSecret"] }]),
];

const unusableSecrets = (auth: Auth, { secretValue }: Facts): ReadonlyArray<SecretValueUnusable> =>
  secretsOf(auth).flatMap(({ ref: { secretKeyRef: { name, key } }, path }) => {
    const value = secretValue?.(name, key);
    const [trap] = value === undefined ? [] : textTraps(value);
    return trap === undefined ? [] : [new SecretValueUnusable({ path, key: `${name}/${key}`, detail: `it ${trap}` })];
  });

/** Said of every resource that has it, because nothing else in it shows. */
const sharedTokens = ({ kubernetes }: Auth): ReadonlyArray<Warning> =>
  kubernetes === undefined ? [] : [
    warning(
      "TokensShared",
      [...AT, "kubernetes"],
      "the server receives tokens that the API server accepts, and can act as its callers with them; prefer oidc with an " +
        "audience of its own",
    ),
  ];

const tokensInClear = ({ spec: { auth, networking } }: Facts): ReadonlyArray<Warning> => {
  const { expose, tls } = networking ?? {};
  const isExposed = expose !== undefined && expose.enabled !== false;
  return !isExposed || tls?.enabled === true || expose.tlsSecretName !== undefined || auth?.upstreamHeader !== undefined
    ? []
    : [
      warning(
        "TokensInClear",
        ["spec", "networking", "expose"],
        "callers send their tokens in clear text, unless this becomes a Route, or the ingress controller serves HTTPS " +
          "by itself; set tlsSecretName, or spec.networking.tls",
      ),
    ];
};

const VECTOR_STORES = ["storage", "stores", "vector_stores"];

/**
 * With an access policy, providers of vector stores do not start unless their metadata is in the relational store, which
 * knows owners (since 1.1). Written for every authentication, because the server copies the metadata there but not back: a
 * policy may come and go. Source: initialize_openai_vector_stores in providers/utils/memory/openai_vector_store_mixin.py.
 */
const withOwnedStores = (config: JsonObject, { server: { version, family }, folders }: Facts): JsonObject =>
  isOlderMinor(version, "1.1") || at(config, ...VECTOR_STORES) !== undefined ||
    Object.keys(objectAt(config, "storage", "backends")).length === 0
    ? config
    : put(
      config,
      VECTOR_STORES,
      // As the server calls it where a config has no storage.
      family.stores.reference("sql", { namespace: "", table: "vector_store_metadata" }, folders, config),
    );

const section = (auth: Auth, { spec }: Facts): JsonObject => ({
  provider_config: providerConfig(auth, spec.networking?.tls?.caBundle !== undefined),
  ...(auth.accessPolicy === undefined ? {} : { access_policy: auth.accessPolicy.map(ruleOf) }),
  ...(auth.routePolicy === undefined ? {} : { route_policy: [OPEN_ROUTES, ...auth.routePolicy.map(ruleOf)] }),
});

/** Probes and the operator send no token, and the server judges open paths by its rules, too. */
const OPEN_ROUTES: JsonObject = {
  permit: { paths: ["/v1/health", "/v1/version"] },
  description: "open to everyone",
};

const ruleOf = (rule: object): JsonObject => rule as JsonObject;

const providerConfig = (
  { oidc, introspection, kubernetes, webhook, upstreamHeader }: Auth,
  hasBundle: boolean,
): JsonObject => {
  const authorities = hasBundle ? { tls_cafile: CA_BUNDLE_FILE } : {};
  if (oidc !== undefined) {
    const { issuer, audience, jwksUri, jwksToken } = oidc;
    return {
      type: "oauth2_token",
      issuer,
      audience,
      jwks: { uri: jwksUri, ...(jwksToken === undefined ? {} : { token: placeholder(JWKS_TOKEN) }) },
      ...authorities,
      ...mappingOf(oidc),
    };
  }
  if (introspection !== undefined) {
    const { url, clientId } = introspection;
    return {
      type: "oauth2_token",
      introspection: { url, client_id: clientId, client_secret: placeholder(CLIENT_SECRET) },
      ...authorities,
      ...mappingOf(introspection),
    };
  }
  // The authorities of the image do not include that of the cluster.
  if (kubernetes !== undefined) return { type: "kubernetes", tls_cafile: CLUSTER_CA_FILE, ...mappingOf(kubernetes) };
  if (webhook !== undefined) return { type: "custom", endpoint: webhook.endpoint };
  const { principalHeader, attributesHeader, attributeHeaders, trustedProxyCidrs } = upstreamHeader ?? {};
  return {
    type: "upstream_header",
    principal_header: principalHeader ?? "",
    ...(attributesHeader === undefined ? {} : { attributes_header: attributesHeader }),
    ...(attributeHeaders === undefined ? {} : { attribute_headers: attributeHeaders }),
    ...(trustedProxyCidrs === undefined ? {} : { trusted_proxy_cidrs: trustedProxyCidrs }),
  };
};

const mappingOf = ({ claimsMapping }: { readonly claimsMapping?: Readonly<Record<string, string>> }): JsonObject =>
  claimsMapping === undefined ? {} : { claims_mapping: claimsMapping };
