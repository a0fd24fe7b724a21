import { join } from "node:path";
import { addLego } from "./lego.ts";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";

/** The programs around Kubernetes that can be had from the Go module registry alone: control plane, node, names, checks. */
export type ControlPlaneProgram = keyof typeof SOURCES;

/**
 * Paths of the requested programs: from KUBEBUILDER_ASSETS, else from the cache, else built with Go into the cache,
 * which takes minutes the first time. `signal` cancels a build.
 */
export const installControlPlane = async <Name extends ControlPlaneProgram>(
  names: readonly Name[],
  signal?: AbortSignal,
): Promise<Record<Name, string>> => {
  const paths: [Name, string][] = [];
  const missing = missingPrograms(names);
  // One after the other: a Go build uses every core by itself.
  for (const name of names) {
    const left = missing.slice(Math.max(0, missing.indexOf(name)));
    paths.push([name, givenPath(name) ?? await cachedPath(name, left, missing.length, signal)]);
  }
  return Object.fromEntries(paths) as Record<Name, string>;
};

/** Those of the programs that have to be built first. */
export const missingPrograms = <Name extends ControlPlaneProgram>(names: readonly Name[]): readonly Name[] =>
  names.filter((name) => givenPath(name) === undefined && !isFile(join(folderOf(name), name)));

const folderOf = (name: ControlPlaneProgram): string =>
  cacheDir("control_plane", `${name}-${pinnedVersion(SOURCES[name])}`);

interface Source {
  /** Directory next to this file with the go.mod and go.sum that pin the build. */
  readonly folder: string;
  /** The Go module whose version is the program's version. */
  readonly module: string;
  readonly package: string;
  /** Build tags. */
  readonly tags?: string;
  /** First build on two cores, empty cache, downloads included. */
  readonly coldSeconds: number;
  /** Adds what go.mod refers to and this repository does not hold, to a copy of the folder. */
  readonly complete?: (folder: string) => Promise<void>;
}

/** Names the minor version of the control plane, e.g. 1.33, when it is not the usual one; tools/minors.ts sets it. */
export const MINOR_VARIABLE = "KUBERNETES_MINOR";

/** Minor versions that can be requested besides the usual one, the oldest supported one first; each has its directory. */
export const OTHER_MINORS: readonly string[] = ["1.32", "1.33", "1.37"];

const chosenFolder = (): string => {
  const minor = Deno.env.get(MINOR_VARIABLE) ?? "";
  if (minor === "") return "kubernetes";
  if (OTHER_MINORS.includes(minor)) return `kubernetes_${minor}`;
  throw new Error(`${MINOR_VARIABLE} is ${minor}; known are ${OTHER_MINORS.join(", ")}`);
};

const kubernetes = (program: string, coldSeconds: number, folder = chosenFolder()): Source => ({
  folder,
  module: "k8s.io/kubernetes",
  package: `k8s.io/kubernetes/cmd/${program}`,
  coldSeconds,
});

/** OLM and the catalog program that it requires are one module, so that they share what they compile. */
const olm = (program: "olm" | "catalog", coldSeconds: number): Source => ({
  folder: "olm",
  module: `${OPERATOR_FRAMEWORK}/operator-lifecycle-manager`,
  package: `${OPERATOR_FRAMEWORK}/operator-lifecycle-manager/cmd/${program}`,
  coldSeconds,
});

const OPERATOR_FRAMEWORK = "github.com/operator-framework";

// Several modules, because their requirements conflict: Kubernetes requires a newer etcd client than this etcd, and
// kwok and CoreDNS older Kubernetes libraries. The node's programs are older, because newer kubelets do not start on
// hosts with cgroup v1; a control plane may be two minor versions newer than they are.
const SOURCES = {
  etcd: { folder: "etcd", module: "go.etcd.io/etcd/server/v3", package: "go.etcd.io/etcd/server/v3", coldSeconds: 40 },
  "kube-apiserver": kubernetes("kube-apiserver", 190),
  kubectl: kubernetes("kubectl", 25),
  "kube-controller-manager": kubernetes("kube-controller-manager", 60),
  "kube-scheduler": kubernetes("kube-scheduler", 30),
  kubelet: kubernetes("kubelet", 190, "kubernetes_node"),
  "kube-proxy": kubernetes("kube-proxy", 20, "kubernetes_node"),
  // Our own main.go: the published program brings some fifty plugins.
  coredns: { folder: "coredns", module: "github.com/coredns/coredns", package: ".", coldSeconds: 60 },
  // Our own main.go around OLM's library of checks.
  "bundle-validator": {
    folder: "bundle_validator",
    module: "github.com/operator-framework/api",
    package: ".",
    coldSeconds: 60,
  },
  olm: olm("olm", 200),
  catalog: olm("catalog", 20),
  opm: {
    folder: "olm",
    module: `${OPERATOR_FRAMEWORK}/operator-registry`,
    package: `${OPERATOR_FRAMEWORK}/operator-registry/cmd/opm`,
    // Signatures of images are checked in Go instead of by a C library.
    tags: "containers_image_openpgp",
    coldSeconds: 30,
  },
  "kube-score": {
    folder: "kube_score",
    module: "github.com/zegl/kube-score",
    package: "github.com/zegl/kube-score/cmd/kube-score",
    coldSeconds: 90,
  },
  traefik: {
    folder: "traefik",
    module: "github.com/traefik/traefik/v3",
    package: "github.com/traefik/traefik/v3/cmd/traefik",
    coldSeconds: 150,
    complete: addLego,
  },
  kwok: { folder: "kwok", module: "sigs.k8s.io/kwok", package: "sigs.k8s.io/kwok/cmd/kwok", coldSeconds: 120 },
} as const satisfies Record<string, Source>;

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

/** `left`: what is still to be built, this program first; `count`: how many there were at the beginning. */
const cachedPath = async (
  name: ControlPlaneProgram,
  left: readonly ControlPlaneProgram[],
  count: number,
  signal: AbortSignal | undefined,
): Promise<string> => {
  const source = SOURCES[name];
  const version = pinnedVersion(source);
  const seconds = left.reduce((sum, program) => sum + SOURCES[program].coldSeconds, 0);
  const place = count < 2 ? "" : `, ${count - left.length + 1} of ${count}, about ${Math.ceil(seconds / 60)} min left`;
  const label = `${name} ${version} (first time, about ${source.coldSeconds} s${place})`;
  const folder = await once(
    folderOf(name),
    label,
    (into) => build(name, source, version, join(into, name), signal),
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
    args: [
      "build",
      "-mod=readonly",
      "-trimpath",
      ...(source.tags === undefined ? [] : ["-tags", source.tags]),
      "-ldflags",
      linkerFlags(source, version),
      "-o",
      path,
      source.package,
    ],
    cwd: folder,
    env: { CGO_ENABLED: "0", GOWORK: "off" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    ...(signal === undefined ? {} : { signal }),
  });
  let outcome: Deno.CommandOutput;
  try {
    outcome = await go.output();
  } catch (cause) {
    throw cause instanceof Deno.errors.NotFound ? new Error(withoutGo(name), { cause }) : cause;
  }
  if (!outcome.success) {
    const log = new TextDecoder().decode(outcome.stderr).trimEnd().split("\n").slice(-40).join("\n");
    throw new Error(`go build ${source.package} exited with ${outcome.code}:\n${log}`);
  }
};

const withoutGo = (name: string): string =>
  `${name} is required, and Go is not installed to build it. Either set KUBEBUILDER_ASSETS to a folder with ` +
  `${GIVEN_TOGETHER.join(", ")} (setup-envtest creates one), copy the cache folder ${cacheDir("control_plane")} from ` +
  `a machine that has it, or install Go ${pinnedGo()} or newer and add it to PATH.`;

/** Without the version flags the API server calls itself v0.0.0-master+$Format:%H$, which kubectl cannot parse. */
const linkerFlags = (source: Source, version: string): string => {
  if (source.module !== "k8s.io/kubernetes") return "-s -w";
  const [major, minor] = version.split(".");
  const set = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
  return ["-s -w", ...Object.entries(set).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)]
    .join(" ");
};

const pinnedVersion = (source: Source): string => inGoMod(source, `${source.module} v`);

const pinnedGo = (): string => inGoMod(SOURCES["kube-apiserver"], "go ");

const inGoMod = (source: Source, before: string): string => {
  const lines = Deno.readTextFileSync(join(moduleFolder(source), "go.mod")).split("\n");
  const line = lines.map((text) => text.trim().replace(/^require /, "")).find((text) => text.startsWith(before));
  const value = line?.slice(before.length).split(" ")[0];
  if (value === undefined) throw new Error(`No "${before}" in go.mod of ${source.folder}`);
  return value;
};

const moduleFolder = (source: Source): string => join(import.meta.dirname ?? ".", "control_plane", source.folder);

const isFile = (path: string): boolean => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
};
