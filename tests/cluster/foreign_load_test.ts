/** Other people's Secrets and ConfigMaps: the operator never reads their bodies, and its memory does not grow with them. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { inParallel } from "../../tools/in_parallel.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { openDoor } from "./faulty_door.ts";
import { figure, FOREIGN_BYTES, FOREIGN_OBJECTS, IS_SOAK } from "../../tools/soak_lengths.ts";
import { apply, settled, withModels } from "./settled.ts";
import { pause } from "../waiting.ts";

/** Of anonymous memory: pages of the program file come and go with the load of the machine. */
const GROWTH_MIB_MAX = 12;

/** The operator releases the memory of a start or a burst within 30 s (shell/runtime/rest.ts); the cache remains. */
const LOOKS = 30;
const LOOK_EVERY_MS = 3000;
const IN_FLIGHT = 8;

const MIB = 1024 * 1024;

/** Half Secrets, half ConfigMaps, in a namespace of their own. */
const makeForeign = async (cluster: ControlPlane, count: number): Promise<void> => {
  await cluster.kubectl(["create", "namespace", "others"]);
  const value = "x".repeat(FOREIGN_BYTES);
  await inParallel(count, IN_FLIGHT, async (index) => {
    const isSecret = index % 2 === 0;
    const body: JsonObject = {
      apiVersion: "v1",
      kind: isSecret ? "Secret" : "ConfigMap",
      metadata: { name: `foreign-${index}`, namespace: "others" },
      data: { value: isSecret ? btoa(value) : value },
    };
    const answer = await cluster.fetch(`/api/v1/namespaces/others/${isSecret ? "secrets" : "configmaps"}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    ok(answer.ok, text.slice(0, 200));
  });
};

Deno.test("foreign Secrets and ConfigMaps cost the operator no memory and are never read", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const door = openDoor(cluster);
  try {
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
    const program = await compiledOperator();
    /**
     * Lowest of many looks: garbage that is about to be collected is not counted. In MiB. The first that is low enough
     * decides, but a soak reports how low it gets.
     */
    const lowest = async (running: OperatorProcess, enough = 0): Promise<number> => {
      let least = Number.POSITIVE_INFINITY;
      for (let look = 0; look < LOOKS && (IS_SOAK || least > enough); look++) {
        await pause(LOOK_EVERY_MS);
        least = Math.min(least, await running.anonymousBytes() / MIB);
      }
      return least;
    };
    /** Has worked on one resource. */
    const started = async (name: string): Promise<OperatorProcess> => {
      const running = await startCompiledOperator(cluster, program, { url: door.url });
      await apply(cluster, manifest(withModels(1), name));
      await settled(cluster, name, 1);
      return running;
    };
    const first = await started("one");
    const without = await lowest(first);
    await makeForeign(cluster, FOREIGN_OBJECTS);
    const during = await lowest(first, without + GROWTH_MIB_MAX);
    await first.stop();
    const second = await started("two");
    const amid = await lowest(second, without + GROWTH_MIB_MAX);
    await second.stop();
    const size = `${FOREIGN_OBJECTS} objects, ${(FOREIGN_OBJECTS * FOREIGN_BYTES / MIB).toFixed(0)} MiB`;
    const told = (value: number) => `${without.toFixed(1)} → ${value.toFixed(1)} MiB`;
    figure("anonymous memory, foreign objects made while it works", told(during), `+ ${GROWTH_MIB_MAX} MiB`, size);
    figure("anonymous memory, started among foreign objects", told(amid), `+ ${GROWTH_MIB_MAX} MiB`, size);

    // Whole bodies only where a selector asks for our own, or a name for one object.
    deepStrictEqual(door.unselected().filter((path) => /\/(secrets|configmaps)$/.test(path)), []);
    const kinds = [...door.accepted()].filter(([path]) => /^\/api\/v1\/(secrets|configmaps)$/.test(path));
    ok(
      kinds.length === 2 && kinds.every(([, accepts]) => accepts.size >= 2),
      "foreign objects are asked for as metadata",
    );
    ok(amid - without <= GROWTH_MIB_MAX, told(amid));
    ok(during - without <= GROWTH_MIB_MAX, told(during));
  } finally {
    await door.close();
    await cluster.stop();
  }
});
