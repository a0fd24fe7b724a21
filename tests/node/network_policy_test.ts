/** NetworkPolicies of servers where something enforces them: a real engine decides who may connect, and the pods try. */
import { deepStrictEqual } from "node:assert/strict";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { IMAGES } from "../../tools/cluster/real_node/images.ts";
import { DNS_ADDRESS, HOST_ADDRESS } from "../../tools/cluster/real_node/private_host.ts";
import { NAMESPACE } from "../../tools/package/names.ts";
import { withModels } from "../server/stored_state.ts";
import { eventually, KUBECTL_LIMIT } from "../waiting.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { podName, podsOf, resourceWhen, whenReady, word } from "./served.ts";
import { readSession } from "./session.ts";

const METRICS = 9464;
const SERVER = 8321;
/** Where each pod of the test listens: a port of its own, and that of DNS in a pod without privileges. */
const [APP, DNS] = [8080, 5353];

const LISTEN = `
import socket, sys, threading
def serve(port):
    listener = socket.create_server(("", port))
    while True:
        listener.accept()[0].close()
for port in sys.argv[1:]:
    threading.Thread(target=serve, args=(int(port),)).start()
`;

/** Prints the targets that can be connected to. An attempt ends after the seconds of the first argument. */
const CONNECT = `
import socket, sys
for target in sys.argv[2:]:
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), float(sys.argv[1])).close()
        print(target)
    except OSError:
        pass
`;

/** A pod from which and to which the test connects, allowed in the namespace of the operator too. */
const POD: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "peer" },
  spec: {
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: "RuntimeDefault" } },
    containers: [{
      name: "peer",
      image: IMAGES.ogxStarter,
      imagePullPolicy: "Never",
      command: ["python3", "-c", LISTEN, String(APP), String(DNS)],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    }],
  },
};

interface Peer {
  readonly address: string;
  /** Those of the targets that it can connect to. */
  reached(targets: ReadonlyArray<string>): Promise<ReadonlyArray<string>>;
}

const reachedFrom = (place: Place, pod: string, namespace = place.namespace): Peer["reached"] => async (targets) => {
  const told = await place.kubectl("exec", "-n", namespace, pod, "--", "python3", "-c", CONNECT, "3", ...targets);
  return told.split("\n").filter((line) => line !== "");
};

const startPeer = async (place: Place, namespace = place.namespace): Promise<Peer> => {
  const inNamespace = ["-n", namespace];
  await place.create({ ...POD, metadata: { name: "peer", namespace } });
  await place.kubectl("wait", ...inNamespace, "--for=condition=Ready", "pod/peer", KUBECTL_LIMIT);
  const pod = JSON.parse(await place.kubectl("get", ...inNamespace, "pod", "peer", "-o", "json"));
  const peer: Peer = {
    address: stringAt(pod, "status", "podIP") ?? "",
    reached: reachedFrom(place, "peer", namespace),
  };
  await eventually(`the pod of ${namespace} listens`, async () => {
    const own = [APP, DNS].map((port) => `${peer.address}:${port}`);
    return (await peer.reached(own)).length === own.length || undefined;
  });
  return peer;
};

/** With namespaces for all names, which are gone after it. */
const inPlaces = <Name extends string>(
  names: ReadonlyArray<Name>,
  test: (places: Readonly<Record<Name, Place>>) => Promise<void>,
): Promise<void> => {
  const [first, ...rest] = names;
  return first === undefined
    ? test({} as Readonly<Record<Name, Place>>)
    : inPlace(`policy-${first}`, (place) => inPlaces(rest, (others) => test({ ...others, [first]: place })));
};

Deno.test("an engine lets through what the NetworkPolicy of a server allows, in and out, and nothing else", () =>
  inPlaces(["own", "friends", "strangers", "monitoring"], async (places) => {
    const { own, friends, strangers, monitoring } = places;
    await friends.kubectl("label", "namespace", friends.namespace, "team=friends");
    await monitoring.kubectl(
      "label",
      "namespace",
      monitoring.namespace,
      "network.openshift.io/policy-group=monitoring",
    );
    await using _vllm = await startModelService(own);
    const networking = (content: JsonObject) =>
      own.resource("guarded", {
        ...withModels({ distribution: { name: "ogx-starter" } }, MODELS_ENDPOINT),
        monitoring: {},
        networking: content,
      });
    await networking({});
    await own.kubectl("delete", "pod", "peer", "-n", NAMESPACE, "--ignore-not-found");
    const peers = {
      own: await startPeer(own),
      operator: await startPeer(own, NAMESPACE),
      friends: await startPeer(friends),
      strangers: await startPeer(strangers),
      monitoring: await startPeer(monitoring),
    };
    await whenReady(own, "guarded");
    const [pod = {}] = await podsOf(own, "guarded");
    const [api, metrics] = [SERVER, METRICS].map((port) => `${stringAt(pod, "status", "podIP")}:${port}`) as [
      string,
      string,
    ];
    const service = `guarded-service.${own.namespace}.svc:${SERVER}`;
    const server = [api, service, metrics];

    /** Waits until each may connect to exactly these. */
    const admitted = async (what: string, expected: Readonly<Record<keyof typeof peers, ReadonlyArray<string>>>) => {
      let last: unknown;
      await eventually(what, async () => {
        const pairs = Object.entries(peers).map(async ([name, peer]) => [name, await peer.reached(server)] as const);
        last = Object.fromEntries(await Promise.all(pairs));
        return JSON.stringify(last) === JSON.stringify(expected) || undefined;
      }).catch((cause) => {
        deepStrictEqual(last, expected, cause.message);
      });
    };
    const EVERYBODY = { own: server, operator: server, friends: server, strangers: server, monitoring: server };
    const BY_DEFAULT = { own: server, operator: server, friends: [], strangers: [], monitoring: [metrics] };

    await admitted("everybody may connect without a policy", EVERYBODY);

    await networking({ policy: {} });
    await admitted("by default its namespace, the operator, and monitoring for metrics", BY_DEFAULT);

    await networking({ allowedFrom: { namespaces: [friends.namespace] } });
    await admitted("a namespace of allowedFrom has the server and its metrics", { ...BY_DEFAULT, friends: server });

    const ingress = [{
      from: [{ namespaceSelector: { matchLabels: { team: "friends" } } }],
      ports: [{ port: "metrics" }, { port: SERVER }],
    }];
    await networking({ policy: { ingress } });
    await admitted("a rule with a name and a number of ports", { ...BY_DEFAULT, friends: server });
    await networking({ policy: { ingress: [{ ...ingress[0] ?? {}, ports: [{ port: SERVER }] }] } });
    await admitted("a rule without the port of metrics", { ...BY_DEFAULT, friends: [api, service] });

    const apiServer = `${HOST_ADDRESS}:${new URL(readSession().url).port}`;
    const [friend, stranger] = [peers.friends.address, peers.strangers.address];
    const outside = {
      dns: [`${DNS_ADDRESS}:53`, `${friend}:${DNS}`, `${stranger}:${DNS}`],
      friend: `${friend}:${APP}`,
      rest: [`${stranger}:${APP}`, apiServer],
    };
    const targets = [...outside.dns, outside.friend, ...outside.rest];
    const reaches = async (what: string, expected: ReadonlyArray<string>) => {
      const reached = reachedFrom(own, podName(pod));
      let last: ReadonlyArray<string> = [];
      await eventually(what, async () => {
        last = await reached(targets);
        return last.join() === expected.join() || undefined;
      }).catch((cause) => deepStrictEqual(last, expected, cause.message));
    };
    await reaches("the server may connect to everything", targets);
    const egress = [{ to: [{ namespaceSelector: { matchLabels: { team: "friends" } } }], ports: [{ port: APP }] }];
    await networking({ policy: { egress } });
    await reaches("only to DNS and where a rule leads", [...outside.dns, outside.friend]);
    await admitted("rules of egress open nothing", BY_DEFAULT);
    await networking({ policy: { egress: [] } });
    await reaches("only to DNS", outside.dns);

    await resourceWhen(
      own,
      "guarded",
      "ready and asked",
      (resource) => ["Ready", "HealthCheck"].every((type) => word(resource, type) === "True"),
    );

    await networking({ policy: { enabled: false } });
    await admitted("everybody may connect again", EVERYBODY);
    await reaches("the server may connect to everything again", targets);
    deepStrictEqual(await own.list("NetworkPolicy"), []);
    deepStrictEqual((await podsOf(own, "guarded")).map(podName), [podName(pod)], "no edit restarted the pod");
    await own.kubectl("delete", "pod", "peer", "-n", NAMESPACE);
  }));
