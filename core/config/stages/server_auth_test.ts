import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import * as Redacted from "effect/Redacted";
import { config, decoded, envOf, failures, generated, rejected, secret, warnings } from "../../../tests/given.ts";
import { deployment } from "../../resources/deployment.ts";
import { blueprintOf, NOWHERE } from "../../resources/of_resource.ts";
import { at, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";

const OGX = { distribution: { name: "starter" } };
const WEBHOOK = { webhook: { endpoint: "http://who:8080/check" } };
const OIDC = { oidc: { issuer: "https://issuer", audience: "llama", jwksUri: "https://issuer/keys" } };
const INTROSPECTION = {
  introspection: { url: "https://issuer/ask", clientId: "llama", clientSecret: secret("idp", "client") },
};
const GATEWAY = { upstreamHeader: { principalHeader: "x-user" } };
const NETWORK = { networking: { allowedFrom: { namespaces: ["gateway"] } } };
const version = (serverVersion: string) => ({ distribution: { name: "starter", serverVersion } });
const PERMIT = { permit: { paths: ["/v1/models"] } };

const authOf = (auth: JsonObject, more: JsonObject = {}): JsonObject =>
  objectAt(config({ ...OGX, auth, ...more }), "server", "auth");
const provider = (auth: JsonObject, more: JsonObject = {}): JsonObject =>
  objectAt(authOf(auth, more), "provider_config");

Deno.test("authenticateCallers() writes each kind of authentication as the server calls it", () => {
  const keys = { ...OIDC.oidc, jwksToken: secret("idp", "token"), claimsMapping: { groups: "roles" } };
  deepStrictEqual(provider({ oidc: keys }), {
    type: "oauth2_token",
    issuer: "https://issuer",
    audience: "llama",
    jwks: { uri: "https://issuer/keys", token: "${env.LLSD_AUTH_JWKS_TOKEN}" },
    claims_mapping: { groups: "roles" },
  });
  deepStrictEqual(provider(INTROSPECTION), {
    type: "oauth2_token",
    introspection: {
      url: "https://issuer/ask",
      client_id: "llama",
      client_secret: "${env.LLSD_AUTH_CLIENT_SECRET}",
    },
  });
  deepStrictEqual(provider(WEBHOOK), { type: "custom", endpoint: "http://who:8080/check" });
  const upstreamHeader = {
    principalHeader: "x-user",
    attributesHeader: "x-attributes",
    attributeHeaders: { "x-groups": "teams" },
    trustedProxyCidrs: ["10.0.0.0/8", "fd00::/8"],
  };
  deepStrictEqual(provider({ upstreamHeader }, NETWORK), {
    type: "upstream_header",
    principal_header: "x-user",
    attributes_header: "x-attributes",
    attribute_headers: { "x-groups": "teams" },
    trusted_proxy_cidrs: ["10.0.0.0/8", "fd00::/8"],
  });
});

Deno.test("authenticateCallers() reads secrets from the environment of the pod", () => {
  deepStrictEqual(envOf({ ...OGX, auth: INTROSPECTION }, "LLSD_AUTH_CLIENT_SECRET"), {
    name: "LLSD_AUTH_CLIENT_SECRET",
    valueFrom: { secretKeyRef: { name: "idp", key: "client" } },
  });
  const secrets = new Map([["idp", { client: Redacted.make("12345") }]]);
  const [failure] = rejected({ ...OGX, auth: INTROSPECTION }, { secrets }).failures;
  match(
    failure?.message ?? "",
    /clientSecret: invalid value in Secret key idp\/client: it looks like a number, .*; choose one with letters/,
  );
});

Deno.test("authenticateCallers() verifies issuers by the CA bundle of the resource, and the API server by the CA of the cluster", () => {
  const networking = { tls: { caBundle: { configMapName: "ca" } } };
  const bundle = "/etc/ssl/certs/ca-bundle/ca-bundle.crt";
  strictEqual(provider(OIDC, { networking }).tls_cafile, bundle);
  strictEqual(provider(INTROSPECTION, { networking }).tls_cafile, bundle);
  deepStrictEqual(provider({ kubernetes: {} }, { networking }), {
    type: "kubernetes",
    tls_cafile: "/etc/llama-stack/cluster-ca/ca.crt",
  });
  const spec = { ...OGX, auth: { kubernetes: {} } };
  const pod = objectAt(
    deployment(blueprintOf(decoded(spec), generated(spec), NOWHERE)),
    "spec",
    "template",
    "spec",
  );
  deepStrictEqual(at(listAt(pod, "volumes").find((volume) => stringAt(volume, "name") === "cluster-ca"), "configMap"), {
    name: "kube-root-ca.crt",
    items: [{ key: "ca.crt", path: "ca.crt" }],
  });
  const mount = listAt(listAt(pod, "containers")[0], "volumeMounts")
    .find((one) => stringAt(one, "name") === "cluster-ca");
  strictEqual(stringAt(mount, "mountPath"), "/etc/llama-stack/cluster-ca");
});

Deno.test("authenticateCallers() permits health and version before the rules of the resource", () => {
  deepStrictEqual(authOf({ ...WEBHOOK, routePolicy: [PERMIT] }).route_policy, [
    { permit: { paths: ["/v1/health", "/v1/version"] }, description: "open to everyone" },
    PERMIT,
  ]);
  const rule = { forbid: { actions: ["delete"], resource: "model::*" }, unless: ["user with admin in roles"] };
  deepStrictEqual(authOf({ ...WEBHOOK, accessPolicy: [rule] }).access_policy, [rule]);
});

Deno.test("authenticateCallers() keeps the metadata of vector stores where the server knows their owners", () => {
  const place = (spec: JsonObject) => at(config({ auth: WEBHOOK, ...spec }), "storage", "stores", "vector_stores");
  deepStrictEqual(place(OGX), { backend: "sql_default", table_name: "vector_store_metadata" });
  strictEqual(place(version("0.7.1")), undefined);
  // The server has no such store of itself, also where a config says nothing of stores.
  const data = { "config.yaml": "version: 2\ndistro_name: d\nproviders: {}\n" };
  const configMaps = new Map([["default/base", { data, binaryData: {} }]]);
  const ofBase = config({ auth: WEBHOOK, ...OGX, baseConfig: { configMapName: "base" } }, { configMaps });
  deepStrictEqual(at(ofBase, "storage", "stores"), {
    vector_stores: { backend: "sql_default", table_name: "vector_store_metadata" },
  });
});

for (
  const [server, auth, wanted] of [
    ["0.2.24", { ...WEBHOOK, routePolicy: [PERMIT] }, ["NotSupportedByServer at spec.auth"]],
    ["0.3.5", { ...WEBHOOK, accessPolicy: [{ permit: { actions: ["read"] }, when: ["resource is unowned"] }] }, [
      "NotSupportedByServer at spec.auth.accessPolicy[0].when[0]",
    ]],
    ["0.4.7", { ...WEBHOOK, routePolicy: [PERMIT] }, ["NotSupportedByServer at spec.auth.routePolicy"]],
    ["0.5.2", { ...WEBHOOK, routePolicy: [{ permit: { paths: ["*", "regex:/v1/.*"] } }] }, [
      "NotSupportedByServer at spec.auth.routePolicy[0].permit.paths[1]",
    ]],
    ["0.7.1", GATEWAY, ["NotSupportedByServer at spec.auth.upstreamHeader"]],
    ["1.2", { upstreamHeader: { principalHeader: "x", trustedProxyCidrs: ["10.0.0.0/8"] } }, [
      "NotSupportedByServer at spec.auth.upstreamHeader.trustedProxyCidrs",
    ]],
  ] as const
) {
  Deno.test(`authenticateCallers() refuses what server ${server} lacks: ${wanted.join(", ")}`, () =>
    deepStrictEqual(failures({ ...OGX, ...NETWORK, auth } as never, { serverVersion: server }), wanted));
}

Deno.test("authenticateCallers() says which server has what this one lacks", () => {
  const [failure] = rejected({ ...version("0.4.7"), auth: { ...WEBHOOK, routePolicy: [PERMIT] } }).failures;
  strictEqual(
    failure?.message,
    "spec.auth.routePolicy: not supported by Llama Stack 0.4.7: rules for paths; choose Llama Stack 0.5 or newer in " +
      "spec.distribution, or remove the field",
  );
});

Deno.test("authenticateCallers() refuses conditions, networks and variables with which the server does not start", () => {
  const when = ["user is admin", "user with a b in roles", "user is owner"];
  deepStrictEqual(failures({ ...OGX, auth: { ...WEBHOOK, accessPolicy: [{ permit: { actions: ["read"] }, when }] } }), [
    "RuleBroken at spec.auth.accessPolicy[0].when[0]",
    "RuleBroken at spec.auth.accessPolicy[0].when[1]",
  ]);
  const trustedProxyCidrs = ["10.0.0.0/8", "10.0.0.0/33", "010.0.0.0/8", "::/129"];
  deepStrictEqual(
    failures({ ...OGX, ...NETWORK, auth: { upstreamHeader: { principalHeader: "x", trustedProxyCidrs } } }),
    [1, 2, 3].map((index) => `RuleBroken at spec.auth.upstreamHeader.trustedProxyCidrs[${index}]`),
  );
  deepStrictEqual(failures({ ...OGX, auth: { oidc: { ...OIDC.oidc, issuer: "http://${env.ISSUER:=}" } } }), [
    "RuleBroken at spec.auth.oidc.issuer",
  ]);
});

Deno.test("authenticateCallers() warns of tokens in clear text, tokens that the server can use, and expressions that it ignores", () => {
  const exposed = (networking: JsonObject) => warnings({ ...OGX, auth: WEBHOOK, networking });
  deepStrictEqual(exposed({ expose: {} }), ["TokensInClear at spec.networking.expose"]);
  deepStrictEqual(exposed({ expose: { tlsSecretName: "outside" } }), []);
  deepStrictEqual(exposed({ expose: {}, tls: { enabled: true, secretName: "inside" } }), []);
  deepStrictEqual(warnings({ ...OGX, auth: { kubernetes: {} } }), ["TokensShared at spec.auth.kubernetes"]);
  const permit = (resource: string) => ({ permit: { actions: ["read"], resource } });
  deepStrictEqual(
    warnings({
      ...OGX,
      auth: { ...WEBHOOK, accessPolicy: [permit("regex:("), permit("regex:(?i)model::(?P<name>.*)$")] },
    }),
    ["PatternInvalid at spec.auth.accessPolicy[0].permit.resource"],
  );
});

Deno.test("authenticateCallers() warns of rules for types that no resource has, and of networks of everyone", () => {
  const permit = (resource: string) => ({ permit: { actions: ["read"], resource } });
  const types = (...resources: ReadonlyArray<string>) =>
    warnings({ ...OGX, auth: { ...WEBHOOK, accessPolicy: resources.map(permit) } });
  deepStrictEqual(
    types("models::*", "vector_stores::a"),
    [0, 1].map((index) => `ResourceTypeUnknown at spec.auth.accessPolicy[${index}].permit.resource`),
  );
  deepStrictEqual(types("model::*", "vector_store::a::b", "sql_record::files::*", "tool_group::x"), []);
  const networks = (...trustedProxyCidrs: ReadonlyArray<string>) =>
    warnings({ ...OGX, ...NETWORK, auth: { upstreamHeader: { principalHeader: "x", trustedProxyCidrs } } });
  deepStrictEqual(
    networks("10.0.0.0/8", "0.0.0.0/0", "::/0"),
    [1, 2].map((index) => `EveryoneTrusted at spec.auth.upstreamHeader.trustedProxyCidrs[${index}]`),
  );
  deepStrictEqual(networks("10.0.0.0/8", "10.0.0.0/10"), []);
});

Deno.test("authenticateCallers() rejects prohibitions that nothing falls under, and another config", () => {
  const given = (auth: JsonObject, more: JsonObject = {}) => ({ ...OGX, auth: { ...WEBHOOK, ...auth }, ...more });
  deepStrictEqual(failures(given({ accessPolicy: [{ forbid: { actions: ["read"], resource: "models::*" } }] })), [
    "RuleBroken at spec.auth.accessPolicy[0].forbid.resource",
  ]);
  const routes = (effect: string, ...paths: ReadonlyArray<string>) =>
    given({ routePolicy: [{ [effect]: { paths } }, { permit: { paths: ["*"] } }] });
  deepStrictEqual(failures(routes("forbid", "/v1/*/llama", "/v1/models/*", "*", "regex:/v1/.*/x")), [
    "RuleBroken at spec.auth.routePolicy[0].forbid.paths[0]",
  ]);
  deepStrictEqual(warnings(routes("permit", "/v1/*/llama", "/v1/models/*")), [
    "PatternInvalid at spec.auth.routePolicy[0].permit.paths[0]",
  ]);
  const overrides = { env: [{ name: "OGX_CONFIG", value: "/tmp/other.yaml" }] };
  deepStrictEqual(failures(given({}, { workload: { overrides } })), [
    "RuleBroken at spec.workload.overrides.env[0]",
  ]);
});

Deno.test("authenticateCallers() writes the tenancy of the server, and where each authentication finds a tenant", () => {
  const single = { ...OGX, tenancy: { mode: "single", defaultTenantId: "one" } };
  deepStrictEqual(objectAt(config(single), "server", "tenancy"), { mode: "single", default_tenant_id: "one" });
  deepStrictEqual(objectAt(config(single), "server", "auth"), {});
  const tenant = (auth: JsonObject, more: JsonObject = {}) => {
    const made = config({ ...OGX, auth, tenancy: { mode: "multi" }, ...more });
    deepStrictEqual(objectAt(made, "server", "tenancy"), { mode: "multi" });
    return Object.entries(objectAt(made, "server", "auth", "provider_config")).filter(([key]) =>
      key.startsWith("tenant")
    );
  };
  deepStrictEqual(tenant({ oidc: { ...OIDC.oidc, tenantClaim: "org" } }), [["tenant_claim", "org"]]);
  deepStrictEqual(tenant({ introspection: { ...INTROSPECTION.introspection, tenantClaim: "org" } }), [[
    "tenant_claim",
    "org",
  ]]);
  deepStrictEqual(tenant({ webhook: { ...WEBHOOK.webhook, tenantField: "org" } }), [["tenant_field", "org"]]);
  deepStrictEqual(tenant({ upstreamHeader: { ...GATEWAY.upstreamHeader, tenantHeader: "x-org" } }, NETWORK), [[
    "tenant_header",
    "x-org",
  ]]);
});

Deno.test("authenticateCallers() rejects tenants on servers that have none", () => {
  deepStrictEqual(failures({ ...version("1.1.3"), tenancy: { mode: "single", defaultTenantId: "one" } }), [
    "NotSupportedByServer at spec.tenancy",
  ]);
  deepStrictEqual(failures({ ...version("1.1.3"), auth: { oidc: { ...OIDC.oidc, tenantClaim: "org" } } }), [
    "NotSupportedByServer at spec.auth.oidc.tenantClaim",
  ]);
});

Deno.test("authenticateCallers() rejects prohibitions that a server would ignore", () => {
  const ANYTHING = { permit: { actions: ["read"] } };
  const forbidden = { forbid: { actions: ["read"], resource: "regex:model::([" } };
  deepStrictEqual(failures({ ...OGX, auth: { ...OIDC, accessPolicy: [forbidden, ANYTHING] } }), [
    "RuleBroken at spec.auth.accessPolicy[0].forbid.resource",
  ]);
  deepStrictEqual(
    failures({ ...OGX, auth: { ...OIDC, routePolicy: [{ forbid: { paths: ["regex:/v1/(files"] } }, PERMIT] } }),
    ["RuleBroken at spec.auth.routePolicy[0].forbid.paths[0]"],
  );
});

Deno.test("authenticateCallers() warns of addresses beyond the cluster without TLS", () => {
  const of = (endpoint: string) => warnings({ ...OGX, auth: { webhook: { endpoint } } });
  for (
    const endpoint of [
      "http://who:8080/check",
      "http://who.team.svc/check",
      "http://who.team.svc.cluster.local",
      "https://x.io",
    ]
  ) deepStrictEqual(of(endpoint), [], endpoint);
  for (const endpoint of ["http://who.example.com/check", "http://10.0.0.1:80/"]) {
    deepStrictEqual(of(endpoint), ["TokensInClear at spec.auth.webhook.endpoint"], endpoint);
  }
});
