/** What users of OLM do wrong, and what happens in the middle of an upgrade. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, listAt, stringAt } from "../../core/data/json.ts";
import { imageOf } from "../../tools/package/choices.ts";
import { isReady, list, read, RESOURCES } from "../cluster/settled.ts";
import { manifest } from "../given.ts";
import {
  approve,
  create,
  csvName,
  csvOf,
  inPhase,
  isAlone,
  namespace,
  type OlmCluster,
  operatorGroup,
  runningOn,
  servers,
  startOlmCluster,
  step,
  subscription,
} from "./olm.ts";
import { FIRST, NEXT, PACKAGES } from "./releases.ts";
import { aWhile, eventually } from "../waiting.ts";

const PLACE = "llama-stack-operator-system";
const PACKAGE = PACKAGES.olm;
const [first, next] = [csvName(PACKAGE, FIRST), csvName(PACKAGE, NEXT)];
const OTHER = PACKAGES["olm-namespaced"];
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

const reason = (cluster: OlmCluster, place: string, csv: string, wanted: string) =>
  eventually(`${csv} in ${place}: ${wanted}`, async () => {
    const status = at(await csvOf(cluster, place, csv), "status");
    return stringAt(status, "reason") === wanted ? stringAt(status, "message") : undefined;
  });

const remove = async (cluster: OlmCluster): Promise<void> => {
  await cluster.kubectl(["delete", "subscription", "--all", "-n", PLACE]);
  await cluster.kubectl(["delete", "csv", "--all", "-n", PLACE]);
  // Else OLM may take a plan that the garbage collector is about to delete for the one of the next Subscription.
  await cluster.kubectl(["delete", "installplan", "--all", "-n", PLACE]);
  await eventually(
    "the operator is gone",
    async () => (await list(cluster, `/apis/apps/v1/namespaces/${PLACE}/deployments`)).length === 0 ? true : undefined,
  );
};

const install = async (cluster: OlmCluster): Promise<void> => {
  await create(cluster, [subscription(PLACE, PACKAGE, FIRST)]);
  await approve(cluster, PLACE, first);
  await inPhase(cluster, PLACE, first, "Succeeded");
  await runningOn(cluster, PLACE, imageOf(FIRST));
};

const readyBy = (cluster: OlmCluster, version: string) =>
  eventually(`the server is ready, by operator ${version}`, async () => {
    const resource = await read(cluster, `${RESOURCES}/my`);
    return isReady(resource) && stringAt(resource, "status", "version", "operatorVersion") === version
      ? resource
      : undefined;
  });

const converts = (cluster: OlmCluster) =>
  eventually("the definition has OLM's conversion", async () => {
    const conversion = at(await read(cluster, CRD), "spec", "conversion");
    return stringAt(conversion, "webhook", "clientConfig", "caBundle") === undefined ? undefined : true;
  });

const servedVersions = async (cluster: OlmCluster): Promise<ReadonlyArray<string>> =>
  listAt(await read(cluster, CRD), "spec", "versions").filter((item) => at(item, "served") === true)
    .map((item) => stringAt(item, "name") ?? "").sort();

Deno.test("mistakes with OLM, and accidents in an upgrade", async (t) => {
  const cluster = await startOlmCluster();
  try {
    await create(cluster, [PLACE, "team"].map(namespace));

    await step(t, "an OperatorGroup for one namespace does not fit the bundle for all, and says so", async () => {
      await create(cluster, [operatorGroup(PLACE, [PLACE]), subscription(PLACE, PACKAGE, FIRST)]);
      await approve(cluster, PLACE, first);
      const message = await reason(cluster, PLACE, first, "UnsupportedOperatorGroup");
      ok(message?.includes("OwnNamespace InstallModeType not supported"), message);
      await cluster.kubectl(["delete", "operatorgroup", "--all", "-n", PLACE]);
    });

    await step(t, "two OperatorGroups stop the installation until one of them is deleted", async () => {
      await create(cluster, [operatorGroup(PLACE), operatorGroup(PLACE, undefined, "second")]);
      await reason(cluster, PLACE, first, "TooManyOperatorGroups");
      await cluster.kubectl(["delete", "operatorgroup", "second", "-n", PLACE]);
      await inPhase(cluster, PLACE, first, "Succeeded");
      await create(cluster, [manifest({})]);
      await readyBy(cluster, FIRST);
    });

    await step(t, "a restart of OLM in the middle of an upgrade only delays it", async () => {
      const before = await servers(cluster);
      await approve(cluster, PLACE, next);
      await cluster.restartOlm(5000);
      await inPhase(cluster, PLACE, next, "Succeeded");
      await runningOn(cluster, PLACE, imageOf(NEXT));
      await readyBy(cluster, NEXT);
      await converts(cluster);
      deepStrictEqual(await servers(cluster), before);
      await isAlone(cluster, PLACE, next);
      await remove(cluster);
    });

    for (const [deleted, when] of [[next, undefined], [next, "Installing"], [first, "Installing"]] as const) {
      const name = `the ${deleted === first ? "former" : "new"} ClusterServiceVersion deleted ` +
        `${when === undefined ? "before the new pods" : "while the new pods start"}: servers stay`;
      await step(t, name, async () => {
        await install(cluster);
        await readyBy(cluster, FIRST);
        const before = await servers(cluster);
        await approve(cluster, PLACE, next);
        if (when !== undefined) await inPhase(cluster, PLACE, next, when);
        await cluster.kubectl(["delete", "csv", deleted, "-n", PLACE]);
        if (deleted === next) {
          // OLM does not create it again, and deletes the Deployment with it. The former one may be "Replacing" for good.
          await aWhile(3);
          deepStrictEqual(await servers(cluster), before);
          await remove(cluster);
          await create(cluster, [subscription(PLACE, PACKAGE, NEXT)]);
          await approve(cluster, PLACE, next);
        }
        await inPhase(cluster, PLACE, next, "Succeeded");
        await runningOn(cluster, PLACE, imageOf(NEXT));
        await readyBy(cluster, NEXT);
        await converts(cluster);
        deepStrictEqual(await servers(cluster), before);
        await remove(cluster);
      });
    }

    await step(
      t,
      "the bundle for namespaces beside the one for all fails, and takes the older version away",
      async () => {
        await install(cluster);
        await readyBy(cluster, FIRST);
        const before = await servers(cluster);
        await create(cluster, [operatorGroup("team", ["team"]), subscription("team", OTHER, FIRST)]);
        await approve(cluster, "team", csvName(OTHER, FIRST));
        await reason(cluster, "team", csvName(OTHER, FIRST), "InterOperatorGroupOwnerConflict");
        await eventually(
          "its definition replaces the one of the bundle for all",
          async () => (await servedVersions(cluster)).join() === "v1alpha2" || undefined,
        );
        strictEqual(at(await csvOf(cluster, PLACE, first), "status", "phase"), "Succeeded");
        deepStrictEqual(await servers(cluster), before);

        // As docs/olm.md says.
        await cluster.kubectl(["delete", "subscription", "--all", "-n", "team"]);
        await cluster.kubectl(["delete", "csv", csvName(OTHER, FIRST), "-n", "team"]);
        await remove(cluster);
        await install(cluster);
        await converts(cluster);
        deepStrictEqual(await servedVersions(cluster), ["v1alpha1", "v1alpha2"]);
        await readyBy(cluster, FIRST);
        deepStrictEqual(await servers(cluster), before);
      },
    );
    deepStrictEqual(cluster.pods.failures(), []);
  } finally {
    await cluster.stop();
  }
});
