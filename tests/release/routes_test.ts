/**
 * Every way to install a release except OLM (tests/olm): a fresh cluster, a resource that becomes Ready, the upgrade to the
 * next version while somebody edits resources, and the removal. The operator's pods run the compiled programs of the releases.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { type Json, type JsonObject, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { renewCertificate, startCertManager } from "../../tools/cluster/cert_manager.ts";
import { startServiceProxy } from "../../tools/cluster/service_proxy.ts";
import { NAME, NAMESPACE, SERVING_SECRET } from "../../tools/package/names.ts";
import { helmOn } from "../cluster/helm.ts";
import { isReady, list, read } from "../cluster/settled.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { CONTAINERS, type Pods, runPods } from "../olm/pods.ts";
import { TIMES } from "../../tools/release/rehearsal.ts";
import { made, operatorImage, unpacked, VERSIONS } from "./rehearsed.ts";
import { aMoment, aWhile, eventually, KUBECTL_LIMIT } from "../waiting.ts";

const ARCH = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
const [FIRST, NEXT] = VERSIONS;

interface Route {
  readonly name: string;
  /** Where resources are managed. */
  readonly namespace: string;
  readonly hasWebhooks: boolean;
  readonly install: (on: Ground) => Promise<void>;
  readonly upgrade: (on: Ground) => Promise<void>;
  readonly remove: (on: Ground) => Promise<void>;
  /** What stays of the operator: Helm keeps the definition, so that no resource is deleted with it. */
  readonly leaves: ReadonlyArray<string>;
  /** What the installation requires of the cluster. */
  readonly prepare?: (on: Ground) => Promise<AsyncDisposable>;
  /** After the upgrade, while resources are edited. */
  readonly meanwhile?: (on: Ground) => Promise<void>;
  /** Without pods: a process on the machine of the user. */
  readonly isProcess?: boolean;
}

interface Ground {
  readonly cluster: ControlPlane;
  readonly folder: string;
  readonly programs: ReadonlyMap<string, string>;
  process: OperatorProcess | undefined;
}

const apply = ({ cluster }: Ground, ...words: ReadonlyArray<string>) =>
  cluster.kubectl(["apply", "--server-side", ...words]);

const kustomized = (name: string, namespace: string, hasWebhooks: boolean): Route => {
  const at = async ({ folder }: Ground, version: string) =>
    join(await unpacked(folder, version, `kustomize-${version}.tar.gz`), `kustomize/overlays/${name}`);
  return {
    name: `kustomize overlay ${name}`,
    namespace,
    hasWebhooks,
    install: async (on) => void await apply(on, "-k", await at(on, FIRST)),
    upgrade: async (on) => void await apply(on, "-k", await at(on, NEXT)),
    remove: async (on) => void await on.cluster.kubectl(["delete", "--wait", "-k", await at(on, NEXT)]),
    leaves: [],
  };
};

const servingCertificate = async (cluster: ControlPlane): Promise<string | undefined> =>
  stringAt(await read(cluster, `/api/v1/namespaces/${NAMESPACE}/secrets/${SERVING_SECRET}`), "data", "tls.crt");

const helm = async ({ cluster, folder }: Ground) => {
  const home = join(folder, `helm-${crypto.randomUUID()}`);
  return await helmOn(home, cluster);
};

const chart = (version: string) => made(version, `${NAME}-${version}.tgz`);

const DEFINITION = "customresourcedefinition.apiextensions.k8s.io/llamastackdistributions.llamastack.io";

const ROUTES: ReadonlyArray<Route> = [
  {
    name: "install.yaml",
    namespace: "default",
    hasWebhooks: true,
    install: async (on) => void await apply(on, "-f", made(FIRST, "install.yaml")),
    upgrade: async (on) => void await apply(on, "-f", made(NEXT, "install.yaml")),
    remove: async (on) => void await on.cluster.kubectl(["delete", "--wait", "-f", made(NEXT, "install.yaml")]),
    leaves: [],
  },
  {
    name: "Helm chart",
    namespace: "default",
    hasWebhooks: true,
    install: async (on) =>
      void await (await helm(on)).run("install", NAME, chart(FIRST), "-n", NAMESPACE, "--create-namespace"),
    upgrade: async (on) => void await (await helm(on)).run("upgrade", NAME, chart(NEXT), "-n", NAMESPACE),
    remove: async (on) => void await (await helm(on)).run("uninstall", NAME, "-n", NAMESPACE),
    leaves: [DEFINITION],
  },
  {
    ...kustomized("cert-manager", "default", true),
    prepare: ({ cluster, folder }) => startCertManager(cluster, folder),
    meanwhile: async ({ cluster }) => {
      const before = await servingCertificate(cluster);
      await renewCertificate(cluster, NAMESPACE, SERVING_SECRET);
      await eventually(
        "the certificate is renewed",
        async () => await servingCertificate(cluster) !== before || undefined,
      );
      // Longer than the operator's pods need to read the new one.
      await aWhile();
    },
  },
  kustomized("namespaced", "llama-stack", true),
  kustomized("no-webhooks", "default", false),
  kustomized("secret-polling", "default", true),
  {
    name: "binary on a laptop",
    namespace: "default",
    hasWebhooks: false,
    isProcess: true,
    install: async (on) => {
      await on.cluster.kubectl(["apply", "--server-side", "-f", "crds/llamastackdistributions.yaml"]);
      on.process = await startCompiledOperator(on.cluster, on.programs.get(await operatorImage(FIRST)) ?? "", LAPTOP);
    },
    upgrade: async (on) => {
      await on.process?.stop();
      on.process = await startCompiledOperator(on.cluster, on.programs.get(await operatorImage(NEXT)) ?? "", LAPTOP);
    },
    remove: async (on) => {
      await on.process?.stop();
      on.process = undefined;
      await on.cluster.kubectl(["delete", "--wait", "-f", "crds/llamastackdistributions.yaml"]);
    },
    leaves: [],
  },
];

const LAPTOP = { flags: ["--webhook-address=0"] };

const resources = (namespace: string) => `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions`;

const readyIn = (cluster: ControlPlane, namespace: string, name: string): Promise<JsonObject> =>
  eventually(`${name} is ready`, async () => {
    const resource = await read(cluster, `${resources(namespace)}/${name}`);
    return isReady(resource) ? resource : undefined;
  });

const podsOf = async (cluster: ControlPlane, namespace: string): Promise<ReadonlyArray<string>> =>
  (await list(cluster, `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dllama-stack`))
    .map((pod) => stringAt(pod, "metadata", "uid") ?? "").toSorted();

/** Edits that restart no server, again and again, in both versions; every one that fails is remembered. */
const editing = (cluster: ControlPlane, { namespace, hasWebhooks }: Route) => {
  const failures: string[] = [];
  let [isOver, count] = [false, 0];
  const versions = hasWebhooks ? ["v1alpha1", "v1alpha2"] : ["v1alpha2"];
  const work = (async () => {
    while (!isOver) {
      for (const version of versions) {
        const path = `${resources(namespace).replace("v1alpha2", version)}/my`;
        const [said] = await Promise.all([send(cluster, path, count++), aMoment()]);
        if (said !== undefined) failures.push(`${version}: ${said}`);
      }
    }
  })();
  return async () => {
    isOver = true;
    await work;
    return { failures, count };
  };
};

const send = async (cluster: ControlPlane, path: string, count: number): Promise<string | undefined> => {
  const answer = await cluster.fetch(path, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ metadata: { annotations: { edited: String(count) } } }),
  });
  const text = await answer.text();
  return answer.ok ? undefined : `${answer.status} ${text}`;
};

/** Deployed by a version of the operator, with every pod of it ready. */
const rolledOut = async (on: Ground, pods: Pods, version: string): Promise<void> => {
  const image = await operatorImage(version);
  await eventually(`the operator ${version} runs alone`, () => {
    const running = pods.running();
    deepStrictEqual(pods.failures(), []);
    return Promise.resolve(running.length >= 2 && running.every((pod) => pod.image === image) ? true : undefined);
  });
  await on.cluster.kubectl(["rollout", "status", `deployment/${NAME}`, "-n", NAMESPACE, KUBECTL_LIMIT]);
};

/** Everything in the cluster that names the operator, without its namespace. */
const leftOvers = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const kinds = [
    ...["customresourcedefinitions", "clusterroles", "clusterrolebindings", "validatingwebhookconfigurations"],
    ...["roles", "rolebindings", "deployments", "services", "serviceaccounts", "networkpolicies"],
    ...["poddisruptionbudgets", "validatingadmissionpolicies", "validatingadmissionpolicybindings"],
  ].join();
  const found = await cluster.kubectl(["get", kinds, "-A", "-o", "name", "--ignore-not-found"]);
  return found.split("\n").filter((line) => /llama-?stack/.test(line));
};

for (const route of ROUTES) {
  Deno.test(`${route.name}: installed, Ready, upgraded under edits without a failed call, and removed`, () =>
    inFolder(async (folder) => {
      const programs = new Map<string, string>();
      for (const version of VERSIONS) {
        const archive = await unpacked(folder, version, `${NAME}-${version}-linux-${ARCH}.tar.gz`);
        programs.set(await operatorImage(version), join(archive, NAME));
      }
      const proxy = startServiceProxy();
      const cluster = await startControlPlane({
        node: "Scheduled",
        podsOfOthers: CONTAINERS,
        serviceProxy: proxy.socket,
      });
      const pods = runPods(cluster, { programs, bundles: new Map(), opm: "" }, proxy);
      const on: Ground = { cluster, folder, programs, process: undefined };
      const times: Record<string, number> = {};
      const timed = async <A>(what: string, work: () => Promise<A>): Promise<A> => {
        const from = performance.now();
        const result = await work();
        times[what] = Math.round((performance.now() - from) / 100) / 10;
        return result;
      };
      let prepared: AsyncDisposable | undefined;
      try {
        prepared = await route.prepare?.(on);
        if (route.namespace !== "default") await cluster.kubectl(["create", "namespace", route.namespace]);
        await timed("installed", async () => {
          await route.install(on);
          if (route.isProcess !== true) await rolledOut(on, pods, FIRST);
        });
        const resource = {
          ...manifest({ workload: { replicas: 2 } }),
          metadata: { name: "my", namespace: route.namespace },
        };
        await timed("Ready", async () => {
          // Webhooks answer once the certificate is published.
          await eventually(
            "the resource is accepted",
            () =>
              cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(resource)).catch(() => undefined),
          );
          await readyIn(cluster, route.namespace, "my");
        });
        const before = await podsOf(cluster, route.namespace);
        strictEqual(before.length, 2);
        const stopEditing = editing(cluster, route);
        await timed("upgraded", async () => {
          await route.upgrade(on);
          if (route.isProcess !== true) await rolledOut(on, pods, NEXT);
          await eventually(`the operator ${NEXT} has reconciled`, async () => {
            const found: Json = await read(cluster, `${resources(route.namespace)}/my`);
            return stringAt(found, "status", "version", "operatorVersion") === NEXT ? true : undefined;
          });
        });
        await route.meanwhile?.(on);
        const { failures, count } = await stopEditing();
        deepStrictEqual(failures, []);
        ok(count > 10);
        await readyIn(cluster, route.namespace, "my");
        deepStrictEqual(await podsOf(cluster, route.namespace), before);
        await timed("removed", async () => {
          // Somebody who removes the operator for good removes the resources first.
          await cluster.kubectl(["delete", "llsd", "--all", "-A", "--wait"]);
          await eventually(
            "the servers are gone",
            async () => (await podsOf(cluster, route.namespace)).length === 0 || undefined,
          );
          await route.remove(on);
        });
        await eventually("nothing is left", async () => {
          const left = await leftOvers(cluster);
          return left.join() === route.leaves.join() ? true : undefined;
        }).catch(async () => deepStrictEqual(await leftOvers(cluster), route.leaves));
        await Deno.writeTextFile(made(TIMES), `${JSON.stringify({ way: route.name, ...times })}\n`, { append: true });
      } catch (cause) {
        console.error(`${route.name}: the end of the operators' log:\n${(await pods.logs()).slice(-3000)}`);
        throw cause;
      } finally {
        await on.process?.stop();
        await pods.stop();
        await prepared?.[Symbol.asyncDispose]();
        await cluster.stop();
        await proxy.close();
      }
    }));
}
