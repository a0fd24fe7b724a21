/** CustomResourceDefinitions of other projects, from the Go modules in which they are published. */
import { loadAll } from "js-yaml";
import { join } from "node:path";
import type { Definition } from "../cluster/custom_resource_definition.ts";
import { cacheDir, once } from "./cache.ts";
import { moduleFolder, SOURCES } from "./go_programs.ts";
import { must } from "./run_program.ts";

interface Published {
  /** For messages and the folder in the cache. */
  readonly name: string;
  /** Whose go.mod names the version of the module. */
  readonly folder: string;
  readonly module: string;
  /** Below the module. */
  readonly path: string;
}

export const olmDefinitions = (): Promise<readonly Definition[]> =>
  definitionsOf({
    name: "olm",
    folder: moduleFolder(SOURCES.olm),
    module: "github.com/operator-framework/api",
    path: "crds",
  });

export const certManagerDefinitions = (): Promise<readonly Definition[]> =>
  definitionsOf({
    name: "cert-manager",
    folder: moduleFolder(SOURCES["cert-manager"]),
    module: SOURCES["cert-manager"].module,
    path: "deploy/crds",
  });

/** Of the standard channel. */
export const gatewayDefinitions = (): Promise<readonly Definition[]> =>
  definitionsOf({
    name: "gateway-api",
    folder: DEFINITIONS,
    module: "sigs.k8s.io/gateway-api",
    path: "config/crd/standard",
  });

export const prometheusDefinitions = (): Promise<readonly Definition[]> =>
  definitionsOf({
    name: "prometheus-operator",
    folder: DEFINITIONS,
    module: "github.com/prometheus-operator/prometheus-operator",
    path: "example/prometheus-operator-crd",
  });

const DEFINITIONS = moduleFolder({ folder: "definitions" });

const definitionsOf = async ({ name, folder, module, path }: Published): Promise<readonly Definition[]> => {
  const goMod = await Deno.readTextFile(join(folder, "go.mod"));
  const words = goMod.split("\n").map((line) => line.trim().replace(/^require /, "").split(" "));
  const version = words.find(([first]) => first === module)?.[1];
  if (version === undefined) throw new Error(`no ${module} in go.mod of ${name}`);
  const kept = await once(
    cacheDir("control_plane", `${name}-definitions-${version}`),
    `the definitions of ${name}`,
    async (into) => {
      const told = await must("go", ["mod", "download", "-json", module], { cwd: folder });
      await must("cp", ["--recursive", "--no-preserve=mode", join(JSON.parse(told).Dir, path), join(into, "crds")]);
    },
  );
  const crds = join(kept, "crds");
  const names = Array.from(Deno.readDirSync(crds), (file) => file.name).filter((file) => file.endsWith(".yaml")).sort();
  const documents = await Promise.all(names.map(async (file) => loadAll(await Deno.readTextFile(join(crds, file)))));
  // The Gateway API has a policy beside them that forbids others.
  return (documents.flat() as readonly Definition[]).filter(({ kind }) => kind === "CustomResourceDefinition");
};
