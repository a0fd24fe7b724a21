/**
 * Writes configs/bases and configs/distributions.json: the config files that the published server packages ship, fixed
 * until they start, and which image each of them is for. With --check nothing is written; 1 when a file is stale.
 */
import * as Result from "effect/Result";
import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "../core/data/json.ts";
import { readYaml11, writeYaml } from "../core/data/yaml.ts";
import {
  filesProvider,
  type Fix,
  modelOnlyWithName,
  noModelAliases,
  plainHttp,
  vllmOnlyWithUrl,
} from "./base_fixes.ts";
import { writeOrCheck } from "./generated_files.ts";
import { unpackedPackage } from "./install/published_package.ts";

/** An embedded base config: its source, its fixes, and the document. */
interface Base {
  readonly text: string;
  readonly fixes: readonly Fix[];
}

const baseOf = async (name: string, { origin, originNote, fixes }: Embedded): Promise<Base> => {
  const [server = "", version = ""] = origin.package.split(" ");
  const file = `${origin.folder}/${origin.file}`;
  const original = await Deno.readFile(join(await unpackedPackage(server, version), file));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", original)).toHex();
  const shipped = Result.getOrThrow(readYaml11(new TextDecoder().decode(original)));
  if (!isObject(shipped)) throw new Error(`${file} of ${origin.package} is no map.`);
  // A fix that finds nothing to do is none.
  const steps = fixes.reduce<{ readonly document: JsonObject; readonly done: readonly Fix[] }>(
    ({ document, done }, fix) => {
      const next = fix.fix(document);
      const changed = JSON.stringify(next) !== JSON.stringify(document);
      return changed ? { document: next, done: [...done, fix] } : { document, done };
    },
    { document: shipped, done: [] },
  );
  const text = [
    `# The base of ${name}, made by tools/bases.ts; do not edit.`,
    `# Origin: Python package ${origin.package}, file ${file},`,
    `# sha256 ${digest}.`,
    ...(originNote === undefined ? [] : [`# ${originNote}`]),
    steps.done.length === 0 ? "# Nothing was changed." : "# Changed:",
    ...steps.done.flatMap(({ change, reason }) => [`# - ${change}:`, `#   ${reason}.`]),
    writeYaml(steps.document),
  ].join("\n");
  return { text, fixes: steps.done };
};

interface Embedded {
  readonly image: string;
  readonly serverVersion: string;
  /** The package that the base is taken from, its distribution folder and the file there. */
  readonly origin: { readonly package: string; readonly folder: string; readonly file: string };
  readonly originNote?: string;
  /** Those that change nothing are left out. */
  readonly fixes: readonly Fix[];
}

/** A name that a resource may give, pinned to one release of a distribution. */
interface Distribution extends Embedded {
  /** The distribution whose other releases `serverVersion` may ask for. */
  readonly releases: string;
}

const LLAMA_STACK = {
  serverVersion: "0.7.1",
  originNote: "Llama Stack 0.7.1, which the image holds, ships the same file.",
} as const;
const OGX = { serverVersion: "1.4.1" } as const;

/** Where a package keeps the file of a distribution; both names changed. */
const originOf = (folder: string, version: string): Embedded["origin"] => {
  const isOgx = atLeast(version, "0.8");
  const root = isOgx ? "ogx" : "llama_stack";
  const home = atLeast(version, "0.2.17") ? "distributions" : "templates";
  return {
    package: `${isOgx ? "ogx" : "llama-stack"} ${version}`,
    folder: `${root}/${home}/${folder}`,
    file: atLeast(version, "0.4") ? "config.yaml" : "run.yaml",
  };
};

const atLeast = (version: string, least: string): boolean => {
  const [ours = [], theirs = []] = [version, least].map((text) => text.split(".").map(Number));
  const differs = theirs.findIndex((part, index) => part !== (ours[index] ?? 0));
  return differs < 0 || (ours[differs] ?? 0) > (theirs[differs] ?? 0);
};

/** The last release of each minor version except the pinned ones. Image tags are the versions that the release job names. */
export const RELEASED: readonly string[] = [
  "0.2.24",
  "0.3.5",
  "0.4.7",
  "0.5.4",
  "0.6.1",
  "0.8.0",
  "1.0.4",
  "1.1.3",
  "1.2.5",
  "1.3.1",
  "1.5.0",
];

/** The releases of each distribution besides those that a name is pinned to. */
const SHIPPED: Readonly<Record<string, readonly string[]>> = { "starter": RELEASED, "postgres-demo": RELEASED };

const release = (folder: string, version: string): Embedded => ({
  image: `docker.io/${atLeast(version, "0.8") ? "ogxai" : "llamastack"}/distribution-${folder}:${version}`,
  serverVersion: version,
  origin: originOf(folder, version),
  fixes: [
    filesProvider(atLeast(version, "0.8") ? "~/.ogx" : "~/.llama", folder, !atLeast(version, "0.3")),
    ...(folder === "postgres-demo" ? [vllmOnlyWithUrl(atLeast(version, "0.5") ? "" : "none")] : []),
    ...(atLeast(version, "0.8") ? [noModelAliases] : []),
    ...(atLeast(version, "1.2") ? [plainHttp] : []),
  ],
});

const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  "starter": {
    ...LLAMA_STACK,
    image: "docker.io/llamastack/distribution-starter:0.7.1",
    origin: originOf("starter", "0.7.3"),
    releases: "starter",
    fixes: [],
  },
  "postgres-demo": {
    ...LLAMA_STACK,
    image: "docker.io/llamastack/distribution-postgres-demo:0.7.1",
    origin: originOf("postgres-demo", "0.7.3"),
    releases: "postgres-demo",
    fixes: [filesProvider("~/.llama"), vllmOnlyWithUrl()],
  },
  "ogx-starter": {
    ...OGX,
    image: "docker.io/ogxai/distribution-starter:1.4.1",
    origin: originOf("starter", "1.4.1"),
    releases: "starter",
    fixes: [plainHttp, noModelAliases],
  },
  "ogx-postgres-demo": {
    ...OGX,
    image: "docker.io/ogxai/distribution-postgres-demo:1.4.1",
    origin: originOf("postgres-demo", "1.4.1"),
    releases: "postgres-demo",
    fixes: [filesProvider("~/.ogx"), vllmOnlyWithUrl(), plainHttp],
  },
  // Both left the packages with the next release.
  "remote-vllm": {
    serverVersion: "0.2.14",
    image: "docker.io/llamastack/distribution-remote-vllm:0.2.14",
    origin: originOf("remote-vllm", "0.2.14"),
    releases: "remote-vllm",
    fixes: [
      modelOnlyWithName,
      // 0.2.14 starts without; the rag-runtime of later 0.2 releases does not.
      { ...filesProvider("~/.llama", "remote-vllm", true), neededToStart: false },
    ],
  },
  "meta-reference-gpu": {
    serverVersion: "0.4.5",
    image: "docker.io/llamastack/distribution-meta-reference-gpu:0.4.5",
    origin: originOf("meta-reference-gpu", "0.4.5"),
    releases: "meta-reference-gpu",
    fixes: [filesProvider("~/.llama", "meta-reference-gpu")],
  },
};

/** By distribution, oldest first; a pinned release is the one of its name. */
const RELEASES: Readonly<Record<string, ReadonlyArray<{ readonly file: string; readonly embedded: Embedded }>>> = Object
  .fromEntries(
    [...new Set(Object.values(DISTRIBUTIONS).map(({ releases }) => releases))].map((folder) => {
      const pinned = Object.entries(DISTRIBUTIONS).filter(([, { releases }]) => releases === folder)
        .map(([name, embedded]) => ({ file: `${name}.yaml`, embedded }));
      const others = SHIPPED[folder] === undefined ? [] : SHIPPED[folder].map((version) => ({
        file: `${folder}-${version.split(".").slice(0, 2).join(".")}.yaml`,
        embedded: release(folder, version),
      }));
      const all = [...pinned, ...others];
      return [
        folder,
        all.sort((a, b) => atLeast(a.embedded.serverVersion, b.embedded.serverVersion) ? 1 : -1),
      ];
    }),
  );

/**
 * The base config of a distribution without a name that a package ships; undefined: the package does not contain it.
 */
export const shippedBase = async (
  folder: string,
  version: string,
): Promise<{ readonly text: string; readonly fixes: readonly string[] } | undefined> => {
  try {
    const { text, fixes } = await baseOf(`${folder} of ${version}`, release(folder, version));
    return { text, fixes: fixes.map(({ change }) => change) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
};

const fixesOf = (bases: ReadonlyMap<string, Base>, file: string): Json =>
  (bases.get(file)?.fixes ?? []).map(({ change, reason, neededToStart }) => ({ change, reason, neededToStart }));

const distributionsTable = (bases: ReadonlyMap<string, Base>): Json =>
  Object.fromEntries(
    Object.entries(DISTRIBUTIONS).map(([name, { image, serverVersion, releases }]) => [name, {
      image,
      serverVersion,
      base: `${name}.yaml`,
      fixes: fixesOf(bases, `${name}.yaml`),
      releases,
    }]),
  );

const releasesTable = (bases: ReadonlyMap<string, Base>): Json =>
  Object.fromEntries(
    Object.entries(RELEASES).map(([folder, rows]) => [
      folder,
      rows.map(({ file, embedded: { image, serverVersion } }) => ({
        image,
        serverVersion,
        base: file,
        fixes: fixesOf(bases, file),
      })),
    ]),
  );

/** Every embedded base by its file name, for the core, which reads no files. */
const basesModule = (files: readonly string[]): string => {
  const named = files.map((file) => ({
    file,
    name: file.replace(/\.yaml$/, "").replaceAll(/[-.](.)/g, (_, next) => next.toUpperCase()),
  }));
  return [
    "/** The embedded base documents by file name. Made by tools/bases.ts; do not edit. */",
    ...named.map(({ file, name }) => `import ${name} from "../../../configs/bases/${file}" with { type: "text" };`),
    "",
    "export const BASES: Readonly<Record<string, string>> = {",
    ...named.map(({ file, name }) => `  "${file}": ${name},`),
    "};",
    "",
  ].join("\n");
};

if (import.meta.main) {
  const bases = new Map<string, Base>();
  for (const [folder, rows] of Object.entries(RELEASES)) {
    for (const { file, embedded } of rows) {
      const name = file.replace(/\.yaml$/, "");
      const title = Object.hasOwn(DISTRIBUTIONS, name) ? name : `${folder} of ${embedded.serverVersion}`;
      bases.set(file, await baseOf(title, embedded));
    }
  }
  const texts = new Map([...bases].map(([file, { text }]) => [`configs/bases/${file}`, text]));
  texts.set("configs/distributions.json", JSON.stringify(distributionsTable(bases), null, 2) + "\n");
  texts.set("configs/releases.json", JSON.stringify(releasesTable(bases), null, 2) + "\n");
  texts.set("core/config/servers/bases.ts", basesModule([...bases.keys()].sort()));
  writeOrCheck(texts, "deno run -A tools/bases.ts");
}
