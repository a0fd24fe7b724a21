/** The samples of deploy/samples, which pages and bundles show. */
import { join } from "node:path";
import * as Result from "effect/Result";
import { KIND } from "../../core/api/v1alpha2.ts";
import { isObject, type JsonObject } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";

/** The resource of each sample, in the order of the file names. `root`: the folder of the project. */
export const samplesIn = (root: string): ReadonlyArray<JsonObject> => {
  const folder = join(root, "deploy/samples");
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort()
    .flatMap((name) => Result.getOrThrow(readManifests(Deno.readTextFileSync(join(folder, name)))))
    .filter(isObject).filter(({ kind }) => kind === KIND);
};
