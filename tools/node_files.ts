/** Which test files of tests/node a run of `deno task node` is about, by its arguments. */
import { basename } from "node:path";
import { ALL_SERVERS, type NodeServer } from "./cluster/real_node/images.ts";

/** It starts a node of its own, so it runs outside, once the other one has ended. */
const UP = "up_test.ts";

/** Alone and last on the node, since it restarts the operator and takes it away. */
const LIFE = "operator_life_test.ts";

export interface NodeFiles {
  /** Run together, in this order. */
  readonly servers: readonly string[];
  /** At most one, after them. */
  readonly life: readonly string[];
  /** At most one, without the node of the others. */
  readonly up: readonly string[];
  /** What is for `deno test`. */
  readonly flags: readonly string[];
}

/** Arguments that end in `.ts` are test files, by name or path; without any, all of them run. */
export const nodeFilesOf = (args: readonly string[], all: readonly string[]): NodeFiles => {
  const isFile = (arg: string) => !arg.startsWith("-") && arg.endsWith(".ts");
  const asked = args.filter(isFile).map((arg) => basename(arg));
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: not among ${all.toSorted().join(", ")}`);
  const chosen = all.toSorted().filter((name) => asked.length === 0 || asked.includes(name));
  return {
    servers: chosen.filter((name) => name !== UP && name !== LIFE),
    life: chosen.filter((name) => name === LIFE),
    up: chosen.filter((name) => name === UP),
    flags: args.filter((arg) => !isFile(arg)),
  };
};

/** What a test file needs beside the node itself; from inside, nothing can be downloaded. */
export type Need = "databases" | "ingress controller" | "network policies" | "registry" | "providers";

const NEEDS: Readonly<Record<string, ReadonlyArray<Need>>> = {
  "databases_test.ts": ["databases"],
  "external_providers_test.ts": ["providers"],
  "image_labels_test.ts": ["registry"],
  "ingress_test.ts": ["ingress controller"],
  "network_policy_test.ts": ["network policies"],
  "rollout_test.ts": ["databases"],
};

const filesAsked = (args: readonly string[]): readonly string[] => {
  const { servers, life, up } = nodeFilesOf(args, allNodeFiles());
  return [...servers, ...life, ...up];
};

/** By the arguments of `deno task node`. */
export const needsOf = (args: readonly string[]): ReadonlySet<Need> =>
  new Set(filesAsked(args).flatMap((file) => NEEDS[file] ?? []));

/** `deno task test` runs this file alone on the node, with one image. */
const ONE_SERVER = "pod_test.ts";

/** The servers whose images the node has, by the arguments of `deno task node`. */
export const serversFor = (args: readonly string[]): ReadonlyArray<NodeServer> =>
  filesAsked(args).every((file) => file === ONE_SERVER) ? ["starter"] : ALL_SERVERS;

export const NODE_TESTS = new URL("../tests/node/", import.meta.url);

export const allNodeFiles = (): readonly string[] =>
  [...Deno.readDirSync(NODE_TESTS)].map(({ name }) => name).filter((name) => name.endsWith("_test.ts"));
