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
  /** Where its files are installed, below the folder of all packages. */
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
  const named = namedWheel(file);
  if (Result.isFailure(named)) return Result.fail(named.failure);
  const { name: normalized, version } = named.success;
  const [text, ...others] = [...metadata.values()];
  if (text === undefined || others.length > 0) return invalid("one .dist-info/METADATA is needed");
  const headers = text.split(/\r?\n\r?\n/)[0]?.split(/\r?\n/) ?? [];
  const valuesOf = (field: string) =>
    headers.flatMap((line) =>
      line.toLowerCase().startsWith(`${field.toLowerCase()}:`) ? [line.slice(field.length + 1).trim()] : []
    );
  const inner = valuesOf("Name")[0];
  if (inner !== undefined && canonicalProject(inner) !== normalized) {
    return invalid(`its METADATA is that of ${inner.slice(0, 100)}`);
  }
  const info = [...metadata.keys()][0]?.split("/")[0] ?? "";
  const isServer = SERVER_DISTRIBUTIONS.includes(normalized);
  const misplaced = files.flatMap((path) => placeProblem(path, info, isServer) ?? [])[0];
  if (misplaced !== undefined) return Result.fail(`${file} ${misplaced}`);
  return Result.succeed({
    file,
    name: normalized,
    version,
    requires: valuesOf("Requires-Dist"),
    files: files.flatMap((path) => path.endsWith("/") ? [] : targetOf(path, info) ?? []),
    author: valuesOf("Author")[0] || undefined,
  });
};

/** What the name of the file says. The failure is a sentence. */
export const namedWheel = (file: string): Result.Result<Pick<Wheel, "file" | "name" | "version">, string> => {
  const [, name = "", version = ""] = FILE_NAME.exec(file) ?? [];
  return name === ""
    ? Result.fail(`${file} is not a valid wheel: its name is not NAME-VERSION-PYTHON-ABI-PLATFORM.whl`)
    : Result.succeed({ file, name: canonicalProject(name), version });
};

/** The end of a sentence about the file; undefined for one that may be installed. */
const placeProblem = (path: string, info: string, isServer: boolean): string | undefined => {
  const parts = path.replace(/\/$/, "").split("/");
  const short = path.slice(0, 100);
  if (path.includes("\\") || parts.some((part) => ["", ".", ".."].includes(part))) {
    return `has a file outside of its folder: ${short}`;
  }
  if (parts.some((part) => new TextEncoder().encode(part).length > NAME_BYTES_MAX)) {
    return `has a file whose name is too long: ${short}`;
  }
  const target = targetOf(path, info);
  if (target === undefined || isServer) return undefined;
  const module = topModule(target) ?? "";
  if (SERVER_PACKAGES.includes(module)) return `contains the package ${module} of the server`;
  const top = target.split("/")[0] ?? "";
  return top.endsWith(".dist-info") && top !== info
    ? `contains the metadata of another package: ${top.slice(0, 100)}`
    : undefined;
};

/** Of file systems on Linux. */
const NAME_BYTES_MAX = 255;

/** Where a file of the wheel is installed; undefined for scripts, headers and data, which are not. */
const targetOf = (path: string, info: string): string | undefined => {
  const data = `${info.replace(/\.dist-info$/, "")}.data/`;
  if (!path.startsWith(data)) return path;
  return /^(?:purelib|platlib)\/(.+)$/s.exec(path.slice(data.length))?.[1];
};

/** The name under which Python imports a file, or its outermost package; undefined if it does not. */
const topModule = (target: string): string | undefined => {
  const [top = "", ...rest] = target.split("/");
  if (rest.join("/") !== "") return top;
  return /\.(py|pyc|so)$/.test(top) ? top.split(".")[0] : undefined;
};

/** The version as PEP 440 has it, without which Python does not install the file. */
const FILE_NAME = new RegExp(
  "^(\\w[\\w.]*)-(" +
    "v?(?:\\d+!)?\\d+(?:\\.\\d+)*(?:[_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[_.]?\\d*)?" +
    "(?:[_.]?(?:post|rev|r)[_.]?\\d*)?(?:[_.]?dev[_.]?\\d*)?(?:\\+[a-z0-9]+(?:[_.][a-z0-9]+)*)?" +
    ")(?:-\\d[^-]*)?(?:-[A-Za-z0-9_.]+){3}\\.whl$",
  "i",
);

/** Distributions and packages of the servers themselves. */
const SERVER_DISTRIBUTIONS: ReadonlyArray<string> = ["llama-stack", "llama-stack-api", "ogx", "ogx-api"];
const SERVER_PACKAGES: ReadonlyArray<string> = ["llama_stack", "llama_stack_api", "ogx", "ogx_api"];

/** As package indexes compare names. */
export const canonicalProject = (name: string): string => name.replaceAll(/[-_.]+/g, "-").toLowerCase();

/** The name of the package that a requirement is about. */
const packageIn = (requirement: string): string =>
  canonicalProject(/^\s*([A-Za-z0-9._-]+)/.exec(requirement)?.[1] ?? "");

/** The same, unless an extra or a marker limits the requirement. */
export const unconditional = (requirement: string): string | undefined =>
  requirement.includes(";") ? undefined : packageIn(requirement);

/** The server that a distribution package belongs to; undefined for packages of others. */
export const productOfPackage = (name: string): "Llama Stack" | "OGX" | undefined =>
  !SERVER_DISTRIBUTIONS.includes(name) ? undefined : name.startsWith("ogx") ? "OGX" : "Llama Stack";

/** Packages with a module `provider`, the shortest names first. */
export const providerPackages = ({ files }: Wheel): ReadonlyArray<string> =>
  files.flatMap((path) => {
    const [, folder] = /^((?:[A-Za-z_]\w*\/)+)provider(?:\/__init__)?\.(?:py|pyc|so|[\w-]+\.so)$/.exec(path) ?? [];
    return folder === undefined ? [] : [folder.slice(0, -1).replaceAll("/", ".")];
  }).sort((a, b) => a.split(".").length - b.split(".").length || (a < b ? -1 : 1));
