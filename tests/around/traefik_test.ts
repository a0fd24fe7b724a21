/** A real Traefik routes requests to servers with TLS: through a Gateway and through an Ingress. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { lastLines } from "../../tools/cluster/background_process.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { gatewayDefinitions } from "../../tools/install/published_definitions.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { startOperator } from "../cluster/operator.ts";
import { apply, condition, read, RESOURCES } from "../cluster/settled.ts";
import { manifest } from "../given.ts";
import { GATEWAY_CONTROLLER, INGRESS_CLASS, INGRESS_CONTROLLER, startTraefik, type Traefik } from "../traefik.ts";
import { eventually, pause } from "../waiting.ts";

const PARENT = { name: "public", namespace: "gateways", sectionName: "web" };
const [ROUTED, INGRESSED] = ["routed.example.com", "ingressed.example.com"];
const TLS = { enabled: true, secretName: "tls" };
/** How Traefik is to verify the server behind an Ingress: an Ingress has no field for it. */
const TRANSPORT = { "traefik.ingress.kubernetes.io/service.serverstransport": "servers@file" };

/** How long an answer lasts; gateways usually limit requests to ten minutes and less, if they limit them. */
const STREAM_SECONDS = Number(Deno.env.get("STREAM_SECONDS") ?? 60);

/** What the resource `name` is exposed by. */
const server = (name: string, expose: JsonObject, more: JsonObject = {}): JsonObject =>
  manifest({ distribution: { name: "starter" }, networking: { tls: TLS, expose, ...more } }, name);

const behindGateway = (hostname: string): JsonObject => ({
  hostname,
  gateway: { parentRefs: [PARENT], caConfigMapName: "ca" },
});

Deno.test("requests and streams reach servers with TLS through a real Traefik, by Gateway and by Ingress", async (t) => {
  const folder = await Deno.makeTempDir();
  const [own, other] = [`${folder}/own`, `${folder}/other`];
  for (const place of [own, other]) await Deno.mkdir(place);
  const address = ownAddress();
  const names = ["routed", "ingressed"].map((name) => `${name}-service.default.svc`);
  const certificate = await makeServerCertificate(own, names);
  const foreign = await makeServerCertificate(other, names);
  const [cert, key] = await Promise.all(
    [certificate.certificateFile, certificate.keyFile].map((file) => Deno.readTextFile(file)),
  ) as [string, string];
  const cluster = await startControlPlane();
  try {
    for (const definition of await gatewayDefinitions()) {
      await installDefinition(cluster, definition);
    }
    const [port = 0] = freePorts(1);
    await using pod = startPod(address, port, cert, key);
    await using traefik = await startTraefik(
      cluster,
      folder,
      { name: "servers", caFile: certificate.caFile, serverName: names[1] ?? "" },
      ["kubernetesingress", "kubernetesgateway"],
    );
    await using _operator = await started(cluster);
    await cluster.kubectl(["create", "namespace", PARENT.namespace]);
    for (const object of [...gateway(traefik.port), secret(cert, key)]) await applied(cluster, object);
    await applied(cluster, authority(cert));
    await apply(cluster, server("routed", behindGateway(ROUTED)));
    const byIngress = { hostname: INGRESSED, ingressClassName: INGRESS_CLASS };
    await apply(cluster, server("ingressed", byIngress, { serviceAnnotations: TRANSPORT }));
    for (const name of ["routed", "ingressed"]) await applied(cluster, endpoints(name, address, port));

    const answers = (host: string, status: number) =>
      eventually(`${status} from ${host}`, async () => {
        const answer = await traefik.get(host, "/v1/version");
        return answer.status === status ? answer.text : undefined;
      }).catch(async (cause) => {
        throw new Error(`${cause.message}\n${lastLines(await traefik.log(), 20)}`, { cause });
      });
    const told = (name: string, reason: string) =>
      eventually(`${name}: GatewayAccepted has the reason ${reason}`, async () => {
        const found = condition(await read(cluster, `${RESOURCES}/${name}`), "GatewayAccepted");
        return stringAt(found, "reason") === reason ? stringAt(found, "message") ?? "" : undefined;
      });

    await t.step("a request reaches the server through the Gateway, and Traefik accepts the objects", async () => {
      strictEqual(await answers(ROUTED, 200), "served over HTTPS");
      await told("routed", "GatewayAccepted");
      strictEqual(stringAt(await read(cluster, `${RESOURCES}/routed`), "status", "routeURL"), `https://${ROUTED}`);
    });

    await t.step("a request reaches the server through the Ingress", async () => {
      strictEqual(await answers(INGRESSED, 200), "served over HTTPS");
    });

    await t.step("a stream arrives one token at a time, and is not cut", async () => {
      await Promise.all([ROUTED, INGRESSED].map((host) => streamed(traefik, pod, host)));
    });

    await t.step(
      "with the CA of another server Traefik accepts everything and answers 500; the status says why",
      async () => {
        await applied(cluster, authority(await Deno.readTextFile(foreign.certificateFile)));
        await answers(ROUTED, 500);
        ok((await told("routed", "GatewayUnavailable")).includes("another CA"));
        deepStrictEqual(await refusals(cluster), []);
        await applied(cluster, authority(cert));
        await answers(ROUTED, 200);
        await told("routed", "GatewayAccepted");
      },
    );

    await t.step("a refused HTTPRoute leaves the Ingress, by which the server is reached meanwhile", async () => {
      await apply(
        cluster,
        server("ingressed", behindGateway("elsewhere.example.org"), { serviceAnnotations: TRANSPORT }),
      );
      const message = await told("ingressed", "GatewayRefused");
      ok(message.includes("NoMatchingListenerHostname"), message);
      ok(message.endsWith("Ingress ingressed-ingress exposes the server"), message);
      strictEqual(await answers(INGRESSED, 200), "served over HTTPS");
      const hostname = "moved.example.com";
      await apply(cluster, server("ingressed", behindGateway(hostname), { serviceAnnotations: TRANSPORT }));
      await told("ingressed", "GatewayAccepted");
      await answers(hostname, 200);
      // Nobody routes it any more.
      await answers(INGRESSED, 404);
    });
  } finally {
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** An EndpointSlice takes no address of loopback. */
const ownAddress = (): string => {
  const found = Object.values(networkInterfaces()).flat().find((one) => one?.family === "IPv4" && !one.internal);
  ok(found !== undefined, "this test needs a network interface with an IPv4 address besides loopback");
  return found.address;
};

interface Pod extends AsyncDisposable {
  /** Sends a text on the stream of the client with this name; `undefined` ends it. */
  say(client: string, text: string | undefined): void;
}

/** Takes the place of the pods of every server. */
const startPod = (hostname: string, port: number, cert: string, key: string): Pod => {
  const streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const listener = Deno.serve({ hostname, port, cert, key, onListen: () => {} }, ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname !== "/stream") return new Response("served over HTTPS");
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void streams.set(searchParams.get("client") ?? "", controller),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    say: (client, text) => {
      const stream = streams.get(client);
      if (text === undefined) stream?.close();
      else stream?.enqueue(new TextEncoder().encode(text));
    },
    [Symbol.asyncDispose]: () => listener.shutdown(),
  };
};

/** Each token is sent when the one before has arrived; for the second half of its length the stream is silent but for its end. */
const streamed = async (traefik: Traefik, pod: Pod, host: string): Promise<void> => {
  const stream = await traefik.stream(host, `/stream?client=${host}`);
  const count = Math.ceil(STREAM_SECONDS / 2);
  const said = (index: number) => `data: ${index}\n\n`;
  pod.say(host, said(0));
  const received: Array<string> = [];
  for await (const part of stream) {
    received.push(part);
    const index = received.length;
    if (index > count) pod.say(host, undefined);
    else {
      await pause(index === count ? STREAM_SECONDS * 500 : 1000);
      pod.say(host, said(index));
    }
  }
  deepStrictEqual(received, Array.from({ length: count + 1 }, (_, index) => said(index)));
};

const gateway = (port: number): ReadonlyArray<JsonObject> => [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: INGRESS_CLASS },
    spec: { controller: INGRESS_CONTROLLER },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "GatewayClass",
    metadata: { name: "traefik" },
    spec: { controllerName: GATEWAY_CONTROLLER },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: PARENT.name, namespace: PARENT.namespace },
    spec: {
      gatewayClassName: "traefik",
      listeners: [{
        name: PARENT.sectionName,
        port,
        protocol: "HTTP",
        hostname: "*.example.com",
        allowedRoutes: { namespaces: { from: "All" } },
      }],
    },
  },
];

const secret = (cert: string, key: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: TLS.secretName, namespace: "default" },
  type: "kubernetes.io/tls",
  stringData: { "tls.crt": cert, "tls.key": key },
});

const authority = (pem: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "ca", namespace: "default" },
  data: { "ca.crt": pem },
});

/** As the controller makes it for a ready pod. */
const endpoints = (name: string, address: string, port: number): JsonObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name: `${name}-service`,
    namespace: "default",
    labels: { "kubernetes.io/service-name": `${name}-service` },
  },
  addressType: "IPv4",
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: "http", port, protocol: "TCP" }],
});

const applied = (cluster: ControlPlane, object: JsonObject): Promise<string> =>
  cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], JSON.stringify(object));

/** Conditions that are not True, of all that Traefik says about the server behind the Gateway. */
const refusals = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const group = "/apis/gateway.networking.k8s.io/v1/namespaces/default";
  const objects = await Promise.all(
    ["httproutes", "backendtlspolicies"].map((kind) => read(cluster, `${group}/${kind}/routed`)),
  );
  const conditions = objects.flatMap(({ status }) => [...listAt(status, "parents"), ...listAt(status, "ancestors")])
    .flatMap((one) => listAt(one, "conditions"));
  ok(conditions.length > 0);
  return conditions.filter((one) => stringAt(one, "status") !== "True").map((one) => stringAt(one, "message") ?? "");
};

const started = async (cluster: ControlPlane): Promise<AsyncDisposable> => {
  const operator = await startOperator(cluster);
  return { [Symbol.asyncDispose]: operator.stop };
};
