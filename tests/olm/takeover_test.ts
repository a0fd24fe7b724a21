/** A cluster of the Go operator, whose resources are stored in the older version, taken over by the bundle of deploy/olm. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { at, stringAt } from "../../core/data/json.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { imageOf } from "../../tools/package/choices.ts";
import { goDefinition, loadGoObjects } from "../cluster/go_operator.ts";
import { list, read } from "../cluster/settled.ts";
import {
  approve,
  create,
  csvName,
  inPhase,
  namespace,
  operatorGroup,
  runningOn,
  startOlmCluster,
  step,
  subscription,
} from "./olm.ts";
import { FIRST, PACKAGES } from "./releases.ts";
import { eventually } from "../waiting.ts";

const PLACE = "operators";
const PACKAGE = PACKAGES.olm;
const TEAM = "team";
const RESOURCES = `/apis/llamastack.io/v1alpha2/namespaces/${TEAM}/llamastackdistributions`;
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

Deno.test("OLM over the Go operator", async (t) => {
  const cluster = await startOlmCluster();
  try {
    const specs = async (version: string) =>
      (await list(cluster, RESOURCES.replace("v1alpha2", version))).map((
        item,
      ) => [at(item, "metadata", "name"), at(item, "spec")]);
    const podTemplates = async () =>
      (await list(cluster, `/apis/apps/v1/namespaces/${TEAM}/deployments`))
        .map((item) => [at(item, "metadata", "uid"), at(item, "spec", "template")]);

    await step(t, "the bundle succeeds over its definition and its stored resources", async () => {
      await create(cluster, [namespace(TEAM), namespace(PLACE)]);
      await installDefinition(cluster, goDefinition() as unknown as Definition);
      await loadGoObjects(cluster, TEAM, "pinned");
      const [before, templates] = [await specs("v1alpha1"), await podTemplates()];
      strictEqual(before.length, 4);
      await create(cluster, [operatorGroup(PLACE), subscription(PLACE, PACKAGE, FIRST)]);
      await approve(cluster, PLACE, csvName(PACKAGE, FIRST));
      await inPhase(cluster, PLACE, csvName(PACKAGE, FIRST), "Succeeded");
      await runningOn(cluster, PLACE, imageOf(FIRST));
      await eventually("every resource is looked after", async () => {
        const all = await list(cluster, RESOURCES);
        return all.length === 4 && all.every((item) => stringAt(item, "status", "version", "operatorVersion") === FIRST)
          ? true
          : undefined;
      });
      // OLM adds the conversion after it has replaced the definition; until then v1alpha1 cannot be read (docs/olm.md).
      await eventually("v1alpha1 can be read", async () => (await specs("v1alpha1")).length > 0 || undefined);
      deepStrictEqual(await specs("v1alpha1"), before);
      deepStrictEqual(await podTemplates(), templates);
    });

    await step(t, "then the older version is no longer stored", async () => {
      await eventually("storedVersions names the new one alone", async () => {
        const stored = JSON.stringify(at(await read(cluster, CRD), "status", "storedVersions"));
        return stored === '["v1alpha2"]' ? true : undefined;
      });
    });
    deepStrictEqual(cluster.pods.failures(), []);
  } finally {
    await cluster.stop();
  }
});
