/** What the operator will create for the resources of a file: shown first, since installing a control plane may take minutes. */
import * as Result from "effect/Result";
import { renderCommand } from "../../core/command/render.ts";
import { PLAIN } from "../../core/command/outcome.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import type { Surroundings } from "../../core/config/derive.ts";

/** Lines of text; for a resource that is not valid, its errors. With `config` its config.yaml too. */
export const previewLines = (
  resource: JsonObject,
  surroundings: Surroundings,
  config: boolean,
): ReadonlyArray<string> => {
  const file = { name: "preview", text: JSON.stringify(resource) };
  const rendered = (only: "config" | undefined) =>
    renderCommand([file], surroundings, { only, format: "yaml", style: PLAIN });
  const objects = rendered(undefined);
  if (objects.code !== 0) return objects.stderr.trimEnd().split("\n");
  const all = Result.getOrElse(readManifests(objects.stdout), () => []);
  const names = all.map((object) => `${stringAt(object, "kind")}/${stringAt(object, "metadata", "name")}`);
  const text = config ? rendered("config").stdout.trimEnd() : "";
  return [
    `The operator will create: ${names.join(", ")}`,
    ...(text === "" ? [] : ["", ...text.split("\n").map((line) => `  ${line}`), ""]),
  ];
};
