/**
 * The operator of this checkout as the compiled program that is installed, for tests: they compile it once for the same
 * sources, however many of them run at once.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { bundledFiles, bundleOperator } from "../bundle_operator.ts";
import { compileProgram } from "../compile_program.ts";
import { compileCommand, V8_FLAGS } from "../program_flags.ts";
import { alone, cacheDir, once } from "./cache.ts";
import { runtimeOfTests } from "./deno_runtime.ts";

/**
 * Path of the program. Other V8 flags than those of an installation make another program, and so does another version: what
 * this checkout would be as the next release.
 */
export const compiledOperator = (v8Flags = V8_FLAGS, version = OPERATOR_VERSION): Promise<string> => {
  const key = `${v8Flags} ${version}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const made = compileOnce(v8Flags, version);
  compiled.set(key, made);
  return made;
};

const compiled = new Map<string, Promise<string>>();

const compileOnce = async (v8Flags: string, version: string): Promise<string> => {
  const folder = await Deno.makeTempDir();
  try {
    const source = await bundleOperator(folder);
    if (version !== OPERATOR_VERSION) await renameVersion(source, version);
    const wishes = { target: Deno.build.target, source, v8Flags };
    const made = cacheDir(PLACE, await contentOf({ ...wishes, output: NAME }));
    await once(made, "the compiled operator (about 5 s)", async (into) => {
      await compileProgram({ ...wishes, output: join(into, NAME) }, await runtimeOfTests());
    });
    await Deno.utime(made, new Date(), new Date());
    await alone(cacheDir(PLACE, "unused"), "the compiled operator", removeUnused);
    return join(made, NAME);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

/** The version is one literal of the bundle (core/operator/version.ts). */
const renameVersion = async (source: string, version: string): Promise<void> => {
  let found = 0;
  for (const file of bundledFiles(dirname(source))) {
    const parts = (await Deno.readTextFile(file)).split(`"${OPERATOR_VERSION}"`);
    if (parts.length === 1) continue;
    found += parts.length - 1;
    await Deno.writeTextFile(file, parts.join(`"${version}"`));
  }
  if (found !== 1) throw new Error(`${found} texts "${OPERATOR_VERSION}" in the bundle instead of one`);
};

const PLACE = "operator";
const NAME = "llama-stack-operator";

/** What the compiled program depends on: the bundle, how it is compiled, and the runtime. */
const contentOf = async ({ source, ...wishes }: Parameters<typeof compileCommand>[0]): Promise<string> => {
  const hash = createHash("sha256");
  for (const file of bundledFiles(dirname(source))) hash.update(await Deno.readFile(file));
  hash.update(JSON.stringify([Deno.version.deno, compileCommand({ ...wishes, source: "" })]));
  const denort = Deno.env.get("DENORT_BIN");
  if (denort) {
    const { size, mtime } = await Deno.stat(denort);
    hash.update(JSON.stringify([denort, size, mtime]));
  }
  return hash.digest("hex").slice(0, 12);
};

/** Each has 86 MB, and every change of the sources makes one. One that is still used is kept: its tests start it again. */
const removeUnused = async (): Promise<void> => {
  const found: Array<{ readonly path: string; readonly usedMs: number }> = [];
  for await (const { name } of Deno.readDir(cacheDir(PLACE))) {
    if (!/^[0-9a-f]+$/.test(name)) continue;
    const path = cacheDir(PLACE, name);
    found.push({ path, usedMs: (await Deno.stat(path)).mtime?.getTime() ?? 0 });
  }
  found.sort((a, b) => b.usedMs - a.usedMs);
  for (const { path, usedMs } of found.slice(KEPT)) {
    if (Date.now() - usedMs > USED_MS) await Deno.remove(path, { recursive: true });
  }
};

/** The program and the one with other V8 flags, of two states of the sources. */
const KEPT = 4;

/** No test runs longer. */
const USED_MS = 6 * 3_600_000;
