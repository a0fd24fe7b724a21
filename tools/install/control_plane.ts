import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import {
  type ControlPlaneProgram,
  linkerFlags,
  moduleFolder,
  pinnedGo,
  pinnedVersion,
  programsOf,
  type Source,
  SOURCES,
  versionOf,
} from "./go_programs.ts";
import { downloadReleases, releasedPath } from "./released_programs.ts";
import { must } from "./run_program.ts";

/**
 * Paths of the requested programs: from KUBEBUILDER_ASSETS, else from the cache, else downloaded where the project
 * behind the program publishes it with checksums, else built with Go, which takes minutes the first time. `signal`
 * cancels a download or a build.
 */
export const installControlPlane = async <Name extends ControlPlaneProgram>(
  names: readonly Name[],
  signal?: AbortSignal,
): Promise<Record<Name, string>> => {
  const missing = missingPrograms(names);
  const downloaded = await downloadReleases(missing, versionOf, signal);
  const toBuild = missing.filter((name) => !downloaded.has(name));
  const paths: [Name, string][] = [];
  // One after the other: a Go build uses every core by itself.
  for (const name of names) {
    const left = toBuild.slice(Math.max(0, toBuild.indexOf(name)));
    const path = givenPath(name) ?? downloaded.get(name) ?? releasedPath(name, versionOf(name)) ??
      await builtPath(name, secondsOf(left), signal);
    paths.push([name, path]);
  }
  return Object.fromEntries(paths) as Record<Name, string>;
};

/** Those of the programs that have to be downloaded or built first. */
export const missingPrograms = <Name extends ControlPlaneProgram>(names: readonly Name[]): readonly Name[] =>
  names.filter((name) =>
    givenPath(name) === undefined && releasedPath(name, versionOf(name)) === undefined &&
    !isFile(join(folderOf(name), name))
  );

/** Of the builds that these programs need; programs that are built together count once. */
const secondsOf = (names: readonly ControlPlaneProgram[]): number =>
  [...new Set<Source>(names.map((name) => SOURCES[name]))].reduce((sum, { coldSeconds }) => sum + coldSeconds, 0);

const folderOf = (name: ControlPlaneProgram): string => {
  const source: Source = SOURCES[name];
  return cacheDir("control_plane", `${source.together ?? name}-${pinnedVersion(source)}`);
};

/** The contents of setup-envtest's directory; the rest comes from the cache even if the directory is given. */
const GIVEN_TOGETHER: readonly ControlPlaneProgram[] = ["etcd", "kube-apiserver", "kubectl"];

const givenPath = (name: ControlPlaneProgram): string | undefined => {
  const folder = Deno.env.get("KUBEBUILDER_ASSETS");
  if (folder === undefined || folder === "") return undefined;
  const path = join(folder, name);
  if (isFile(path)) return path;
  if (!GIVEN_TOGETHER.includes(name)) return undefined;
  throw new Error(
    `KUBEBUILDER_ASSETS is ${folder}, but there is no ${name} in it. Fix the folder or unset the variable.`,
  );
};

/** From the cache, or built. `secondsLeft`: for this build and those that follow it. */
const builtPath = async (
  name: ControlPlaneProgram,
  secondsLeft: number,
  signal: AbortSignal | undefined,
): Promise<string> => {
  const source: Source = SOURCES[name];
  const version = pinnedVersion(source);
  const program = source.together ?? name;
  const all = secondsLeft > source.coldSeconds ? `, all programs about ${Math.ceil(secondsLeft / 60)} min` : "";
  const folder = await once(
    folderOf(name),
    `${program} ${version} (first time, about ${source.coldSeconds} s${all})`,
    async (into) => {
      await build(program, source, version, join(into, program), signal);
      if (source.together === undefined) return;
      for (const link of programsOf(source)) await Deno.symlink(program, join(into, link));
    },
  );
  return join(folder, name);
};

const build = async (
  name: string,
  source: Source,
  version: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const copy = source.complete === undefined ? undefined : await completed(source, source.complete);
  try {
    await buildIn(copy ?? moduleFolder(source), name, source, version, path, signal);
  } finally {
    if (copy !== undefined) await Deno.remove(copy, { recursive: true });
  }
};

const completed = async (source: Source, complete: (folder: string) => Promise<void>): Promise<string> => {
  const copy = await Deno.makeTempDir({ prefix: "llama-stack-operator-build-" });
  await must("cp", ["--recursive", `${moduleFolder(source)}/.`, copy]);
  await complete(copy);
  return copy;
};

const buildIn = async (
  folder: string,
  name: string,
  source: Source,
  version: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const go = new Deno.Command("go", {
    // Without debug information the compiler takes a tenth less time.
    args: [
      ...["build", "-v", "-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false"],
      ...(source.tags === undefined ? [] : ["-tags", source.tags]),
      ...["-ldflags", linkerFlags(source, version), "-o", path, source.package],
    ],
    cwd: folder,
    env: { CGO_ENABLED: "0", GOWORK: "off" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    ...(signal === undefined ? {} : { signal }),
  });
  let process: Deno.ChildProcess;
  try {
    process = go.spawn();
  } catch (cause) {
    throw cause instanceof Deno.errors.NotFound ? new Error(withoutGo(name), { cause }) : cause;
  }
  const said = await reportedLines(process.stderr, name, source.packages);
  const { success, code } = await process.status;
  if (!success) throw new Error(`go build ${source.package} exited with ${code}:\n${said.slice(-40).join("\n")}`);
};

/** Everything that a build prints, a line for each package; tells how far it is after every tenth of them. */
const reportedLines = async (
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
  name: string,
  packages: number | undefined,
): Promise<readonly string[]> => {
  let text = "";
  let count = 0;
  for await (const part of output.pipeThrough(new TextDecoderStream())) {
    text += part;
    const tenthsBefore = tenthsOf(count, packages);
    count += part.split("\n").length - 1;
    const tenths = tenthsOf(count, packages);
    if (tenths > tenthsBefore && tenths < 10) console.error(`  ${name}: ${tenths * 10}% of its packages compiled`);
  }
  return text.trimEnd().split("\n");
};

const tenthsOf = (count: number, packages: number | undefined): number =>
  packages === undefined ? 0 : Math.floor(count * 10 / packages);

const withoutGo = (name: string): string =>
  `${name} is required, and Go is not installed to build it. Either set KUBEBUILDER_ASSETS to a folder with ` +
  `${GIVEN_TOGETHER.join(", ")} (setup-envtest creates one), copy the cache folder ${cacheDir("control_plane")} from ` +
  `a machine that has it, or install Go ${pinnedGo()} or newer and add it to PATH.`;

const isFile = (path: string): boolean => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
};
