/** `images`: the images to mirror for an installation without internet access. */
import * as Result from "effect/Result";
import type { Surroundings } from "../config/derive.ts";
import { resolveDistribution } from "../config/servers/distribution.ts";
import { lines, type Outcome } from "./outcome.ts";

/** The text has what can be copied; the JSON names every distribution, and since when its image is gone. */
export const imagesCommand = ({ distributions, overrides }: Surroundings, format: "text" | "json"): Outcome => {
  const rows = [...distributions].map(([distribution, named]) => {
    const resolved = resolveDistribution({ name: distribution }, distributions, overrides);
    const { image, serverVersion = null, unpublishedSince = null } = Result.isSuccess(resolved)
      ? { ...resolved.success, serverVersion: resolved.success.server?.version }
      : named;
    return { distribution, image, serverVersion, unpublishedSince };
  }).sort((a, b) => a.distribution < b.distribution ? -1 : 1);
  const text = [...new Set(rows.filter((row) => row.unpublishedSince === null).map(({ image }) => image))].sort();
  return { stdout: format === "json" ? `${JSON.stringify(rows, null, 2)}\n` : lines(text), stderr: "", code: 0 };
};
