/**
 * Writes what is made from the schema in core/api: the CRD, the schema for editors, docs/api.md; and the files of deploy/.
 *
 * `deno task gen` writes, `deno task gen --check` compares and exits 1 when a file is stale.
 */
import * as Result from "effect/Result";
import { providersPage } from "../core/command/catalogue.ts";
import { migrationPage } from "./package/migration_page.ts";
import { movesPage } from "./package/moves_page.ts";
import { customResourceDefinition, resourceSchema } from "../core/api/crd.ts";
import { editorSchema } from "../core/api/editor_schema.ts";
import { DEFAULT } from "./package/choices.ts";
import { installation } from "./package/installation.ts";
import { kustomizeFiles, oneFile } from "./package/kustomize.ts";
import { bundleFiles } from "./package/olm.ts";
import { withPermissions } from "./package/permissions_table.ts";
import { isObject } from "../core/data/json.ts";
import { KIND } from "../core/api/v1alpha2.ts";
import { referencePage } from "./package/reference_page.ts";
import { conditionsPage } from "./conditions_page.ts";
import { compatibilityPage } from "./boot_matrix/page.ts";
import { readBoots } from "./boot_matrix/results.ts";
import { readManifests, writeYaml } from "../core/data/yaml.ts";

const header = "# Made by `deno task gen` from core/api; do not edit.\n";

const INSTALL_HEADER = "# Made by `deno task gen` from tools/package; do not edit.\n";

const BOOTS = await readBoots(new URL("../configs/boots.json", import.meta.url));

const SAMPLES = new URL("../deploy/samples/", import.meta.url);

/** The resource of each sample. */
const EXAMPLES = Array.from(Deno.readDirSync(SAMPLES), ({ name }) => name).sort()
  .flatMap((name) => Result.getOrThrow(readManifests(Deno.readTextFileSync(new URL(name, SAMPLES)))))
  .filter(isObject).filter(({ kind }) => kind === KIND);

/** Written by hand but for one table. */
const securityPage = (): string => {
  const page = withPermissions(Deno.readTextFileSync(new URL("../docs/security.md", import.meta.url)));
  if (page === undefined) throw new Error("docs/security.md lacks the marks of the table of permissions");
  return page;
};

const FILES: Readonly<Record<string, () => string>> = {
  "crds/llamastackdistributions.yaml": () => header + writeYaml(customResourceDefinition()),
  "docs/schema/llamastackdistribution-v1alpha2.schema.json": () => `${JSON.stringify(editorSchema(), null, 2)}\n`,
  "core/api/resource_schema.json": () => `${JSON.stringify(resourceSchema())}\n`,
  "deploy/install.yaml": () => oneFile(INSTALL_HEADER, installation(DEFAULT)),
  ...Object.fromEntries(
    Object.entries(kustomizeFiles(INSTALL_HEADER)).map(([path, text]) => [`deploy/kustomize/${path}`, () => text]),
  ),
  ...Object.fromEntries(
    Object.entries(bundleFiles(INSTALL_HEADER, EXAMPLES)).map(([path, text]) => [`deploy/${path}`, () => text]),
  ),
  "docs/conditions.md": conditionsPage,
  "docs/compatibility.md": () => compatibilityPage(BOOTS),
  "docs/migration.md": migrationPage,
  "docs/moves.md": movesPage,
  "docs/providers.md": providersPage,
  "docs/api.md": () => referencePage(resourceSchema()),
  "docs/security.md": securityPage,
};

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const check = Deno.args.includes("--check");
  const stale: Array<string> = [];
  for (const [path, make] of Object.entries(FILES)) {
    const file = new URL(path, root);
    const text = make();
    if (await Deno.readTextFile(file).catch(() => undefined) === text) continue;
    if (check) {
      stale.push(path);
    } else {
      await Deno.mkdir(new URL(".", file), { recursive: true });
      await Deno.writeTextFile(file, text);
      console.log(`wrote ${path}`);
    }
  }
  if (stale.length > 0) {
    console.error(`stale: ${stale.join(", ")}; run deno task gen`);
    Deno.exit(1);
  }
}
