/** Continuous work: the cache depends on the existing resources, not on their history. */
import { ok } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { inParallel } from "../../tools/in_parallel.ts";
import { startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { EDITS, figure } from "../../tools/soak_lengths.ts";
import { apply, RESOURCES, settled, withModels } from "./settled.ts";

const RESOURCES_EDITED = 16;

/** Half as much again as the 26 MiB that the program itself and these resources need; a heap that is full ends the process. */
const HEAP_MIB = 39;

const MIB = 1024 * 1024;

/**
 * 4 KiB for each edit, as long as they are few: so a short run detects the same leak as a longer one. Garbage alone may be as much
 * as the heap has room, 13 MiB, so `EDITS` must allow for more than that.
 */
const GROWTH_MIB_MAX = Math.min(16, EDITS * 4 / 1024);

/** An annotation alone: a pass for each, and nothing to write. */
const editAll = (cluster: ControlPlane, count: number): Promise<void> =>
  inParallel(count, RESOURCES_EDITED, async (index) => {
    const answer = await cluster.fetch(`${RESOURCES}/r${index % RESOURCES_EDITED}`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { annotations: { edit: crypto.randomUUID() } } }),
    });
    const text = await answer.text();
    ok(answer.ok, text);
  });

Deno.test("memory does not grow, however often resources are edited", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
    const v8Flags = `--max-semi-space-size=2,--max-old-space-size=${HEAP_MIB}`;
    const running = await startCompiledOperator(cluster, await compiledOperator(v8Flags));
    for (let index = 0; index < RESOURCES_EDITED; index++) await apply(cluster, manifest(withModels(1), `r${index}`));
    for (let index = 0; index < RESOURCES_EDITED; index++) await settled(cluster, `r${index}`, 1);
    await editAll(cluster, EDITS / 10);
    const [before, passes] = [await running.residentBytes(), await running.passSeconds()];
    await editAll(cluster, EDITS);
    const [after, later] = [await running.residentBytes(), await running.passSeconds()];
    figure(
      "resident memory, resources edited all the time",
      `${(before / MIB).toFixed(1)} → ${(after / MIB).toFixed(1)} MiB`,
      `+ ${GROWTH_MIB_MAX.toFixed(1)} MiB`,
      `${EDITS} edits, ${later.count - passes.count} passes`,
    );
    ok(later.count - passes.count > EDITS / 10, `${later.count - passes.count} passes`);
    ok(after - before <= GROWTH_MIB_MAX * MIB, `${before} → ${after} bytes`);
    // It still works.
    await apply(cluster, manifest(withModels(2), "r0"));
    await settled(cluster, "r0", 2);
    await running.stop();
  } finally {
    await cluster.stop();
  }
});
