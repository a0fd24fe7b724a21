/** Which test files of tests/node a run of `deno task node` is about, by its arguments. */
import { basename } from "node:path";

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

export const NODE_TESTS = new URL("../tests/node/", import.meta.url);

export const allNodeFiles = (): readonly string[] =>
  [...Deno.readDirSync(NODE_TESTS)].map(({ name }) => name).filter((name) => name.endsWith("_test.ts"));
