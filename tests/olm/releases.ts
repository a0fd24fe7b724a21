/** Two releases of both bundles, and the catalogs that a release writes: with the first one, and with both. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import * as Result from "effect/Result";
import { isObject, type JsonObject } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { imageOf } from "../../tools/package/choices.ts";
import { catalogText, withBundle } from "../../tools/package/catalog.ts";
import { samplesIn } from "../../tools/package/samples.ts";
import { bundleFiles, bundleImage } from "../../tools/package/olm.ts";

/** This checkout, and the same as the release after it. */
export const [FIRST, NEXT] = [OPERATOR_VERSION, OPERATOR_VERSION.replace(/\d+$/, (patch) => String(Number(patch) + 1))];

/** Folders below `deploy`, and their packages. */
export const PACKAGES = { olm: "llama-stack-operator", "olm-namespaced": "llama-stack-operator-namespaced" } as const;

export interface Releases {
  /** Folders of catalogs, as `opm serve` takes them. */
  readonly catalogs: { readonly first: string; readonly both: string };
  /** Folder with the contents of each image of a bundle. */
  readonly bundles: ReadonlyMap<string, string>;
  /** The compiled program of each image of the operator. */
  readonly programs: ReadonlyMap<string, string>;
  readonly remove: () => Promise<void>;
}

export const makeReleases = async (): Promise<Releases> => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-releases-" });
  const examples = samplesIn(fileURLToPath(new URL("../../", import.meta.url)));
  const bundles = new Map<string, string>();
  let catalog: ReadonlyArray<JsonObject> = [];
  const catalogs = { first: join(folder, "catalog-first"), both: join(folder, "catalog-both") };
  for (const [version, target] of [[FIRST, catalogs.first], [NEXT, catalogs.both]] as const) {
    const files = bundleFiles("", examples, version);
    for (const [below, name] of Object.entries(PACKAGES)) {
      const image = bundleImage(name, version);
      const texts = Object.entries(files).filter(([path]) => path.startsWith(`${below}/`))
        .map(([path, text]) => [path.slice(below.length + 1), text] as const);
      const contents = join(folder, `${name}-${version}`);
      await writeImage(contents, texts);
      bundles.set(image, contents);
      const manifests = texts.filter(([path]) => path.startsWith("manifests/"))
        .flatMap(([, text]) => Result.getOrThrow(readManifests(text))).filter(isObject);
      catalog = withBundle(catalog, { image, manifests });
    }
    await Deno.mkdir(target);
    await Deno.writeTextFile(join(target, "catalog.json"), catalogText(catalog));
  }
  const programs = new Map([
    [imageOf(FIRST), await compiledOperator()],
    [imageOf(NEXT), await compiledOperator(undefined, NEXT)],
  ]);
  return { catalogs, bundles, programs, remove: () => Deno.remove(folder, { recursive: true }) };
};

/** What the lines `COPY <folder> <place>` of bundle.Dockerfile put into the image; it begins with nothing. */
const writeImage = async (
  contents: string,
  texts: ReadonlyArray<readonly [path: string, text: string]>,
): Promise<void> => {
  const dockerfile = texts.find(([path]) => path === "bundle.Dockerfile")?.[1] ?? "";
  for (const [, from = "", place = ""] of dockerfile.matchAll(/^COPY (\S+) \/(\S+?)\/?$/gm)) {
    for (const [path, text] of texts) {
      if (!path.startsWith(`${from}/`)) continue;
      const target = join(contents, place, path.slice(from.length + 1));
      await Deno.mkdir(new URL(".", `file://${target}`), { recursive: true });
      await Deno.writeTextFile(target, text);
    }
  }
};
