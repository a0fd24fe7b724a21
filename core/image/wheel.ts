/** A wheel of a Python package: what its file name and its metadata say. Source: the binary distribution format of PyPA. */
import * as Result from "effect/Result";

export interface Wheel {
  /** Name of the file. */
  readonly file: string;
  /** Normalized: lower-case, with `-`. */
  readonly name: string;
  readonly version: string;
  /** As `Requires-Dist` has them. */
  readonly requires: ReadonlyArray<string>;
  /** Paths of all files in it. */
  readonly files: ReadonlyArray<string>;
  readonly author: string | undefined;
}

/** What was read of the file: paths, and the text of the one METADATA file. */
export interface WheelParts {
  readonly file: string;
  readonly files: ReadonlyArray<string>;
  /** By path; those named METADATA in a .dist-info folder. */
  readonly metadata: ReadonlyMap<string, string>;
}

export const METADATA_FILE = /^[^/]+\.dist-info\/METADATA$/;

/** The failure is a sentence. */
export const wheelOf = ({ file, files, metadata }: WheelParts): Result.Result<Wheel, string> => {
  const invalid = (why: string) => Result.fail(`${file} is not a valid wheel: ${why}`);
  const [, name = "", version = ""] = FILE_NAME.exec(file) ?? [];
  if (name === "") return invalid("its name is not NAME-VERSION-PYTHON-ABI-PLATFORM.whl");
  const [text, ...others] = [...metadata.values()];
  if (text === undefined || others.length > 0) return invalid("one .dist-info/METADATA is needed");
  const outside = files.find((path) => path.startsWith("/") || path.includes("\\") || path.split("/").includes(".."));
  if (outside !== undefined) return Result.fail(`${file} has a file outside of its folder: ${outside.slice(0, 100)}`);
  const normalized = canonical(name);
  const server = SERVER_DISTRIBUTIONS.includes(normalized)
    ? undefined
    : files.map((path) => path.split("/")[0] ?? "").find((top) => SERVER_PACKAGES.includes(top));
  if (server !== undefined) return Result.fail(`${file} contains the package ${server} of the server`);
  const headers = text.split(/\r?\n\r?\n/)[0]?.split(/\r?\n/) ?? [];
  const valuesOf = (field: string) =>
    headers.flatMap((line) =>
      line.toLowerCase().startsWith(`${field.toLowerCase()}:`) ? [line.slice(field.length + 1).trim()] : []
    );
  return Result.succeed({
    file,
    name: normalized,
    version,
    requires: valuesOf("Requires-Dist"),
    files,
    author: valuesOf("Author")[0] || undefined,
  });
};

const FILE_NAME = /^([^-]+)-([^-]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/;

/** Distributions and packages of the servers themselves. */
const SERVER_DISTRIBUTIONS: ReadonlyArray<string> = ["llama-stack", "llama-stack-api", "ogx", "ogx-api"];
const SERVER_PACKAGES: ReadonlyArray<string> = ["llama_stack", "llama_stack_api", "ogx", "ogx_api"];

/** As package indexes compare names. */
export const canonical = (name: string): string => name.replaceAll(/[-_.]+/g, "-").toLowerCase();

/** The name of the package that a requirement is about, unless an extra or a marker limits it. */
export const unconditional = (requirement: string): string | undefined =>
  requirement.includes(";") ? undefined : canonical(/^[A-Za-z0-9._-]+/.exec(requirement)?.[0] ?? "");

/** Which server a package is written for, by what it requires; undefined if it does not say. */
export const productOf = ({ requires }: Wheel): "Llama Stack" | "OGX" | undefined => {
  const names = requires.map(unconditional);
  if (names.some((name) => name === "llama-stack" || name === "llama-stack-api")) return "Llama Stack";
  return names.some((name) => name === "ogx" || name === "ogx-api") ? "OGX" : undefined;
};

/** Packages with a module `provider`, the shortest names first. */
export const providerPackages = ({ files }: Wheel): ReadonlyArray<string> =>
  files.flatMap((path) => {
    const [, folder] = /^((?:[A-Za-z_]\w*\/)+)provider\.py$/.exec(path) ?? [];
    return folder === undefined ? [] : [folder.slice(0, -1).replaceAll("/", ".")];
  }).sort((a, b) => a.split(".").length - b.split(".").length || (a < b ? -1 : 1));
