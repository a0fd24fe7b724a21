import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { decoded } from "../../tests/given.ts";
import { objectOf, objects } from "../../tests/objects.ts";
import { at, type JsonObject, listAt } from "../data/json.ts";
import { gatewayWarnings } from "./http_route.ts";
import { policyWarnings } from "./network_policy.ts";
import { NOWHERE } from "./of_resource.ts";

const PUBLIC = [{ name: "public", namespace: "gateways", sectionName: "https" }];
const PLATFORM = { ...NOWHERE.platform, served: ["HTTPRoute", "BackendTLSPolicy"] as const };
const PLACE = { platform: PLATFORM };
const TLS = { enabled: true, secretName: "t" };
const kinds = (spec: JsonObject, place = {}) =>
  objects(spec, { ...PLACE, ...place }).map(({ kind }) => kind).filter((kind) => KINDS.includes(kind));
const KINDS = ["Ingress", "Route", "HTTPRoute", "BackendTLSPolicy"];
const exposed = (gateway: JsonObject, more: JsonObject = {}) => ({ networking: { ...more, expose: { gateway } } });

Deno.test("httpRoute() attaches the Service to the gateways, without a time limit for streams", () => {
  const expose = { hostname: "h.example.com", annotations: { a: "b" }, gateway: { parentRefs: PUBLIC } };
  const made = objectOf("HTTPRoute", { networking: { port: 9000, expose } }, PLACE);
  deepStrictEqual([made?.metadata.name, at(made, "metadata", "annotations", "a")], ["my", "b"]);
  deepStrictEqual(made?.spec, {
    parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", ...PUBLIC[0] }],
    hostnames: ["h.example.com"],
    rules: [{
      matches: [{ path: { type: "PathPrefix", value: "/" } }],
      timeouts: { request: "0s" },
      backendRefs: [{ group: "", kind: "Service", name: "my-service", port: 9000, weight: 1 }],
    }],
  });
});

Deno.test("a gateway takes the place of an Ingress and of a Route, whether or not its kinds are served", () => {
  const spec = exposed({ parentRefs: PUBLIC });
  const served = (...kinds: ReadonlyArray<"Route" | "HTTPRoute">) => ({ platform: { ...PLATFORM, served: kinds } });
  deepStrictEqual(kinds(spec), ["HTTPRoute"]);
  deepStrictEqual(kinds(spec, served("Route", "HTTPRoute")), ["HTTPRoute"]);
  deepStrictEqual(kinds(spec, served("Route")), []);
  deepStrictEqual(kinds({ networking: { expose: {} } }), ["Ingress"]);
  deepStrictEqual(kinds({ networking: { expose: { enabled: false, gateway: { parentRefs: PUBLIC } } } }), []);
});

Deno.test("the gateway of the settings is used by servers that name none and do not ask for an Ingress", () => {
  const place = { platform: { ...PLATFORM, gatewayParentRefs: [{ name: "usual", namespace: "gateways" }] } };
  const parents = (spec: JsonObject) =>
    listAt(objectOf("HTTPRoute", spec, place), "spec", "parentRefs").map((parent) => at(parent, "name"));
  deepStrictEqual(parents({ networking: { expose: {} } }), ["usual"]);
  deepStrictEqual(parents(exposed({})), ["usual"]);
  deepStrictEqual(parents(exposed({ parentRefs: PUBLIC })), ["public"]);
  deepStrictEqual(kinds({}, place), []);
  const expose = { annotations: { a: "b" } };
  strictEqual(at(objectOf("HTTPRoute", { networking: { expose } }, place), "metadata", "annotations", "a"), undefined);
  deepStrictEqual(kinds({ networking: { expose, tls: TLS } }, place), ["Ingress"]);
  deepStrictEqual(kinds({ networking: { expose } }, { platform: { ...place.platform, served: [] } }), ["Ingress"]);
  deepStrictEqual(kinds({ networking: { expose: { ingressClassName: "nginx" } } }, place), ["Ingress"]);
  deepStrictEqual(kinds({ networking: { expose: { tlsSecretName: "t" } } }, place), ["Ingress"]);
});

for (
  const [what, names, hostname] of [
    ["that is not known", undefined, "my-service.default.svc"],
    ["of the Service", ["my-service", "my-service.default.svc.cluster.local"], "my-service.default.svc.cluster.local"],
    ["with a wildcard for the Service", ["*.default.svc"], "my-service.default.svc"],
    ["of the host name", ["other.example.com", "h.example.com"], "h.example.com"],
    ["of another name", ["10.0.0.1", "*.example.org", "Llama.example.org"], "llama.example.org"],
    ["of addresses only", ["10.0.0.1", "fd00::1"], undefined],
  ] as const
) {
  Deno.test(`backendTlsPolicy() verifies a certificate ${what} by ${hostname ?? "nothing"}`, () => {
    const expose = { hostname: "h.example.com", gateway: { parentRefs: PUBLIC, caConfigMapName: "ca" } };
    const spec = { networking: { tls: TLS, expose } };
    const made = objectOf("BackendTLSPolicy", spec, { ...PLACE, certificateNames: names });
    deepStrictEqual(
      made?.spec,
      hostname === undefined ? undefined : {
        targetRefs: [{ group: "", kind: "Service", name: "my-service", sectionName: "http" }],
        validation: { caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "ca" }], hostname },
      },
    );
    strictEqual(
      at(listAt(objectOf("Service", spec, PLACE), "spec", "ports")[0], "name"),
      "http",
    );
  });
}

Deno.test("gatewayWarnings() tells of a server that the gateway cannot verify, and of a gateway that nobody names", () => {
  const at = (spec: JsonObject, more = {}) =>
    gatewayWarnings({
      name: "my",
      namespace: "default",
      spec: decoded(spec).spec,
      platform: PLATFORM,
      certificateNames: undefined,
      missingGatewayCa: undefined,
      ...more,
    }).map(({ code }) => code);
  const parentRefs = PUBLIC;
  deepStrictEqual(at(exposed({ parentRefs })), []);
  deepStrictEqual(at(exposed({ parentRefs, caConfigMapName: "ca" }, { tls: TLS })), []);
  deepStrictEqual(at(exposed({ parentRefs }, { tls: TLS })), ["GatewayCannotVerify"]);
  deepStrictEqual(
    at(exposed({ parentRefs, caConfigMapName: "ca" }, { tls: TLS }), { certificateNames: ["10.0.0.1"] }),
    [
      "GatewayCannotVerify",
    ],
  );
  deepStrictEqual(at(exposed({})), ["GatewayNotNamed"]);
  deepStrictEqual(at({ networking: { expose: {}, tls: TLS } }), []);
  deepStrictEqual(kinds(exposed({})), []);
  deepStrictEqual(kinds(exposed({ parentRefs }, { tls: TLS })), ["HTTPRoute"]);
});

Deno.test("networkPolicy() allows the namespace of the gateway, and policyWarnings() tells where the pods may be elsewhere", () => {
  const spec = (namespace: string) => ({
    networking: { allowedFrom: {}, expose: { gateway: { parentRefs: [{ name: "g", namespace }] } } },
  });
  const from = listAt(listAt(objectOf("NetworkPolicy", spec("infra"), PLACE), "spec", "ingress")[0], "from");
  ok(from.some((peer) => at(peer, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name") === "infra"));
  const told = (namespace: string) =>
    policyWarnings({ spec: decoded(spec(namespace)).spec, platform: PLATFORM, metrics: { kind: "off" } })
      .map(({ message }) => message);
  ok(told("infra")[0]?.includes("the pods of the gateway"));
  deepStrictEqual(told("istio-ingress"), []);
});
