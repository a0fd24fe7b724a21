/** An HTTPRoute and a BackendTLSPolicy on a real API server, with what a controller of Gateways writes. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type JsonObject, listAt, member, objectAt, put, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { eventually } from "../waiting.ts";
import { startOperator } from "./operator.ts";
import { installGatewayKinds } from "./optional_definitions.ts";
import { apply, condition, read, ready, RESOURCES } from "./settled.ts";

const GROUP = "/apis/gateway.networking.k8s.io/v1/namespaces/default";
const ROUTE = `${GROUP}/httproutes/my`;
const POLICY = `${GROUP}/backendtlspolicies/my`;
const INGRESS = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/my-ingress";
const PARENT = { name: "public", namespace: "gateways", sectionName: "https" };
const GATEWAY: JsonObject = { hostname: "h.example.com", gateway: { parentRefs: [PARENT], caConfigMapName: "ca" } };

const exposed = (expose: JsonObject | undefined, tls?: JsonObject): JsonObject =>
  manifest({
    distribution: { name: "starter" },
    networking: { ...(expose === undefined ? {} : { expose }), ...(tls === undefined ? {} : { tls }) },
  });

const isThere = async (cluster: ControlPlane, path: string): Promise<boolean> => {
  const answer = await cluster.fetch(path);
  await answer.body?.cancel();
  return answer.ok;
};

const becomes = (cluster: ControlPlane, path: string, wanted: boolean) =>
  eventually(
    `${path} is ${wanted ? "there" : "gone"}`,
    async () => (await isThere(cluster, path)) === wanted || undefined,
  );

/** The reason of GatewayAccepted. */
const reason = (cluster: ControlPlane, wanted: string) =>
  eventually(`GatewayAccepted has the reason ${wanted}`, async () => {
    const found = condition(await read(cluster, `${RESOURCES}/my`), "GatewayAccepted");
    return stringAt(found, "reason") === wanted ? stringAt(found, "message") ?? "" : undefined;
  });

/** As a controller does. */
const answer = async (cluster: ControlPlane, path: string, status: JsonObject): Promise<void> => {
  const answered = await cluster.fetch(`${path}/status`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ status }),
  });
  ok(answered.ok, await answered.text());
};

const conditions = (isAccepted: boolean, observedGeneration: number): ReadonlyArray<JsonObject> =>
  ["Accepted", "ResolvedRefs"].map((type) => ({
    type,
    status: isAccepted || type === "ResolvedRefs" ? "True" : "False",
    reason: isAccepted ? type : "NotAllowedByListeners",
    message: "",
    observedGeneration,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }));

const parents = (isAccepted: boolean, observedGeneration: number, parentRef: JsonObject = PARENT): JsonObject => ({
  parents: [{
    parentRef,
    controllerName: "example.com/c",
    conditions: [...conditions(isAccepted, observedGeneration)],
  }],
});

const generationOf = async (cluster: ControlPlane): Promise<number> =>
  Number(at(await read(cluster, ROUTE), "metadata", "generation"));

Deno.test("a server follows its Gateway on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log: Array<string> = [];
  const console_log = console.log;
  console.log = (line: unknown) => void log.push(typeof line === "string" ? line : JSON.stringify(line));
  /** What is made from now on is made by the settings in this version; `none`: without them. */
  const settingsCount = (version: string) =>
    eventually(
      `the settings ${version} count`,
      () =>
        log.some((line) => line.includes('"settings loaded"') && line.includes(`"version":"${version}"`)) || undefined,
    );
  try {
    let operator = await startOperator(cluster);
    try {
      await t.step("without the Gateway API the server is ready, and its condition names what is missing", async () => {
        await apply(cluster, exposed({ enabled: true }));
        await becomes(cluster, INGRESS, true);
        await apply(cluster, exposed(GATEWAY));
        ok((await reason(cluster, "GatewayUnavailable")).includes("no kind HTTPRoute"));
        await ready(cluster, "my");
        strictEqual(await isThere(cluster, INGRESS), true);
        await installGatewayKinds(cluster, "GatewayClass");
        strictEqual(await isThere(cluster, ROUTE), false);
      });

      await t.step("the HTTPRoute comes with its kind, and the Ingress stays meanwhile", async () => {
        await installGatewayKinds(cluster, "HTTPRoute", "BackendTLSPolicy");
        await becomes(cluster, ROUTE, true);
        const { spec } = await read(cluster, ROUTE);
        deepStrictEqual(at(spec, "hostnames"), ["h.example.com"]);
        ok((await reason(cluster, "Waiting")).includes("Gateway gateways/public (listener https)"));
        deepStrictEqual([await isThere(cluster, POLICY), await isThere(cluster, INGRESS)], [false, true]);
      });

      await t.step(
        "the status repeats what the controller answers, and the HTTPRoute takes the Ingress's place",
        async () => {
          await answer(cluster, ROUTE, parents(false, await generationOf(cluster)));
          const refused = await reason(cluster, "GatewayRefused");
          ok(refused.includes("NotAllowedByListeners") && refused.endsWith("Ingress my-ingress exposes the server"));
          strictEqual(await isThere(cluster, INGRESS), true);
          await ready(cluster, "my");
          await answer(cluster, ROUTE, parents(true, await generationOf(cluster)));
          await reason(cluster, "GatewayAccepted");
          await becomes(cluster, INGRESS, false);
          const resource = await ready(cluster, "my");
          strictEqual(stringAt(resource, "status", "routeURL"), "https://h.example.com");
        },
      );

      await t.step("an answer to a former generation does not count", async () => {
        await apply(cluster, exposed({ ...GATEWAY, hostname: "other.example.com" }));
        await reason(cluster, "Waiting");
        await answer(cluster, ROUTE, parents(true, await generationOf(cluster)));
        await reason(cluster, "GatewayAccepted");
      });

      await t.step("a server with TLS has a BackendTLSPolicy with a name of its certificate", async () => {
        const folder = await Deno.makeTempDir();
        const name = "my-service.default.svc.cluster.local";
        const { certificateFile, keyFile } = await makeServerCertificate(folder, [name]);
        const data = {
          "tls.crt": await Deno.readTextFile(certificateFile),
          "tls.key": await Deno.readTextFile(keyFile),
        };
        await Deno.remove(folder, { recursive: true });
        await apply(cluster, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "tls" },
          type: "kubernetes.io/tls",
          stringData: data,
        });
        await apply(cluster, exposed(GATEWAY, { enabled: true, secretName: "tls" }));
        ok((await reason(cluster, "GatewayUnavailable")).includes('ConfigMap "ca" does not exist'));
        await ready(cluster, "my");
        await apply(cluster, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "ca" },
          data: { "ca.crt": data["tls.crt"] },
        });
        await reason(cluster, "Waiting");
        const policy = await read(cluster, POLICY);
        strictEqual(at(policy, "spec", "validation", "hostname"), name);
        const ancestors = [{
          ancestorRef: PARENT,
          controllerName: "example.com/c",
          conditions: [...conditions(false, Number(at(policy, "metadata", "generation")))],
        }];
        await answer(cluster, POLICY, { ancestors });
        ok((await reason(cluster, "GatewayRefused")).includes("BackendTLSPolicy"));
        await apply(
          cluster,
          exposed({ ...GATEWAY, gateway: { parentRefs: [PARENT] } }, { enabled: true, secretName: "tls" }),
        );
        await becomes(cluster, POLICY, false);
        ok((await reason(cluster, "GatewayUnavailable")).includes("caConfigMapName"));
      });

      await t.step(
        "a gateway that is no longer named gives way to an Ingress, and all of it goes with expose",
        async () => {
          await apply(cluster, exposed({ enabled: true }));
          await becomes(cluster, ROUTE, false);
          await becomes(cluster, INGRESS, true);
          await apply(cluster, exposed(GATEWAY));
          await becomes(cluster, ROUTE, true);
          await answer(cluster, ROUTE, parents(true, await generationOf(cluster)));
          await becomes(cluster, INGRESS, false);
          await apply(cluster, exposed(undefined));
          await becomes(cluster, ROUTE, false);
          const resource = await ready(cluster, "my");
          deepStrictEqual([condition(resource, "GatewayAccepted"), member(objectAt(resource, "status"), "routeURL")], [
            undefined,
            undefined,
          ]);
        },
      );

      await t.step(
        "the setting exposes new servers that name no Gateway, and others once they ask for one",
        async () => {
          await apply(cluster, exposed({ enabled: true }));
          await becomes(cluster, INGRESS, true);
          const setting = "--from-literal=gateway.parentRefs=[{name: usual, namespace: gateways}]";
          await cluster.kubectl(["create", "configmap", SETTINGS_CONFIG_MAP, "-n", "default", setting]);
          const settings = await read(cluster, `/api/v1/namespaces/default/configmaps/${SETTINGS_CONFIG_MAP}`);
          await settingsCount(stringAt(settings, "metadata", "resourceVersion") ?? "");
          await apply(cluster, { ...exposed({ enabled: true }), metadata: { name: "new" } });
          await becomes(cluster, `${GROUP}/httproutes/new`, true);
          await apply(cluster, exposed({ hostname: "h.example.com" }));
          await eventually("the Ingress has the host name", async () => {
            const [rule] = listAt(await read(cluster, INGRESS), "spec", "rules");
            return stringAt(rule, "host") === "h.example.com" || undefined;
          });
          await ready(cluster, "my");
          strictEqual(await isThere(cluster, ROUTE), false);
          await apply(cluster, exposed({ gateway: {} }));
          await becomes(cluster, ROUTE, true);
          const usual = { name: "usual", namespace: "gateways" };
          await answer(cluster, ROUTE, parents(true, await generationOf(cluster), usual));
          await becomes(cluster, INGRESS, false);
        },
      );

      await t.step("an HTTPRoute of the setting stays without the setting, also over a restart", async () => {
        const route = `${GROUP}/httproutes/new`;
        const ingressOf = (name: string) => INGRESS.replace("my-", `${name}-`);
        const { metadata, spec } = await read(cluster, route);
        const isKept = async () => {
          const found = await read(cluster, route);
          deepStrictEqual([stringAt(found, "metadata", "uid"), found.spec], [stringAt(metadata, "uid"), spec]);
          deepStrictEqual(
            [await isThere(cluster, ROUTE), await isThere(cluster, INGRESS), await isThere(cluster, ingressOf("new"))],
            [true, false, false],
          );
        };
        await cluster.kubectl(["delete", "configmap", SETTINGS_CONFIG_MAP, "-n", "default"]);
        await settingsCount("none");
        await apply(cluster, { ...exposed({ enabled: true }), metadata: { name: "later" } });
        await becomes(cluster, ingressOf("later"), true);
        // Another edit of both, of which neither is about the exposure.
        for (const [resource, expose] of [["my", { gateway: {} }], ["new", { enabled: true }]] as const) {
          const edited = put(exposed(expose), ["spec", "networking", "serviceAnnotations"], { a: "b" }) as JsonObject;
          await apply(cluster, { ...edited, metadata: { name: resource } });
          await ready(cluster, resource);
        }
        await isKept();
        const invalid = "--from-literal=gateway.parentRefs=[{name: Pub_lic}]";
        await cluster.kubectl(["create", "configmap", SETTINGS_CONFIG_MAP, "-n", "default", invalid]);
        await operator.stop();
        operator = await startOperator(cluster, { install: false });
        await apply(cluster, { ...exposed({ enabled: true }), metadata: { name: "last" } });
        await becomes(cluster, ingressOf("last"), true);
        await apply(cluster, { ...exposed({ hostname: "n.example.com" }), metadata: { name: "new" } });
        await eventually("the HTTPRoute has the host name", async () => {
          const found = await read(cluster, route);
          return listAt(found, "spec", "hostnames")[0] === "n.example.com" || undefined;
        });
        await ready(cluster, "new");
        strictEqual(await isThere(cluster, ingressOf("new")), false);
        strictEqual(await isThere(cluster, ROUTE), true);
      });

      await t.step("whoever deletes it gets the Ingress", async () => {
        await cluster.kubectl(["delete", "httproutes.gateway.networking.k8s.io", "new", "-n", "default"]);
        await becomes(cluster, INGRESS.replace("my-", "new-"), true);
        await becomes(cluster, `${GROUP}/httproutes/new`, false);
      });
    } finally {
      await operator.stop();
    }
  } finally {
    console.log = console_log;
    await cluster.stop();
  }
});
