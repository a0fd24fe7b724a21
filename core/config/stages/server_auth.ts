/**
 * `spec.auth` → `server.auth`, `spec.tenancy` → `server.tenancy`: one kind of authentication, whose type is a fixed word, and the policies. A server takes an
 * authentication without a type, or with an empty one, for none at all.
 *
 * Source: core/datatypes.py, server/auth.py and core/access_control of the servers.
 */
import type { Auth } from "../../api/auth.ts";
import type { SecretKeyRef } from "../../api/secret_key_ref.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { at, type JsonObject, put } from "../../data/json.ts";
import { type NotSupportedByServer, type RuleBroken, SecretValueUnusable } from "../../failure/failures.ts";
import { textTraps } from "../connections/secret_traps.ts";
import { type Facts, noted, withConfig } from "../draft.ts";
import { CA_BUNDLE_FILE, CLUSTER_CA_FILE } from "../environment.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { authFailures, authWarnings, tenancyFailures } from "./auth_findings.ts";
import { AUTH_PATH } from "./auth_policies.ts";
import { envName, placeholder, secretEntry } from "./secrets.ts";
import type { Stage } from "../stage.ts";

type AuthFailure = NotSupportedByServer | RuleBroken | SecretValueUnusable;

export const authenticateCallers: Stage<AuthFailure> = (given, facts) => {
  const { auth, tenancy } = facts.spec;
  const apart = tenancyFailures(facts);
  const draft = tenancy === undefined || apart.length > 0 ? given : withConfig(
    given,
    put(given.config, ["server", "tenancy"], {
      mode: tenancy.mode,
      ...(tenancy.defaultTenantId === undefined ? {} : { default_tenant_id: tenancy.defaultTenantId }),
    }),
  );
  if (auth === undefined) return { draft, failures: apart };
  const failures = [...apart, ...authFailures(auth, facts), ...unusableSecrets(auth, facts)];
  const warnings = authWarnings(auth, facts);
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
};

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
    : [{ name: JWKS_TOKEN, ref: oidc.jwksToken, path: [...AUTH_PATH, "oidc", "jwksToken"] }]),
  ...(introspection === undefined ? [] : [{
    name: CLIENT_SECRET,
    ref: introspection.clientSecret,
    path: [...AUTH_PATH, "introspection", "clientSecret"],
  }]),
];

const unusableSecrets = (auth: Auth, { secretValue }: Facts): ReadonlyArray<SecretValueUnusable> =>
  secretsOf(auth).flatMap(({ ref: { secretKeyRef: { name, key } }, path }) => {
    const value = secretValue?.(name, key);
    const [trap] = value === undefined ? [] : textTraps(value);
    return trap === undefined ? [] : [new SecretValueUnusable({ path, key: `${name}/${key}`, detail: `it ${trap}` })];
  });

const VECTOR_STORES = ["storage", "stores", "vector_stores"];

/**
 * With an access policy, providers of vector stores do not start unless their metadata is in the relational store, which
 * knows owners (since 1.1). Written for every authentication, because the server copies the metadata there but not back: a
 * policy may come and go. Source: initialize_openai_vector_stores in providers/utils/memory/openai_vector_store_mixin.py.
 */
const withOwnedStores = (config: JsonObject, { server: { version, family }, folders }: Facts): JsonObject =>
  isOlderMinor(version, "1.1") || at(config, ...VECTOR_STORES) !== undefined ? config : put(
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
      ...tenantOf(oidc),
    };
  }
  if (introspection !== undefined) {
    const { url, clientId } = introspection;
    return {
      type: "oauth2_token",
      introspection: { url, client_id: clientId, client_secret: placeholder(CLIENT_SECRET) },
      ...authorities,
      ...mappingOf(introspection),
      ...tenantOf(introspection),
    };
  }
  // The authorities of the image do not include that of the cluster.
  if (kubernetes !== undefined) return { type: "kubernetes", tls_cafile: CLUSTER_CA_FILE, ...mappingOf(kubernetes) };
  if (webhook !== undefined) {
    const { endpoint, tenantField } = webhook;
    return { type: "custom", endpoint, ...(tenantField === undefined ? {} : { tenant_field: tenantField }) };
  }
  const { principalHeader, attributesHeader, attributeHeaders, tenantHeader, trustedProxyCidrs } = upstreamHeader ?? {};
  return {
    type: "upstream_header",
    principal_header: principalHeader ?? "",
    ...(attributesHeader === undefined ? {} : { attributes_header: attributesHeader }),
    ...(attributeHeaders === undefined ? {} : { attribute_headers: attributeHeaders }),
    ...(tenantHeader === undefined ? {} : { tenant_header: tenantHeader }),
    ...(trustedProxyCidrs === undefined ? {} : { trusted_proxy_cidrs: trustedProxyCidrs }),
  };
};

const mappingOf = ({ claimsMapping }: { readonly claimsMapping?: Readonly<Record<string, string>> }): JsonObject =>
  claimsMapping === undefined ? {} : { claims_mapping: claimsMapping };

const tenantOf = ({ tenantClaim }: { readonly tenantClaim?: string }): JsonObject =>
  tenantClaim === undefined ? {} : { tenant_claim: tenantClaim };
