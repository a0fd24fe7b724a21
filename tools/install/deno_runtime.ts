/**
 * The runtime that `deno compile` puts around a program, for tests on machines where Deno cannot download it.
 *
 * Order: the file named by DENORT_BIN; Deno's own download; else the runtime inside a published program that was made
 * by `deno compile`, checked against its checksum. Only tests use the last one: `tools/compile.ts` does not know it.
 */
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";

/** A file with the runtime; undefined if Deno downloads its own. */
export const runtimeOfTests = async (): Promise<string | undefined> => {
  const own = Deno.env.get("DENORT_BIN");
  if (own) return own;
  if (Deno.build.target !== CARRIER_TARGET || await downloads()) return undefined;
  return join(await installRuntime(), "denort");
};

/** Whether the machine can reach the place from which Deno downloads its runtime. */
const downloads = async (): Promise<boolean> => {
  try {
    const response = await fetch(`https://dl.deno.land/release/v${Deno.version.deno}/denort-${Deno.build.target}.zip`, {
      method: "HEAD",
      signal: AbortSignal.timeout(DOWNLOAD_WAIT_MS),
    });
    return response.ok;
  } catch {
    return false;
  }
};

const DOWNLOAD_WAIT_MS = 5_000;

/** A program that its authors compiled with Deno 2.9.4, whose runtime differs little from that of 2.9.6. */
const CARRIER = "@chelonia/cli-x64-linux@3.4.0";
const CARRIER_TARGET = "x86_64-unknown-linux-gnu";
const CARRIER_FILE = "package/chel";
const SHA256 = "723d45cca4f68bd66652da1e0d45562b0700317c1535981035f50f078785a131";

const installRuntime = (): Promise<string> =>
  once(
    cacheDir("deno_runtime", SHA256.slice(0, 8)),
    "the runtime of compiled programs (first time, about 20 s)",
    async (into) => {
      const archive = join(into, (await must("npm", ["pack", "--silent", CARRIER, "--pack-destination", into])).trim());
      await must("tar", ["-xzf", archive, "-C", into, CARRIER_FILE]);
      const runtime = runtimeWithin(await Deno.readFile(join(into, CARRIER_FILE)));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", runtime)).toHex();
      if (digest !== SHA256) {
        throw new Error(`the runtime inside ${CARRIER} has the SHA-256 ${digest}, expected ${SHA256}`);
      }
      await Deno.writeFile(join(into, "denort"), runtime, { mode: 0o755 });
      await Deno.remove(archive);
      await Deno.remove(join(into, "package"), { recursive: true });
    },
  );

/**
 * What `deno compile` started from. It moves the program headers behind the end of the runtime and adds two of them,
 * a section with the program, and a new section table; the former section table stays where it was, at the end of the
 * runtime. Source: elf(5), 64 bits, little endian.
 */
const runtimeWithin = (program: Uint8Array): Uint8Array<ArrayBuffer> => {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  const sections = view.getUint16(SECTION_COUNT, true) - ADDED;
  const table = Number(view.getBigUint64(SECTION_TABLE, true));
  // The first entry is empty, the next ones are the same in both tables.
  const known = program.subarray(table + SECTION_BYTES, table + 4 * SECTION_BYTES);
  const former = indexOf(program, known) - SECTION_BYTES;
  const end = former + sections * SECTION_BYTES;
  if (former < 0 || end >= table) throw new Error("the program was not made by deno compile");
  const runtime = program.slice(0, end);
  const header = new DataView(runtime.buffer);
  header.setBigUint64(PROGRAM_TABLE, 64n, true);
  header.setBigUint64(SECTION_TABLE, BigInt(former), true);
  header.setUint16(PROGRAM_COUNT, view.getUint16(PROGRAM_COUNT, true) - ADDED, true);
  header.setUint16(SECTION_COUNT, sections, true);
  return runtime;
};

const ADDED = 2;
const SECTION_BYTES = 64;
/** Offsets in the header: e_phoff, e_shoff, e_phnum, e_shnum. */
const PROGRAM_TABLE = 0x20;
const SECTION_TABLE = 0x28;
const PROGRAM_COUNT = 0x38;
const SECTION_COUNT = 0x3c;

const indexOf = (bytes: Uint8Array, wanted: Uint8Array): number => {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
};
