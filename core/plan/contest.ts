/** Objects of ours that somebody changes back after each repair: another controller, or a policy that rewrites what we apply. */
import { type JsonObject, stringAt } from "../json.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { MANIFEST_ANNOTATION } from "../resources/objects.ts";
import type { Step } from "./step.ts";
import { liveKey, type World } from "./world.ts";

/** The object was applied as it is wanted, and is not as it was applied; the manifest of a step carries its digest. */
const isRepair = (manifest: Manifest, live: JsonObject | undefined): boolean =>
  digestOf(live) !== undefined && digestOf(live) === digestOf(manifest);

const digestOf = (object: JsonObject | undefined): string | undefined =>
  stringAt(object ?? null, "metadata", "annotations", MANIFEST_ANNOTATION);

/** Repairs among the steps, as `Kind name`. */
export const repairsIn = (steps: ReadonlyArray<Step>, world: World): ReadonlyArray<string> =>
  steps.flatMap((step) => {
    if (step._tag !== "Apply") return [];
    const { kind, metadata: { name } } = step.manifest;
    return isRepair(step.manifest, world.live.get(liveKey(kind, name))) ? [`${kind} ${name}`] : [];
  });
