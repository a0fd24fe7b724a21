/** Additions to lists of the operator's objects, which others cannot own a part of, on a real API server with real definitions. */
import { tlsPair } from "../../tools/tls_pair.ts";
import { deepStrictEqual, ok } from "node:assert/strict";
import { at, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { gatewayDefinitions, prometheusDefinitions } from "../../tools/install/published_definitions.ts";
import { manifest } from "../given.ts";
import { eventually, stays } from "../waiting.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, read, ready, RESOURCES } from "./settled.ts";

const of = (group: string, plural: string, name: string): string =>
  `/apis/${group}/namespaces/default/${plural}/${name}`;
const PATHS = {
  NetworkPolicy: of("networking.k8s.io/v1", "networkpolicies", "my-network-policy"),
  HTTPRoute: of("gateway.networking.k8s.io/v1", "httproutes", "my"),
  BackendTLSPolicy: of("gateway.networking.k8s.io/v1", "backendtlspolicies", "my"),
  PodMonitor: of("monitoring.coreos.com/v1", "podmonitors", "my-metrics"),
  PrometheusRule: of("monitoring.coreos.com/v1", "prometheusrules", "my-metrics"),
  Ingress: of("networking.k8s.io/v1", "ingresses", "plain-ingress"),
};
type Kind = keyof typeof PATHS;

/** One for each field, since repeated changes of a field are taken back with increasing delay. */
const ADDITIONS: ReadonlyArray<readonly [kind: Kind, what: string, path: string, value: Json]> = [
  ["NetworkPolicy", "a rule that lets everything out", "/spec/egress/-", {}],
  ["NetworkPolicy", "the same peer in every namespace", "/spec/ingress/0/from/0/namespaceSelector", {}],
  ["NetworkPolicy", "a label that no pod has", "/spec/podSelector/matchLabels/nobody", "has-it"],
  ["HTTPRoute", "a Gateway", "/spec/parentRefs/-", { name: "other" }],
  ["HTTPRoute", "a host name", "/spec/hostnames/-", "other.example.com"],
  [
    "HTTPRoute",
    "a copy of each request",
    "/spec/rules/0/filters",
    [{ type: "RequestMirror", requestMirror: { backendRef: { name: "other", port: 80 } } }],
  ],
  ["BackendTLSPolicy", "a CA", "/spec/validation/caCertificateRefs/-", { group: "", kind: "ConfigMap", name: "other" }],
  ["PodMonitor", "an endpoint", "/spec/podMetricsEndpoints/-", { port: "http" }],
  ["PrometheusRule", "a rule", "/spec/groups/0/rules/-", { alert: "Other", expr: "vector(1)" }],
  ["Ingress", "a host", "/spec/rules/-", { host: "other.example.com" }],
];

const edited = async (cluster: ControlPlane, path: string, patch: JsonObject): Promise<void> => {
  const answer = await cluster.fetch(`${path}?fieldManager=by-hand`, {
    method: "PATCH",
    headers: { "content-type": "application/json-patch+json" },
    body: JSON.stringify([{ op: "add", ...patch }]),
  });
  ok(answer.ok, await answer.text());
};

const versions = (cluster: ControlPlane): Promise<ReadonlyArray<string | undefined>> =>
  Promise.all(
    Object.values(PATHS).map(async (path) => stringAt(await read(cluster, path), "metadata", "resourceVersion")),
  );

Deno.test("additions to what is applied as a whole are taken back once, beside the defaults of a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    for (const definition of [...await gatewayDefinitions(), ...await prometheusDefinitions()]) {
      await installDefinition(cluster, definition);
    }
    await using _operator = await started(cluster);
    const pair = await tlsPair(["my-service.default.svc"]);
    await cluster.kubectl(["create", "configmap", "ca", `--from-literal=ca.crt=${pair["ca.crt"]}`]);
    await cluster.kubectl([
      "create",
      "secret",
      "generic",
      "tls",
      `--from-literal=tls.crt=${pair["tls.crt"]}`,
      `--from-literal=tls.key=${pair["tls.key"]}`,
    ]);
    const peer: JsonObject = { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } };
    const networking: JsonObject = {
      tls: { enabled: true, secretName: "tls" },
      policy: {
        ingress: [{ from: [peer] }, { ports: [{ port: 9000 }] }],
        egress: [{ to: [peer], ports: [{ port: 443 }] }],
      },
      expose: { hostname: "h.example.com", gateway: { parentRefs: [{ name: "public" }], caConfigMapName: "ca" } },
    };
    const server = (more: JsonObject = {}): JsonObject =>
      manifest({ distribution: { name: "starter" }, monitoring: {}, networking: { ...networking, ...more } });
    await apply(cluster, server());
    await apply(cluster, manifest({ networking: { expose: { hostname: "i.example.com" } } }, "plain"));
    for (const [kind, path] of Object.entries(PATHS)) {
      await eventually(`there is a ${kind}`, async () => (await read(cluster, path)).kind === kind || undefined);
    }
    await ready(cluster, "my");
    await ready(cluster, "plain");

    await t.step("the defaults of the API server and of definitions lead to no write", async () => {
      const before = await versions(cluster);
      await apply(cluster, server({ serviceAnnotations: { a: "b" } }));
      await eventually("the next edit is applied", async () => {
        const service = await read(cluster, "/api/v1/namespaces/default/services/my-service");
        return at(service, "metadata", "annotations", "a") === "b" || undefined;
      });
      await ready(cluster, "my");
      deepStrictEqual(await versions(cluster), before);
    });

    for (const [kind, what, path, value] of ADDITIONS) {
      await t.step(`${kind}: ${what}`, async () => {
        const { spec: before } = await read(cluster, PATHS[kind]);
        await edited(cluster, PATHS[kind], { path, value });
        await eventually("it is as it was", async () => {
          const { spec } = await read(cluster, PATHS[kind]);
          return JSON.stringify(spec) === JSON.stringify(before) || undefined;
        });
      });
    }

    await t.step("a group of rules that another manager adds is left unchanged", async () => {
      const own = { name: "others", rules: [{ alert: "Other", expr: "vector(1)" }] };
      await edited(cluster, PATHS.PrometheusRule, { path: "/spec/groups/-", value: own });
      await apply(cluster, server({ serviceAnnotations: { a: "c" } }));
      await eventually("the next edit is applied", async () => {
        const service = await read(cluster, "/api/v1/namespaces/default/services/my-service");
        return at(service, "metadata", "annotations", "a") === "c" || undefined;
      });
      await ready(cluster, "my");
      deepStrictEqual(listAt(await read(cluster, PATHS.PrometheusRule), "spec", "groups")[1], own);
    });

    await t.step("nothing is written again and again", async () => {
      await stays(async () => JSON.stringify(await versions(cluster)));
      for (const type of ["Contested", "ChangedByPolicy", "ObjectRefused"]) {
        deepStrictEqual(condition(await read(cluster, `${RESOURCES}/my`), type), undefined);
      }
    });
  } finally {
    await cluster.stop();
  }
});

const started = async (cluster: ControlPlane): Promise<AsyncDisposable> => {
  const operator = await startOperator(cluster);
  return { [Symbol.asyncDispose]: operator.stop };
};
