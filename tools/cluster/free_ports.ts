/** Ports for programs that tests start. */
import { join } from "node:path";
import { cacheDir } from "../install/cache.ts";

/** Linux uses ports from 32768 on for outgoing connections, and test clusters use those from 30000 on as node ports. */
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * Free ports on loopback, which no other process draws as long as this one runs: a server that a test stops for a while finds its
 * port free when it starts again.
 *
 * @throws Error if 1,000 draws in sequence were all of ports in use.
 */
export const freePorts = (count: number): number[] => {
  Deno.mkdirSync(folder(), { recursive: true });
  return Array.from({ length: count }, reserveOne);
};

/** A file for each reserved port, which contains the ID of the process. */
const folder = (): string => cacheDir("ports");

const reserveOne = (): number => {
  for (let draws = 0; draws < 1000; draws++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (reserve(join(folder(), String(port))) && isFree(port)) return port;
  }
  throw new Error(`No free port was found on loopback between ${FIRST} and ${FIRST + COUNT}`);
};

const reserve = (file: string): boolean => {
  try {
    if (isAbandoned(file)) Deno.removeSync(file);
    Deno.writeTextFileSync(file, String(Deno.pid), { createNew: true });
    return true;
  } catch (error) {
    // Between the check and the change, another process did the same.
    if (error instanceof Deno.errors.AlreadyExists || error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
};

const isAbandoned = (file: string): boolean => {
  const owner = contentOf(file);
  // An empty one is being written.
  return owner !== undefined && owner !== "" && contentOf(`/proc/${owner}/stat`) === undefined;
};

const contentOf = (file: string): string | undefined => {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
};

const isFree = (port: number): boolean => {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
};
