/** The software bill of materials of a release, in CycloneDX: what the program and its image consist of. */
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { must } from "../install/run_program.ts";

export interface Contents {
  readonly version: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly packages: ReadonlyArray<
    { readonly name: string; readonly version: string; readonly license: string | undefined }
  >;
  /** Base images by digest. */
  readonly images: ReadonlyArray<string>;
}

/** The npm packages that the program contains; not those of tools, of tests, and of types alone. */
export const packagesOf = async (root: string): Promise<Contents["packages"]> => {
  const { roots, modules, redirects, npmPackages }: Graph = JSON.parse(
    await must(Deno.execPath(), ["info", "--json", "mod.ts"], { cwd: root }),
  );
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const found = new Set<string>();
  const seen = new Set<string>();
  const waiting = [...roots];
  for (let specifier = waiting.pop(); specifier !== undefined; specifier = waiting.pop()) {
    if (seen.has(specifier)) continue;
    seen.add(specifier);
    const { npmPackage, dependencies = [] } = bySpecifier.get(redirects[specifier] ?? specifier) ?? {};
    if (npmPackage !== undefined) addWithDependencies(npmPackage, npmPackages, found);
    // `type` instead of `code`: an import that the compiler removes.
    waiting.push(...dependencies.flatMap(({ code }) => code?.specifier ?? []));
  }
  const all = [...found].flatMap((key) => npmPackages[key] ?? []);
  return (await Promise.all(all.map(async ({ name, version, localPath }) => ({
    name,
    version,
    license: localPath === undefined ? undefined : await licenseIn(`${localPath}/package.json`),
  })))).toSorted((a, b) => a.name < b.name ? -1 : 1);
};

/** What `deno info --json` prints, as far as it is used here. */
interface Graph {
  readonly roots: ReadonlyArray<string>;
  readonly modules: ReadonlyArray<{
    readonly specifier: string;
    /** Key of `npmPackages`. */
    readonly npmPackage?: string;
    readonly dependencies?: ReadonlyArray<{ readonly code?: { readonly specifier?: string } }>;
  }>;
  readonly redirects: Readonly<Record<string, string>>;
  readonly npmPackages: Readonly<Record<string, NpmPackage>>;
}

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly dependencies: ReadonlyArray<string>;
  readonly localPath?: string;
}

const addWithDependencies = (
  key: string,
  packages: Readonly<Record<string, NpmPackage>>,
  found: Set<string>,
): void => {
  if (found.has(key)) return;
  found.add(key);
  for (const dependency of packages[key]?.dependencies ?? []) addWithDependencies(dependency, packages, found);
};

const licenseIn = async (file: string): Promise<string | undefined> => {
  const text = await Deno.readTextFile(file).catch(() => undefined);
  const license = text === undefined ? undefined : JSON.parse(text).license;
  return typeof license === "string" ? license : undefined;
};

export const sbomText = ({ version, createdAt, packages, images }: Contents): string => {
  const component = (type: Enums.ComponentType, name: string, of: string, purl: string, license?: string) => {
    const item = new Models.Component(type, name, { version: of, bomRef: purl, purl });
    if (license !== undefined) item.licenses.add(new Models.LicenseExpression(license));
    return item;
  };
  const bom = new Models.Bom({ metadata: new Models.Metadata({ timestamp: new Date(createdAt) }) });
  bom.metadata.component = component(
    Enums.ComponentType.Application,
    "llama-stack-operator",
    version,
    `pkg:generic/llama-stack-operator@${version}`,
    "Apache-2.0",
  );
  const parts = [
    component(Enums.ComponentType.Platform, "deno", Deno.version.deno, `pkg:generic/deno@${Deno.version.deno}`, "MIT"),
    ...packages.map((item) =>
      component(
        Enums.ComponentType.Library,
        item.name,
        item.version,
        `pkg:npm/${item.name.replace("@", "%40")}@${item.version}`,
        item.license,
      )
    ),
    ...images.map((image) => {
      const [name = "", digest = ""] = image.split("@");
      const short = name.replace(/:[^/]*$/, "");
      return component(
        Enums.ComponentType.Container,
        short,
        digest,
        `pkg:oci/${short.split("/").at(-1)}@${encodeURIComponent(digest)}?repository_url=${short}`,
      );
    }),
  ];
  for (const part of parts) {
    bom.components.add(part);
    bom.metadata.component.dependencies.add(part.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
};
