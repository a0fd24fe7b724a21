/** Where tools and tests keep what they install, and how an installation is made exactly once. */
import { basename, dirname, join, resolve } from "node:path";

/** A path inside the cache folder of this project. */
export const cacheDir = (...parts: readonly string[]): string => {
  const own = Deno.env.get("LLAMA_STACK_OPERATOR_CACHE");
  // A relative folder is the same one for programs that run elsewhere.
  if (own) return resolve(own, ...parts);
  const shared = Deno.env.get("XDG_CACHE_HOME");
  if (shared) return join(shared, "llama-stack-operator", ...parts);
  const home = Deno.env.get("HOME");
  if (home) return join(home, ".cache", "llama-stack-operator", ...parts);
  throw new Error("No cache folder: set LLAMA_STACK_OPERATOR_CACHE, XDG_CACHE_HOME or HOME.");
};

/**
 * Fills `dir` by `build` unless that was done before, and returns it.
 *
 * `build` works in a temporary sibling. Only a finished one gets the stamp and then the real name, so an interrupted
 * installation is simply made again. `build` also learns the final name, for files that mention their own place.
 * The lock folder only saves double work: should two processes build all the same, the first rename wins.
 *
 * @param label What is installed, with a hint how long it takes: `ogx 1.4.1 (first time, about 60 s)`.
 */
export const once = async (
  dir: string,
  label: string,
  build: (into: string, finalDir: string) => Promise<void>,
): Promise<string> => {
  if (await isComplete(dir)) return dir;
  await alone(dir, label, async () => {
    if (!await isComplete(dir)) await buildBeside(dir, label, build);
  });
  return dir;
};

/** Runs `work` while no other process works on `path`, a path in the cache folder that need not be there. */
export const alone = async (path: string, label: string, work: () => Promise<void>): Promise<void> => {
  await Deno.mkdir(dirname(path), { recursive: true }).catch((cause) => {
    throw new Error(`${cause.message}. Set LLAMA_STACK_OPERATOR_CACHE to a folder that can be written.`, { cause });
  });
  const lock = await takeLock(`${path}.lock`, label);
  try {
    await work();
  } finally {
    await lock.release();
  }
};

const STAMP = ".complete";

const BUILDING = ".building-";

/** No build takes that long, so what is older was interrupted; some are gigabytes. */
const INTERRUPTED_MS = 3_600_000;

/** The holder touches its lock this often; a lock untouched for ten times as long has lost its holder. */
const HEARTBEAT_MS = 3_000;
const ABANDONED_MS = 10 * HEARTBEAT_MS;

const buildBeside = async (
  dir: string,
  label: string,
  build: (into: string, finalDir: string) => Promise<void>,
): Promise<void> => {
  const startedMs = Date.now();
  console.error(`installing ${label} …`);
  await removeInterrupted(dir);
  const into = `${dir}${BUILDING}${Deno.pid}-${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.mkdir(into);
    await build(into, dir);
    await Deno.writeTextFile(join(into, STAMP), `${label}\n`);
    await putInPlace(into, dir);
  } finally {
    await removeIfThere(into);
  }
  console.error(`installed ${label.replace(/ \(.*/, "")} in ${Math.round((Date.now() - startedMs) / 1000)} s`);
};

const removeInterrupted = async (dir: string): Promise<void> => {
  for await (const { name } of Deno.readDir(dirname(dir))) {
    if (!name.startsWith(basename(dir) + BUILDING)) continue;
    const left = join(dirname(dir), name);
    const touched = (await unlessMissing(Deno.stat(left)))?.mtime;
    if (touched != null && Date.now() - touched.getTime() > INTERRUPTED_MS) await removeIfThere(left);
  }
};

const putInPlace = async (built: string, dir: string): Promise<void> => {
  if (await isComplete(dir)) return;
  await removeIfThere(dir);
  try {
    await Deno.rename(built, dir);
  } catch (error) {
    if (!await isComplete(dir)) throw error;
  }
};

const takeLock = async (lock: string, label: string): Promise<{ readonly release: () => Promise<void> }> => {
  for (let told = false; !await makeFolder(lock); await pause(HEARTBEAT_MS / 6)) {
    if (await isAbandoned(lock)) {
      await removeIfThere(lock);
    } else if (!told) {
      console.error(`waiting for another process that installs ${label} …`);
      told = true;
    }
  }
  const heartbeat = setInterval(() => {
    try {
      Deno.utimeSync(lock, new Date(), new Date());
    } catch {
      // Someone took the lock for abandoned; the rename at the end still lets only one result win.
    }
  }, HEARTBEAT_MS);
  return {
    release: async () => {
      clearInterval(heartbeat);
      await removeIfThere(lock);
    },
  };
};

const isAbandoned = async (lock: string): Promise<boolean> => {
  const touched = (await unlessMissing(Deno.stat(lock)))?.mtime;
  return touched != null && Date.now() - touched.getTime() > ABANDONED_MS;
};

const isComplete = (dir: string): Promise<boolean> => Deno.stat(join(dir, STAMP)).then(() => true, () => false);

const makeFolder = async (path: string): Promise<boolean> => {
  try {
    await Deno.mkdir(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
};

const removeIfThere = async (path: string): Promise<void> => {
  await unlessMissing(Deno.remove(path, { recursive: true }));
};

const unlessMissing = async <A>(work: Promise<A>): Promise<A | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
