/** CustomResourceDefinitions of other projects, from the Go modules in which they are published. */
import { join } from "node:path";
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

/** One YAML text each. */
export const olmDefinitions = (): Promise<readonly string[]> =>
  definitionsOf({
    name: "olm",
    folder: moduleFolder(SOURCES.olm),
    module: "github.com/operator-framework/api",
    path: "crds",
  });

/** One YAML text each. */
export const certManagerDefinitions = (): Promise<readonly string[]> =>
  definitionsOf({
    name: "cert-manager",
    folder: moduleFolder(SOURCES["cert-manager"]),
    module: SOURCES["cert-manager"].module,
    path: "deploy/crds",
  });

/** Of the standard channel; one YAML text each. */
export const gatewayDefinitions = async (): Promise<readonly string[]> => {
  const found = await definitionsOf({
    name: "gateway-api",
    folder: DEFINITIONS,
    module: "sigs.k8s.io/gateway-api",
    path: "config/crd/standard",
  });
  // There is a policy beside them that forbids others.
  return found.filter((text) => /^kind: CustomResourceDefinition$/m.test(text));
};

/** One YAML text each. */
export const prometheusDefinitions = (): Promise<readonly string[]> =>
  definitionsOf({
    name: "prometheus-operator",
    folder: DEFINITIONS,
    module: "github.com/prometheus-operator/prometheus-operator",
    path: "example/prometheus-operator-crd",
  });

const DEFINITIONS = moduleFolder({ folder: "definitions" });

const definitionsOf = async ({ name, folder, module, path }: Published): Promise<readonly string[]> => {
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
  return await Promise.all(names.map((file) => Deno.readTextFile(join(crds, file))));
};
