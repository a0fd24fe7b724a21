/** The bundle of deploy/olm-namespaced: two installations in one cluster, each for a namespace of its own. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { at, stringAt } from "../../core/data/json.ts";
import { imageOf } from "../../tools/package/choices.ts";
import { isReady, read } from "../cluster/settled.ts";
import { manifest } from "../given.ts";
import {
  approve,
  create,
  csvName,
  csvOf,
  inPhase,
  namespace,
  type OlmCluster,
  operatorGroup,
  requestsFrom,
  runningOn,
  servers,
  startOlmCluster,
  step,
  subscription,
} from "./olm.ts";
import { FIRST, NEXT, PACKAGES } from "./releases.ts";
import { aWhile, eventually } from "../waiting.ts";

const PACKAGE = PACKAGES["olm-namespaced"];
const [first, next] = [csvName(PACKAGE, FIRST), csvName(PACKAGE, NEXT)];

const resourcesIn = (place: string): string =>
  `/apis/llamastack.io/v1alpha2/namespaces/${place}/llamastackdistributions`;

const write = (cluster: OlmCluster, place: string): Promise<string> =>
  create(cluster, [{ ...manifest({}), metadata: { name: "my", namespace: place } }]);

const readyIn = (cluster: OlmCluster, place: string, version: string) =>
  eventually(`the server in ${place} is ready, by operator ${version}`, async () => {
    const resource = await read(cluster, `${resourcesIn(place)}/my`);
    return isReady(resource) && stringAt(resource, "status", "version", "operatorVersion") === version
      ? resource
      : undefined;
  });

const install = async (cluster: OlmCluster, place: string, target: string): Promise<void> => {
  await create(cluster, [operatorGroup(place, [target]), subscription(place, PACKAGE, FIRST)]);
  await approve(cluster, place, first);
  await inPhase(cluster, place, first, "Succeeded");
  await runningOn(cluster, place, imageOf(FIRST));
};

Deno.test("OLM with the bundle for namespaces", async (t) => {
  const cluster = await startOlmCluster();
  try {
    await create(cluster, ["own", "operators", "served", "outside"].map(namespace));

    await step(t, "OwnNamespace: it looks after its own namespace, and after no other", async () => {
      await install(cluster, "own", "own");
      await write(cluster, "outside");
      await write(cluster, "own");
      await readyIn(cluster, "own", FIRST);
      strictEqual(stringAt(await read(cluster, `${resourcesIn("outside")}/my`), "status", "phase"), undefined);
    });

    await step(t, "SingleNamespace: a second installation looks after another namespace", async () => {
      await install(cluster, "operators", "served");
      await write(cluster, "served");
      await readyIn(cluster, "served", FIRST);
    });

    await step(t, "an upgrade of one installation leaves the servers of both alone", async () => {
      const before = [await servers(cluster, "own"), await servers(cluster, "served")];
      await approve(cluster, "own", next);
      await inPhase(cluster, "own", next, "Succeeded");
      await runningOn(cluster, "own", imageOf(NEXT));
      await readyIn(cluster, "own", NEXT);
      deepStrictEqual([await servers(cluster, "own"), await servers(cluster, "served")], before);
      strictEqual(at(await csvOf(cluster, "operators", first), "status", "phase"), "Succeeded");
    });

    await step(t, "no operator has made a request that its Roles forbid", async () => {
      for (const place of ["own", "operators"]) {
        const { count, forbidden } = await requestsFrom(cluster, place);
        ok(count > 50, `${count} requests from ${place}`);
        deepStrictEqual(forbidden, []);
      }
    });

    await step(t, "removing one leaves its server, and the other installation working", async () => {
      const before = await servers(cluster, "own");
      await cluster.kubectl(["delete", "subscription", PACKAGE, "-n", "own"]);
      await cluster.kubectl(["delete", "csv", next, "-n", "own"]);
      await eventually(
        "the operator is gone",
        () => Promise.resolve(cluster.pods.running().every((pod) => pod.namespace !== "own") || undefined),
      );
      await cluster.kubectl(["delete", "llsd", "my", "-n", "served"]);
      await write(cluster, "served");
      await readyIn(cluster, "served", FIRST);
      await aWhile();
      deepStrictEqual(await servers(cluster, "own"), before);
      strictEqual(stringAt(await read(cluster, `${resourcesIn("own")}/my`), "metadata", "name"), "my");
    });
    deepStrictEqual(cluster.pods.failures(), []);
  } finally {
    await cluster.stop();
  }
});
