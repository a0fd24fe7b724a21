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
  llamaModelNamed,
  modelOnlyWithName,
  noModelAliases,
  plainHttp,
  vllmOnlyWithUrl,
} from "./base_fixes.ts";
import { writeOrCheck } from "./generated_files.ts";
import { unpackedPackage } from "./install/published_package.ts";
import { SERVER_VERSIONS } from "./install/python_server.ts";

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
  /** Month since when nobody publishes the image any more; undefined: it is published. */
  readonly unpublishedSince?: string;
  /** The package that the base is taken from, its distribution folder and the file there. */
  readonly origin: { readonly package: string; readonly folder: string; readonly file: string };
  readonly originNote?: string;
  /** Those that change nothing are left out. */
  readonly fixes: readonly Fix[];
}

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

/** The last package of each minor version. */
const RELEASED = SERVER_VERSIONS.map((name) => name.split(" ")[1] ?? "");

/** The server in the image of a minor version, where it is not that of the last package. Both ship the same files. */
const IN_THE_IMAGE: Readonly<Record<string, string>> = { "0.5.4": "0.5.2", "0.7.3": "0.7.1" };

/**
 * Who publishes the image of a server. Docker Hub's organization `llamastack` was removed in June 2026. `ogxai` publishes OGX,
 * and since that month the Llama Stack releases that are named here.
 */
const publishedAs = (folder: string, version: string): Pick<Embedded, "image" | "unpublishedSince"> =>
  atLeast(version, "0.8") || ["0.5.2", "0.6.1"].includes(version)
    ? { image: `docker.io/ogxai/distribution-${folder}:${version}` }
    : { image: `docker.io/llamastack/distribution-${folder}:${version}`, unpublishedSince: "2026-06" };

const release = (folder: string, packaged: string): Embedded => {
  const version = IN_THE_IMAGE[packaged] ?? packaged;
  return {
    ...publishedAs(folder, version),
    serverVersion: version,
    origin: originOf(folder, packaged),
    ...(version === packaged
      ? {}
      : { originNote: `Llama Stack ${version}, which the image holds, ships the same file.` }),
    fixes: [
      filesProvider(atLeast(version, "0.8") ? "~/.ogx" : "~/.llama", folder, !atLeast(version, "0.3")),
      ...(folder === "postgres-demo" ? [vllmOnlyWithUrl(atLeast(version, "0.5") ? "" : "none")] : []),
      ...(folder === "meta-reference-gpu" ? [llamaModelNamed] : []),
      ...(atLeast(version, "0.8") ? [noModelAliases] : []),
      ...(atLeast(version, "1.2") ? [plainHttp] : []),
    ],
  };
};

/** A name that a resource may give. */
interface Distribution {
  /** Other names with the same meaning. */
  readonly aliases: readonly string[];
  /** Version of the server that the name means, unless a resource asks for another one. */
  readonly serverVersion: string;
  /** Oldest first. */
  readonly releases: readonly Embedded[];
}

const published = (folder: string, alias: string): Distribution => ({
  aliases: [alias],
  serverVersion: "1.4.1",
  releases: RELEASED.map((version) => release(folder, version)),
});

const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  "starter": published("starter", "ogx-starter"),
  "postgres-demo": published("postgres-demo", "ogx-postgres-demo"),
  // Both left the packages with the next release.
  "remote-vllm": {
    aliases: [],
    serverVersion: "0.2.14",
    releases: [{
      ...release("remote-vllm", "0.2.14"),
      fixes: [
        modelOnlyWithName,
        // 0.2.14 starts without; the rag-runtime of later 0.2 releases does not.
        { ...filesProvider("~/.llama", "remote-vllm", true), neededToStart: false },
      ],
    }],
  },
  "meta-reference-gpu": {
    aliases: [],
    serverVersion: "0.4.5",
    releases: [release("meta-reference-gpu", "0.4.5")],
  },
};

/** The file of a release's base: no two have the same minor version. */
const fileOf = (name: string, { serverVersion }: Embedded): string =>
  `${name}-${serverVersion.split(".").slice(0, 2).join(".")}.yaml`;

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

const distributionsTable = (bases: ReadonlyMap<string, Base>): Json =>
  Object.fromEntries(
    Object.entries(DISTRIBUTIONS).map(([name, { aliases, serverVersion, releases }]) => [name, {
      serverVersion,
      aliases,
      releases: releases.map((row) => ({
        image: row.image,
        ...(row.unpublishedSince === undefined ? {} : { unpublishedSince: row.unpublishedSince }),
        serverVersion: row.serverVersion,
        base: fileOf(name, row),
        fixes: (bases.get(fileOf(name, row))?.fixes ?? [])
          .map(({ change, reason, neededToStart }) => ({ change, reason, neededToStart })),
      })),
    }]),
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
  for (const [name, { releases }] of Object.entries(DISTRIBUTIONS)) {
    for (const row of releases) bases.set(fileOf(name, row), await baseOf(`${name} of ${row.serverVersion}`, row));
  }
  const texts = new Map([...bases].map(([file, { text }]) => [`configs/bases/${file}`, text]));
  texts.set("configs/distributions.json", JSON.stringify(distributionsTable(bases), null, 2) + "\n");
  texts.set("core/config/servers/bases.ts", basesModule([...bases.keys()].sort()));
  writeOrCheck(texts, "deno run -A tools/bases.ts");
}
