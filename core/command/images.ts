/** `images`: the images to mirror for an installation without internet access. */
import type { Surroundings } from "../config/derive.ts";
import { relatedImageVariable } from "../config/servers/distribution.ts";
import { lines, type Outcome } from "./outcome.ts";

export const imagesCommand = ({ distributions, overrides }: Surroundings, format: "text" | "json"): Outcome => {
  const rows = [...distributions].map(([distribution, { image, serverVersion }]) => ({
    distribution,
    image: overrides.settings.get(distribution) ?? overrides.related.get(relatedImageVariable(distribution)) ?? image,
    serverVersion: serverVersion ?? null,
  })).sort((a, b) => a.distribution < b.distribution ? -1 : 1);
  const text = [...new Set(rows.map(({ image }) => image))].sort();
  return { stdout: format === "json" ? `${JSON.stringify(rows, null, 2)}\n` : lines(text), stderr: "", code: 0 };
};
