/** The bundle of deploy/olm, installed, upgraded and removed by OLM itself. */
import { get } from "node:https";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, type Json, type JsonObject, stringAt } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { imageOf } from "../../tools/package/choices.ts";
import { condition, isReady, list, read, RESOURCES } from "../cluster/settled.ts";
import { call, patiently } from "../cluster/webhooks.ts";
import { manifest } from "../given.ts";
import {
  approve,
  CATALOG,
  create,
  csvName,
  inPhase,
  isAlone,
  namespace,
  OLM,
  type OlmCluster,
  operatorGroup,
  report,
  requestsFrom,
  runningOn,
  servers,
  startOlmCluster,
  step,
  subscription,
} from "./olm.ts";
import { FIRST, NEXT, PACKAGES } from "./releases.ts";
import { aMoment, eventually, pause } from "../waiting.ts";

const PLACE = "llama-stack-operator-system";
const PACKAGE = PACKAGES.olm;
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";
const OLD = RESOURCES.replace("v1alpha2", "v1alpha1");
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

const PORT = 8400;

/** Of the Go operator. */
const OLDER: JsonObject = {
  apiVersion: "llamastack.io/v1alpha1",
  kind: "LlamaStackDistribution",
  metadata: { name: "older", namespace: "default" },
  spec: { replicas: 1, server: { distribution: { name: "starter" }, containerSpec: { port: PORT } } },
};

/** The image that OLM names, and not an earlier one of the same name. */
const NEWEST = { distribution: { name: "starter" } };

const readyOne = (cluster: ControlPlane, name: string) =>
  eventually(`${name} is ready`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    return isReady(resource) ? resource : undefined;
  });

const imageOfServer = async (cluster: ControlPlane, name: string) =>
  stringAt(await readyOne(cluster, name), "status", "resolvedDistribution", "image");

/** Each replica signs its own certificate. */
const metricsStatus = (cluster: OlmCluster, pod: string, token: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${cluster.pods.metricsPort(pod)}/metrics`;
    get(url, { rejectUnauthorized: false, agent: false, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    }).on("error", reject);
  });

const strategy = async (cluster: ControlPlane): Promise<string> => {
  const conversion = at(await read(cluster, CRD), "spec", "conversion");
  const isTrusted = stringAt(conversion, "webhook", "clientConfig", "caBundle") !== undefined;
  return `${stringAt(conversion, "strategy")}${isTrusted ? "" : " without a certificate"}`;
};

/** As on the page, with the catalog of this test. */
const documentedObjects = async (): Promise<string> => {
  const page = await Deno.readTextFile(new URL("../../docs/olm.md", import.meta.url));
  const text = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
  return text.replace("NAMESPACE-OF-THE-CATALOG", OLM).replace("CATALOG", CATALOG);
};

/** Looks at the older resource in its own version all the time: every answer is the resource as written, or a refusal. */
const watchOlder = (cluster: ControlPlane) => {
  const seen = { right: 0, newer: 0, wrong: [] as Array<Json>, strategies: [] as Array<string>, awayMs: 0 };
  let [isOver, wasRightMs] = [false, performance.now()];
  const looking = (async () => {
    while (!isOver) {
      // What is stored in the newer version is read in it without a conversion.
      const newer = await patiently(() => call(cluster, "GET", `${RESOURCES}/older`));
      if (newer.status === 200) seen.newer++;
      else seen.wrong.push(newer.body);
      const older = await call(cluster, "GET", `${OLD}/older`);
      if (older.status === 200 && at(older.body, "spec", "server", "containerSpec", "port") === PORT) {
        seen.right++;
        seen.awayMs = Math.max(seen.awayMs, performance.now() - wasRightMs);
        wasRightMs = performance.now();
      } else if (older.status === 200) seen.wrong.push(older.body);
      const now = await strategy(cluster).catch(() => "no answer");
      if (seen.strategies.at(-1) !== now) seen.strategies.push(now);
      await aMoment();
    }
  })();
  return async () => {
    isOver = true;
    await looking;
    return seen;
  };
};

Deno.test("OLM with the bundle for all namespaces", async (t) => {
  const cluster = await startOlmCluster();
  try {
    const first = csvName(PACKAGE, FIRST);
    const next = csvName(PACKAGE, NEXT);

    await step(t, "a Subscription installs the first release", async () => {
      const started = performance.now();
      await create(cluster, [
        namespace(PLACE),
        operatorGroup(PLACE, undefined, PACKAGE),
        subscription(PLACE, PACKAGE, FIRST),
      ]);
      await approve(cluster, PLACE, first);
      await inPhase(cluster, PLACE, first, "Succeeded");
      report("Subscription to Succeeded", started);
      await runningOn(cluster, PLACE, imageOf(FIRST));
      for (const kind of ["networkpolicies", "poddisruptionbudgets"]) {
        strictEqual(
          (await cluster.kubectl(["get", kind, "-n", PLACE, "-o", "name"])).split("/").at(-1)?.trim(),
          "llama-stack-operator",
        );
      }
    });

    await step(t, "resources of both versions become Ready, through the webhooks with OLM's certificate", async () => {
      await eventually("the conversion is trusted", async () => await strategy(cluster) === "Webhook" || undefined);
      await create(cluster, [manifest(NEWEST), OLDER]);
      strictEqual(await imageOfServer(cluster, "my"), "docker.io/ogxai/distribution-starter:1.4.1");
      await readyOne(cluster, "older");
      strictEqual(at(await read(cluster, `${RESOURCES}/older`), "spec", "networking", "port"), PORT);
      const invalid = manifest({ providers: { inference: [{ provider: "no-such-provider" }] } }, "invalid");
      const answer = await create(cluster, [invalid]).then(() => "created", (error) => String(error));
      // Only the operator knows the providers.
      ok(answer.includes('unsupported inference provider type "remote::no-such-provider"'), answer);
    });

    await step(t, "images that OLM names leave the choice of a server's version to the resource", async () => {
      await create(cluster, [manifest({ distribution: { name: "starter", serverVersion: "0.6.1" } }, "earlier")]);
      strictEqual(await imageOfServer(cluster, "earlier"), "docker.io/ogxai/distribution-starter:0.6.1");
      await cluster.kubectl(["delete", "llsd", "earlier"]);
      await eventually("its pod is gone", async () => (await servers(cluster)).pods.length === 2 || undefined);
    });

    await step(t, "metrics are served to who may read them, by the rights that OLM gives", async () => {
      const pod = cluster.pods.running()[0]?.name ?? "";
      strictEqual(await metricsStatus(cluster, pod, cluster.adminToken), 200);
      strictEqual(await metricsStatus(cluster, pod, "nobody"), 401);
    });

    await step(
      t,
      "an upgrade replaces the operator and leaves servers, and their data in both versions, alone",
      async () => {
        const before = await servers(cluster);
        const look = watchOlder(cluster);
        const started = performance.now();
        await approve(cluster, PLACE, next);
        await inPhase(cluster, PLACE, next, "Succeeded");
        report("approved upgrade to Succeeded", started);
        await runningOn(cluster, PLACE, imageOf(NEXT));
        await eventually("the new operator has looked at all", async () => {
          const all = await list(cluster, RESOURCES);
          return all.every((item) => stringAt(item, "status", "version", "operatorVersion") === NEXT)
            ? true
            : undefined;
        });
        await pause(SETTLED_MS);
        const seen = await look();
        console.log(
          `seen: v1alpha1 not readable for ${(seen.awayMs / 1000).toFixed(1)} s, ${seen.strategies.join(" → ")}`,
        );
        deepStrictEqual(seen.wrong, []);
        ok(seen.right > 50 && seen.newer >= seen.right, `${seen.right} and ${seen.newer} answers`);
        strictEqual(seen.strategies.at(-1), "Webhook");
        deepStrictEqual(await servers(cluster), before);
        await isAlone(cluster, PLACE, next);
        for (const name of ["my", "older"]) await readyOne(cluster, name);
      },
    );

    await step(t, "the operator has made no request that its Roles forbid", async () => {
      const { count, forbidden } = await requestsFrom(cluster, PLACE);
      ok(count > 100, `${count} requests`);
      deepStrictEqual(forbidden, []);
    });

    await step(
      t,
      "removing Subscription and ClusterServiceVersion leaves resources, definition and servers",
      async () => {
        const before = await servers(cluster);
        await cluster.kubectl(["delete", "subscription", PACKAGE, "-n", PLACE]);
        await cluster.kubectl(["delete", "csv", next, "-n", PLACE]);
        await eventually("the operator is gone", async () => {
          const left = await list(cluster, `/apis/apps/v1/namespaces/${PLACE}/deployments`);
          return left.length === 0 && cluster.pods.running().length === 0 ? true : undefined;
        });
        deepStrictEqual((await list(cluster, RESOURCES)).map((item) => at(item, "metadata", "name")), ["my", "older"]);
        deepStrictEqual(await servers(cluster), before);
        await eventually(
          "OLM has reset the conversion",
          async () => await strategy(cluster) === "None without a certificate" || undefined,
        );
      },
    );

    await step(t, "installed again by the objects of docs/olm.md, it continues with the same servers", async () => {
      const before = await servers(cluster);
      await cluster.kubectl(["apply", "-f", "-"], await documentedObjects());
      await inPhase(cluster, PLACE, next, "Succeeded");
      await runningOn(cluster, PLACE, imageOf(NEXT));
      const edited = manifest({ ...NEWEST, workload: { replicas: 2 } });
      await cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], JSON.stringify(edited));
      await eventually("the edit is applied", async () => {
        const resource = await readyOne(cluster, "my");
        return stringAt(condition(resource, "Ready"), "status") === "True" &&
            at(await read(cluster, `${DEPLOYMENTS}/my`), "spec", "replicas") === 2
          ? true
          : undefined;
      });
      // One pod is enough to be ready.
      await eventually(
        "another pod",
        async () => (await servers(cluster)).pods.length > before.pods.length || undefined,
      );
      ok(before.pods.every((uid) => uid !== undefined));
      const kept = (await servers(cluster)).pods;
      deepStrictEqual(before.pods.filter((uid) => !kept.includes(uid)), []);
    });
    deepStrictEqual(cluster.pods.failures(), []);
  } finally {
    await cluster.stop();
  }
});

/** Longer than OLM took to reset a conversion after Succeeded (12 s). */
const SETTLED_MS = 20_000;
