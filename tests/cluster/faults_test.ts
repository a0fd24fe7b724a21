/** Crashes at the writes of an install, an edit, a switch of the distribution and a deletion: another operator completes them all. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, member, objectAt, put, stringAt } from "../../core/data/json.ts";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { openDoor } from "./faulty_door.ts";
import { CRASH_STRIDE, figure } from "../../tools/soak_lengths.ts";
import { startOperator } from "./operator.ts";
import { apply, isSettled, list, RESOURCES, SPEC } from "./settled.ts";
import { eventually } from "../waiting.ts";

const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const KINDS = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/services",
  "/api/v1/namespaces/default/serviceaccounts",
  CLAIMS,
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
];

const EDITED: JsonObject = { ...SPEC, resources: { models: [{ name: "m" }] }, networking: {} };
const SWITCHED: JsonObject = { ...EDITED, distribution: { name: "ogx-starter" } };
/** Waits for nothing that a simulated node has only a handful of: its pods are never bound to a volume. */
const STORED: JsonObject = { ...SPEC, workload: { storage: { size: "1Gi" } } };
const STORED_EDITED: JsonObject = { ...STORED, resources: { models: [{ name: "m" }] }, networking: {} };

/** Everything that belongs to a resource, with its name and what the API server counts taken out; old configs left aside. */
const footprint = async (cluster: ControlPlane, name: string): Promise<ReadonlyArray<string>> => {
  const all = (await Promise.all(KINDS.map((path) => list(cluster, path)))).flat();
  const own = all.filter((value) => stringAt(value, "metadata", "labels", "app.kubernetes.io/instance") === name);
  const running = own.flatMap((value) =>
    listAt(value, "spec", "template", "spec", "volumes").flatMap((volume) =>
      stringAt(volume, "configMap", "name") ?? []
    )
  );
  return own.filter((value) =>
    member(value, "immutable") !== true || running.includes(stringAt(value, "metadata", "name") ?? "")
  ).map((value) => {
    const metadata = objectAt(value, "metadata");
    const kept: JsonObject = {
      name: metadata.name ?? null,
      labels: metadata.labels ?? null,
      owners: listAt(metadata, "ownerReferences").length,
    };
    const bare = put(put(value as JsonObject, ["metadata"], kept), ["status"], undefined);
    const { clusterIP: _ip, clusterIPs: _ips, volumeName: _volume, ...spec } = objectAt(bare, "spec");
    return JSON.stringify({ ...bare, spec })
      .replaceAll(new RegExp(`${name}(?=["-])`, "g"), "NAME").replaceAll(/"resourceVersion":"\d+"/g, "");
  }).sort();
};

/** What was there before, what is disturbed, and how one sees that a state is reached. */
interface Scenario {
  readonly name: string;
  readonly before: JsonObject | undefined;
  readonly disturbed: JsonObject;
  /** Something that happens at the moment of the crash. */
  readonly meanwhile?: (cluster: ControlPlane, name: string) => Promise<void>;
  /** Nothing is left to do for an undisturbed operator. */
  readonly isDone: (cluster: ControlPlane, name: string, spec: JsonObject) => Promise<boolean>;
  readonly isOver: (cluster: ControlPlane, name: string) => Promise<boolean>;
}

const isReady = async (cluster: ControlPlane, name: string, spec: JsonObject): Promise<boolean> => {
  const models = listAt(spec, "resources", "models").length;
  return await isSettled(cluster, name, models, spec === SWITCHED ? "ogxai/" : "llamastack/") !== undefined;
};

const changed = (name: string, before: JsonObject | undefined, disturbed: JsonObject): Scenario => ({
  name,
  before,
  disturbed,
  isDone: isReady,
  isOver: (cluster, text) => isReady(cluster, text, disturbed),
});

const DELETION: Scenario = {
  name: "deletion",
  before: STORED,
  disturbed: STORED_EDITED,
  meanwhile: async (cluster, name) => {
    await (await cluster.fetch(`${RESOURCES}/${name}`, { method: "DELETE" })).body?.cancel();
  },
  isDone: async (cluster, name) => {
    const resource = await (await cluster.fetch(`${RESOURCES}/${name}`)).json() as JsonObject;
    return member(objectAt(resource, "status"), "observedGeneration") ===
        member(objectAt(resource, "metadata"), "generation") && (await footprint(cluster, name)).length > 3;
  },
  isOver: async (cluster, name) => {
    const left = await footprint(cluster, name);
    return left.length === 1 && left[0]?.includes("-pvc") === true;
  },
};

const SCENARIOS: ReadonlyArray<Scenario> = [
  changed("install", undefined, SPEC),
  changed("update", SPEC, EDITED),
  changed("switch", EDITED, SWITCHED),
  DELETION,
];

const done = (cluster: ControlPlane, scenario: Scenario, name: string, spec: JsonObject) =>
  eventually(`${name} is done`, async () => await scenario.isDone(cluster, name, spec) || undefined);

type Moment = "before" | "after";

/** The operator exits at the given moment of its n-th write, and a new one starts; true if there was such a write. */
const crashed = async (
  cluster: ControlPlane,
  scenario: Scenario,
  name: string,
  at: number,
  moment: Moment,
): Promise<boolean> => {
  if (scenario.before !== undefined) {
    const calm = await startOperator(cluster);
    await apply(cluster, manifest(scenario.before, name));
    await done(cluster, scenario, name, scenario.before);
    await calm.stop();
  }
  let isHit = false;
  const door = openDoor(cluster, {
    onWrite: async (number, when) => {
      if (isHit) throw new Error("the operator is gone");
      if (number !== at || when !== moment) return;
      isHit = true;
      await scenario.meanwhile?.(cluster, name);
      if (when === "before") throw new Error("the operator is gone");
    },
  });
  await apply(cluster, manifest(scenario.disturbed, name));
  const victim = await startOperator(cluster, { url: door.url });
  await eventually(
    `${name} is disturbed or done`,
    async () => isHit || await scenario.isDone(cluster, name, scenario.disturbed) || undefined,
  );
  await victim.stop();
  await door.close();
  if (!isHit) await scenario.meanwhile?.(cluster, name);
  const heir = await startOperator(cluster);
  await eventually(`${name} is over`, async () => await scenario.isOver(cluster, name) || undefined);
  await heir.stop();
  return isHit;
};

/** Numbers of the writes at which it crashes, before and after in turn; all of them, both ways, take many minutes. */
const SAMPLE: ReadonlyArray<readonly [number, Moment]> = [
  [1, "before"],
  [2, "after"],
  [3, "before"],
  [5, "after"],
  [7, "before"],
  [8, "after"],
];

function* moments(stride: number): Generator<readonly [number, Moment]> {
  if (stride === 0) return yield* SAMPLE;
  for (let at = 1;; at += stride) {
    yield [at, "before"];
    yield [at, "after"];
  }
}

Deno.test("the operator converges to the same state when it crashes at any write", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
    for (const scenario of SCENARIOS) {
      await t.step(`of an ${scenario.name}`, async () => {
        const reference = `ref-${scenario.name}`;
        await crashed(cluster, scenario, reference, Number.POSITIVE_INFINITY, "before");
        const wanted = await footprint(cluster, reference);
        strictEqual(wanted.length >= 5, scenario !== DELETION, `${wanted.length} objects`);
        let hits = 0;
        for (const [at, moment] of moments(CRASH_STRIDE)) {
          const name = `${scenario.name}-${at}-${moment}`;
          const isHit = await crashed(cluster, scenario, name, at, moment);
          if (isHit) hits++;
          deepStrictEqual(await footprint(cluster, name), wanted, `crash ${moment} write ${at}`);
          await (await cluster.fetch(`${RESOURCES}/${name}`, { method: "DELETE" })).body?.cancel();
          // The last write is behind us.
          if (CRASH_STRIDE > 0 && !isHit) break;
        }
        ok(hits >= 3, `${hits} crashes`);
        figure(
          `crashes during the ${scenario.name}, each ended in the same state`,
          `${hits} of ${hits}`,
          "all",
          CRASH_STRIDE === 0
            ? "a sample"
            : `every ${CRASH_STRIDE === 1 ? "" : `${CRASH_STRIDE}. `}write, before and after`,
        );
      });
    }

    await t.step("and a resource of a deleted one's name gets its objects and its claim again", async () => {
      const [claim] = await list(cluster, CLAIMS);
      const name = stringAt(claim, "metadata", "labels", "app.kubernetes.io/instance") ?? "";
      const running = await startOperator(cluster);
      await apply(cluster, manifest(STORED, name));
      await done(cluster, DELETION, name, STORED);
      await running.stop();
      const again = (await list(cluster, CLAIMS)).find((value) =>
        stringAt(value, "metadata", "name") === stringAt(claim, "metadata", "name")
      );
      strictEqual(stringAt(again, "metadata", "uid"), stringAt(claim, "metadata", "uid"));
    });
  } finally {
    await cluster.stop();
  }
});
