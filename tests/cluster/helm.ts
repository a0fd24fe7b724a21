/** Helm on a control plane, or without one. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import * as Result from "effect/Result";
import { isObject, type JsonObject, objectAt, put, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { type Ended, ended, must } from "../../tools/install/run_program.ts";
import { type Choices } from "../../tools/package/choices.ts";
import { chartFiles } from "../../tools/package/helm/chart.ts";
import { installation } from "../../tools/package/installation.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";

export const CHART = fileURLToPath(new URL("../../deploy/helm/llama-stack-operator", import.meta.url));

/** Helm 4, unless `HELM_PROGRAM` says `helm-3`. */
export const PROGRAM = Deno.env.get("HELM_PROGRAM") === "helm-3" ? "helm-3" : "helm";

export interface Helm {
  /** Standard output; fails with what Helm printed if it fails. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<string>;
  /** How it ended. */
  readonly ended: (...args: ReadonlyArray<string>) => Promise<Ended>;
  /** The objects that a chart renders. */
  readonly template: (...args: ReadonlyArray<string>) => Promise<ReadonlyArray<JsonObject>>;
  /** Runs whatever command, with this Helm as `helm`. */
  readonly env: Readonly<Record<string, string>>;
}

/** Keeps its files in `home`. */
export const helmOn = async (home: string, cluster?: Pick<ControlPlane, "kubeconfig">): Promise<Helm> => {
  const { [PROGRAM]: program } = await installControlPlane([PROGRAM]);
  await Deno.mkdir(join(home, "bin"), { recursive: true });
  await Deno.symlink(program, join(home, "bin", "helm"));
  const env = {
    HOME: home,
    PATH: `${join(home, "bin")}:${Deno.env.get("PATH")}`,
    // Without a cluster, none that the machine knows is asked.
    KUBECONFIG: cluster?.kubeconfig ?? join(home, "none"),
  };
  const run = (...args: ReadonlyArray<string>) => must(program, args, { env });
  return {
    env,
    run,
    ended: (...args) => ended(program, args, { env }),
    template: async (...args) =>
      Result.getOrThrow(readManifests(await run("template", "release", ...args))).filter(isObject),
  };
};

/** A chart with these defaults in a folder. */
export const writeChart = async (
  folder: string,
  choices: Choices,
  version: string,
  changed: (path: string, text: string) => string = (_path, text) => text,
): Promise<string> => {
  for (const [path, text] of Object.entries(chartFiles(choices, version))) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), changed(path, text));
  }
  return folder;
};

/** What the chart must render, by kind and name: all but the namespace, with the annotation that keeps the definition. */
export const expected = (choices: Choices, namespace = NAMESPACE): JsonObject =>
  byName(
    installation(choices).filter(({ kind }) => kind !== "Namespace")
      .map((object) => object.kind === "CustomResourceDefinition" ? kept(object) : object)
      .map((object) => JSON.parse(JSON.stringify(object).replaceAll(NAMESPACE, namespace))),
  );

const kept = (definition: JsonObject): JsonObject =>
  put(definition, ["metadata", "annotations"], {
    ...objectAt(definition, "metadata", "annotations"),
    "helm.sh/resource-policy": "keep",
  });

export const byName = (objects: ReadonlyArray<JsonObject>): JsonObject => {
  const entries = objects.map((object): [string, JsonObject] => [
    [object.kind, stringAt(object, "metadata", "namespace") ?? "", stringAt(object, "metadata", "name")].join(" "),
    object,
  ]);
  if (new Set(entries.map(([key]) => key)).size < entries.length) throw new Error("Two objects have the same name");
  return Object.fromEntries(entries.toSorted(([one], [other]) => one < other ? -1 : 1));
};

/** The Deployment of the operator. */
export const OPERATOR = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${NAME}`;

/** Without a cluster. */
export const withHelm = async (test: (helm: Helm, home: string) => Promise<void>): Promise<void> => {
  const home = await Deno.makeTempDir();
  try {
    await test(await helmOn(home), home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
};

/** For a release in the namespace of `deploy/install.yaml`. */
export const IN_NAMESPACE = ["--namespace", NAMESPACE];

/** Values as flags of Helm. */
export const asFlags = (values: JsonObject): ReadonlyArray<string> =>
  Object.entries(values).flatMap(([key, value]) => ["--set-json", `${key}=${JSON.stringify(value)}`]);

/** Of an image. */
export const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;
