/** Files of a volume. Source: validateKeyToPath and validateDownwardAPIVolumeFile of Kubernetes. */
import { isObject, type JsonObject, member, stringAt } from "../../data/json.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, inside } from "./broken.ts";
import { podField, resourceField } from "./downward_api.ts";
import { filePathProblem } from "./paths.ts";

/** Permissions of a file: 0777 in octal. */
const MODE_MAX = 0o777;

export function* mode(source: JsonObject, field: string): Generator<Broken> {
  const value = member(source, field);
  if (typeof value === "number" && (value < 0 || value > MODE_MAX)) {
    yield broken(`out of range: ${value}; use 0 to ${MODE_MAX}, in octal with a leading zero such as 0644`, field);
  }
}

export function* files(source: JsonObject): Generator<Broken> {
  yield* mode(source, "defaultMode");
  yield* each(source, "items", function* (item) {
    if (item.key === "") yield broken("empty; name a key", "key");
    yield* filePath(item, "path");
    yield* mode(item, "mode");
  });
}

export function* filePath(item: JsonObject, field: string): Generator<Broken> {
  const path = stringAt(item, field);
  if (path === undefined) return;
  const problem = path === "" ? "empty; name a file" : filePathProblem(path);
  if (problem !== undefined) yield broken(problem, field);
}

const VOLUME_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.labels",
  "metadata.annotations",
  "metadata.uid",
];

export function* podFile(item: JsonObject): Generator<Broken> {
  yield* filePath(item, "path");
  yield* mode(item, "mode");
  const [field, resource] = [member(item, "fieldRef"), member(item, "resourceFieldRef")];
  if (isObject(field) === isObject(resource)) {
    yield broken(
      isObject(field)
        ? "has two sources; keep fieldRef or resourceFieldRef"
        : "has no source; add fieldRef or resourceFieldRef",
    );
  }
  if (isObject(field)) yield* inside(["fieldRef"], podField(field, VOLUME_FIELDS));
  else if (isObject(resource)) yield* inside(["resourceFieldRef"], resourceField(resource, true));
}
