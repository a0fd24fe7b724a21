import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, isObject, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { lastLines } from "../../tools/cluster/background_process.ts";
import { INGRESS_NAMESPACE } from "./installed_operator.ts";
import { inPlace } from "./place.ts";
import { readSession } from "./session.ts";
import { whenReady } from "./served.ts";
import { INGRESS_CLASS, INGRESS_CONTROLLER, startTraefik } from "../traefik.ts";
import { eventually } from "../waiting.ts";

const HOST = "llama.example.com";

Deno.test("a server that serves HTTPS answers through a real ingress controller, which its NetworkPolicy admits", () =>
  inPlace("exposed", async (place) => {
    const folder = await Deno.makeTempDir();
    const serverName = `behind-service.${place.namespace}.svc`;
    const { certificateFile, keyFile, caFile } = await makeServerCertificate(folder, [serverName]);
    const [cert, key] = [await Deno.readTextFile(certificateFile), await Deno.readTextFile(keyFile)];
    await place.secret("certificate", { "tls.crt": cert, "tls.key": key, "ca.crt": cert });
    await place.create({
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: INGRESS_CLASS },
      spec: { controller: INGRESS_CONTROLLER },
    });
    await using controller = await startTraefik(readSession(), folder, { name: "servers", caFile, serverName });
    const networking: JsonObject = {
      tls: { enabled: true, secretName: "certificate" },
      expose: { hostname: HOST, ingressClassName: INGRESS_CLASS },
      allowedFrom: { namespaces: ["apps"] },
    };
    const answers = (status: number) =>
      eventually(`${status} from ${HOST}`, async () => {
        const answer = await controller.get(HOST, "/v1/providers");
        return answer.status === status ? answer : undefined;
      }).catch(async (cause) => {
        throw new Error(`${cause.message}\n${lastLines(await controller.log(), 20)}`, { cause });
      });
    await place.resource("behind", { distribution: { name: "starter" }, networking });
    const resource = await whenReady(place, "behind");
    strictEqual(stringAt(resource, "status", "routeURL"), `http://${HOST}`);
    // Traefik uses HTTPS, and verifies the certificate for the address of the pod, unless the Service names a transport.
    await answers(500);
    const serviceAnnotations = { "traefik.ingress.kubernetes.io/service.serverstransport": "servers@file" };
    await place.resource("behind", {
      distribution: { name: "starter" },
      networking: { ...networking, serviceAnnotations },
    });
    ok(JSON.parse((await answers(200)).text).data.length > 0);

    await place.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: INGRESS_NAMESPACE } });
    const policy = await place.read("NetworkPolicy", "behind-network-policy") ?? {};
    const labelsOf = async (namespace: string) =>
      objectAt(JSON.parse(await place.kubectl("get", "namespace", namespace, "-o", "json")), "metadata", "labels");
    deepStrictEqual(
      [admits(policy, await labelsOf(INGRESS_NAMESPACE)), admits(policy, await labelsOf("default"))],
      [true, false],
    );
    await Deno.remove(folder, { recursive: true });
  }));

/** The controller is a process of the node, which every policy admits, so the policy is compared with labels of a namespace. */
const admits = (policy: JsonObject, labels: JsonObject): boolean =>
  listAt(policy, "spec", "ingress").flatMap((rule) => listAt(rule, "from")).filter(isObject).some((peer) => {
    const wanted = at(peer, "namespaceSelector", "matchLabels");
    return isObject(wanted) && Object.entries(wanted).every(([name, value]) => labels[name] === value);
  });
