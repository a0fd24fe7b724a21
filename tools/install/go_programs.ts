/** Programs that are built from Go modules: which, from which module, and in which version. */
import { join } from "node:path";
import { addLego } from "./lego.ts";

/** The programs around Kubernetes that can be had from the Go module registry alone: control plane, node, names, checks. */
export type ControlPlaneProgram = keyof typeof SOURCES;
export interface Source {
  /** Directory next to this file with the go.mod and go.sum that pin the build. */
  readonly folder: string;
  /** The Go module whose version is the program's version. */
  readonly module: string;
  readonly package: string;
  /** Build tags. */
  readonly tags?: string;
  /** First build on two cores, empty cache, downloads included. */
  readonly coldSeconds: number;
  /** Packages that a first build compiles, for a line of progress now and then; undefined: too few for one. */
  readonly packages?: number;
  /** The name of one program that serves as all programs of this source: each is a link to it with its own name. */
  readonly together?: string;
  /** Variables of the program that its own build sets, by package and name. */
  readonly variables?: (version: string) => Readonly<Record<string, string>>;
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

const kubernetes = (program: string, coldSeconds: number, folder: string): Source => ({
  folder,
  module: "k8s.io/kubernetes",
  package: `k8s.io/kubernetes/cmd/${program}`,
  coldSeconds,
  // Otherwise the API server calls itself v0.0.0-master+$Format:%H$, which kubectl cannot parse.
  variables: (version) => {
    const [major = "", minor = ""] = version.split(".");
    const set = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
    return Object.fromEntries(
      Object.entries(set).map(([name, value]) => [`k8s.io/component-base/version.${name}`, value]),
    );
  },
});

/** Our own main.go: the five programs share most of their packages, so one build takes half the time of five. */
const CONTROL_PLANE: Source = {
  ...kubernetes("", 220, "kubernetes"),
  package: ".",
  packages: 2_700,
  together: "control-plane",
};

/** Our own main.go for what makes a host a node. In the module of the control plane, most of it is compiled already. */
const NODE: Source = { ...kubernetes("", 30, "kubernetes"), package: "./node", together: "node" };

/** For another minor version, the program that its project publishes. */
const ofControlPlane = (program: string, coldSeconds: number): Source => {
  const folder = chosenFolder();
  return folder === CONTROL_PLANE.folder ? CONTROL_PLANE : kubernetes(program, coldSeconds, folder);
};

/** Without a cluster, Helm 3 assumes the version of Kubernetes that its client is of; otherwise it would assume 1.20. */
const helm3Variables = (): Readonly<Record<string, string>> => {
  const [, minor = ""] = inGoMod({ folder: "helm_3" }, "k8s.io/client-go v").split(".");
  return Object.fromEntries(
    ["pkg/chartutil", "pkg/lint/rules"].flatMap((path) => [
      [`helm.sh/helm/v3/${path}.k8sVersionMajor`, "1"],
      [`helm.sh/helm/v3/${path}.k8sVersionMinor`, minor],
    ]),
  );
};

/** OLM and the catalog program that it requires are one module, so that they share what they compile. */
const olm = (program: "olm" | "catalog", coldSeconds: number): Source => ({
  folder: "olm",
  module: `${OPERATOR_FRAMEWORK}/operator-lifecycle-manager`,
  package: `${OPERATOR_FRAMEWORK}/operator-lifecycle-manager/cmd/${program}`,
  coldSeconds,
});

/** Without service discovery, which the tests do not use and which would take most of the time. */
const prometheus = (program: "prometheus" | "promtool", coldSeconds: number): Source => ({
  folder: "prometheus",
  module: "github.com/prometheus/prometheus",
  package: `github.com/prometheus/prometheus/cmd/${program}`,
  tags: "remove_all_sd",
  coldSeconds,
});

const OPERATOR_FRAMEWORK = "github.com/operator-framework";

// Several modules, because their requirements conflict.
export const SOURCES = {
  etcd: CONTROL_PLANE,
  "kube-apiserver": ofControlPlane("kube-apiserver", 190),
  kubectl: ofControlPlane("kubectl", 25),
  "kube-controller-manager": ofControlPlane("kube-controller-manager", 60),
  "kube-scheduler": ofControlPlane("kube-scheduler", 30),
  kubelet: NODE,
  "kube-proxy": NODE,
  coredns: NODE,
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
  helm: { folder: "helm", module: "helm.sh/helm/v4", package: "helm.sh/helm/v4/cmd/helm", coldSeconds: 150 },
  "helm-3": {
    folder: "helm_3",
    module: "helm.sh/helm/v3",
    package: "helm.sh/helm/v3/cmd/helm",
    coldSeconds: 215,
    variables: helm3Variables,
  },
  // Our own main.go around the kubelet's choice of credentials.
  keyring: { folder: "kubernetes", module: "k8s.io/kubernetes", package: "./keyring", coldSeconds: 30 },
  // Our own main.go around kube-router's firewall alone, whose libraries the control plane has compiled already.
  "network-policies": {
    folder: "kubernetes",
    module: "github.com/cloudnativelabs/kube-router/v2",
    package: "./network_policies",
    coldSeconds: 40,
  },
  cosign: {
    folder: "cosign",
    module: "github.com/sigstore/cosign/v2",
    package: "github.com/sigstore/cosign/v2/cmd/cosign",
    coldSeconds: 120,
  },
  actionlint: {
    folder: "actionlint",
    module: "github.com/rhysd/actionlint",
    package: "github.com/rhysd/actionlint/cmd/actionlint",
    coldSeconds: 10,
  },
  registry: {
    folder: "distribution",
    module: "github.com/distribution/distribution/v3",
    package: "github.com/distribution/distribution/v3/cmd/registry",
    coldSeconds: 95,
  },
  zot: {
    folder: "zot",
    module: "zotregistry.io/zot",
    package: "zotregistry.io/zot/cmd/zot",
    // Without scanners and extensions, which need C libraries.
    tags: "containers_image_openpgp,minimal,exclude_graphdriver_btrfs",
    coldSeconds: 95,
  },
  // Our own main.go around its controllers and its CA injector.
  "cert-manager": {
    folder: "cert_manager",
    module: "github.com/cert-manager/cert-manager",
    package: ".",
    coldSeconds: 165,
  },
  prometheus: prometheus("prometheus", 160),
  promtool: prometheus("promtool", 80),
  // Our own main.go, as for the next one: both are libraries.
  kstatus: { folder: "kstatus", module: "sigs.k8s.io/cli-utils", package: ".", coldSeconds: 40 },
  "argocd-health": { folder: "argocd_health", module: "github.com/yuin/gopher-lua", package: ".", coldSeconds: 5 },
  krew: { folder: "krew", module: "sigs.k8s.io/krew", package: "sigs.k8s.io/krew/cmd/krew", coldSeconds: 20 },
  // As the jq that users have; jq itself is a program in C.
  gojq: {
    folder: "gojq",
    module: "github.com/itchyny/gojq",
    package: "github.com/itchyny/gojq/cmd/gojq",
    coldSeconds: 10,
  },
} as const satisfies Record<string, Source>;

export const programsOf = (source: Source): readonly string[] =>
  Object.entries<Source>(SOURCES).filter(([, of]) => of === source).map(([name]) => name);

export const linkerFlags = ({ variables }: Source, version: string): string =>
  ["-s -w", ...Object.entries(variables?.(version) ?? {}).map(([name, value]) => `-X ${name}=${value}`)].join(" ");

export const pinnedVersion = (source: Source): string => inGoMod(source, `${source.module} v`);

export const versionOf = (name: ControlPlaneProgram): string =>
  name === "etcd" ? inGoMod(CONTROL_PLANE, "go.etcd.io/etcd/server/v3 v") : pinnedVersion(SOURCES[name]);

export const pinnedGo = (): string => inGoMod(SOURCES["kube-apiserver"], "go ");

const inGoMod = (source: Pick<Source, "folder">, before: string): string => {
  const lines = Deno.readTextFileSync(join(moduleFolder(source), "go.mod")).split("\n");
  const line = lines.map((text) => text.trim().replace(/^require /, "")).find((text) => text.startsWith(before));
  const value = line?.slice(before.length).split(" ")[0];
  if (value === undefined) throw new Error(`No "${before}" in go.mod of ${source.folder}`);
  return value;
};

export const moduleFolder = (source: Pick<Source, "folder">): string =>
  join(import.meta.dirname ?? ".", "control_plane", source.folder);
