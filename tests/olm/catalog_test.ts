/** The catalogs by the judgement of opm, which serves them. */
import { deepStrictEqual, ok, rejects, throws } from "node:assert/strict";
import { join } from "node:path";
import { type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { must } from "../../tools/install/run_program.ts";
import { withBundle } from "../../tools/package/catalog.ts";
import { csvName } from "./olm.ts";
import { FIRST, makeReleases, NEXT, PACKAGES } from "./releases.ts";

const blobs = (text: string): ReadonlyArray<JsonObject> =>
  text.split(/^(?=\{)/m).filter((part) => part.trim() !== "").map((part) => JSON.parse(part));

/** In an order that does not depend on who wrote it. */
const sorted = (value: Json | undefined): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : []).map((item) => canonical(item)).sort();

/** Without what is empty: Go leaves that out, or writes it, as each type says. */
const canonical = (value: Json): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([key, item]) => [key, canonical(item)] as const).filter(([, text]) => !/^(""|\{\}|\[\]|null)$/.test(text));
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
};

Deno.test("opm accepts the catalog of a release, and finds the same in its bundles", async (t) => {
  const { opm } = await installControlPlane(["opm"]);
  const releases = await makeReleases();
  const home = await Deno.makeTempDir();
  const run = (...args: readonly string[]) => must(opm, args, { env: { HOME: home, TMPDIR: home } });
  const both = blobs(await Deno.readTextFile(join(releases.catalogs.both, "catalog.json")));
  try {
    await t.step("both catalogs are valid, and a broken one is not", async () => {
      for (const folder of Object.values(releases.catalogs)) await run("validate", folder);
      const broken = join(home, "broken");
      await Deno.mkdir(broken);
      const text = await Deno.readTextFile(join(releases.catalogs.both, "catalog.json"));
      await Deno.writeTextFile(join(broken, "catalog.json"), text.replaceAll('"replaces":', '"replaced":'));
      await rejects(run("validate", broken), /multiple channel heads/);
    });

    await t.step("each release may be upgraded to the next one", () => {
      for (const name of Object.values(PACKAGES)) {
        const channel = both.find((blob) => blob.schema === "olm.channel" && blob.package === name);
        deepStrictEqual(listAt(channel, "entries"), [
          { name: csvName(name, FIRST) },
          { name: csvName(name, NEXT), replaces: csvName(name, FIRST), skipRange: `<${NEXT}` },
        ]);
      }
    });

    await t.step("a bundle of the catalog is what opm finds in its files", async () => {
      for (const [image, folder] of releases.bundles) {
        const ours = both.find((blob) => blob.schema === "olm.bundle" && blob.image === image);
        // Only of an image it leaves out the manifests, as a catalog has to.
        const [bundle = {}] = blobs(await run("render", folder));
        const asImage = await Deno.makeTempDir({ dir: home });
        await Deno.writeTextFile(join(asImage, "bundle.json"), JSON.stringify({ ...bundle, image }));
        const [found] = blobs(await run("render", asImage, "--migrate-level=bundle-object-to-csv-metadata"));
        deepStrictEqual([ours?.name, ours?.package], [found?.name, found?.package]);
        deepStrictEqual(sorted(ours?.properties), sorted(found?.properties));
        const named = (blob: JsonObject | undefined) =>
          sorted(
            listAt(blob, "relatedImages").filter((item) =>
              stringAt(item, "image") !== image && stringAt(item, "image") !== ""
            ),
          );
        deepStrictEqual(named(ours), named(found));
      }
    });

    await t.step("a version is published only once", () => {
      const [bundle] = both.filter(({ schema }) => schema === "olm.bundle");
      const csv = {
        kind: "ClusterServiceVersion",
        metadata: { name: bundle?.name ?? "" },
        spec: { version: FIRST },
      };
      throws(() => withBundle(both, { image: "again", manifests: [csv] }), /published only once/);
      ok(withBundle([], { image: "first", manifests: [csv] }).length === 3);
    });
  } finally {
    await releases.remove();
    await Deno.remove(home, { recursive: true });
  }
});
