/**
 * One file that contains a program and the runtime of Deno, with the permissions and memory settings that every other way
 * of starting the operator has. Same sources, same bytes.
 */
import { inflateRawSync } from "node:zlib";
import { join } from "node:path";
import { programPath } from "./install/debian_packages.ts";
import { must } from "./install/run_program.ts";
import { PINS, runtimeName } from "./pins.ts";
import { compileCommand, type CompileWishes } from "./program_flags.ts";

/**
 * @param denort A file with the runtime. Without one, Deno uses DENORT_BIN, or downloads its own.
 */
export const compileProgram = async (wishes: CompileWishes, denort = Deno.env.get("DENORT_BIN")): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    // Then the runtime is there.
    if (!denort) await compile(wishes);
    const strip = await stripProgram(wishes.target);
    const runtime = denort || await downloadedRuntime(wishes, folder);
    if (strip === undefined || runtime === undefined) {
      console.error(`not stripped, and a quarter larger: ${strip === undefined ? "strip" : "the runtime"} is missing`);
      if (denort) await compile(wishes, denort);
      return;
    }
    const stripped = join(folder, "denort.stripped");
    await must(strip, [`--output-file=${stripped}`, runtime]);
    await compile(wishes, stripped);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const compile = async (wishes: CompileWishes, denort?: string): Promise<void> => {
  const env = { ...Deno.env.toObject(), ...(denort === undefined ? {} : { DENORT_BIN: denort }) };
  await must(Deno.execPath(), compileCommand(wishes), { env });
};

/**
 * Removes the symbols of the runtime, before compiling: the compiled program does not survive it. Only for Linux: on macOS
 * the runtime is signed. Of another architecture, it is in a package of its own (`binutils-aarch64-linux-gnu`).
 */
const stripProgram = async (target: string): Promise<string | undefined> => {
  const [architecture = "", system] = target.split("-unknown-");
  if (system === undefined) return undefined;
  return await programPath(`${architecture}-${system}-strip`) ??
    (target === Deno.build.target ? await programPath("strip") : undefined);
};

/** The runtime that Deno has just downloaded into its own cache; undefined if it is not where Deno 2.9.6 keeps it. */
const downloadedRuntime = async ({ target, output }: CompileWishes, folder: string): Promise<string | undefined> => {
  const { denoDir } = JSON.parse(await must(Deno.execPath(), ["info", "--json"]));
  const archive = join(denoDir, "dl", "release", `v${Deno.version.deno}`, `denort-${target}.zip`);
  const bytes = await Deno.readFile(archive).catch(() => undefined);
  try {
    if (!await checkRuntime(target, bytes, PINS.runtimes[runtimeName(target)])) {
      console.error(`the runtime ${runtimeName(target)} is not checked: tools/pins.json has no checksum of it`);
    }
  } catch (cause) {
    // Deno has compiled with it before anybody could look at it.
    await Deno.remove(output).catch(() => {});
    throw cause;
  }
  const content = bytes && onlyFileOf(bytes);
  if (content === undefined) return undefined;
  const runtime = join(folder, "denort");
  await Deno.writeFile(runtime, content, { mode: 0o755 });
  return runtime;
};

/** Throws if the archive is another one than that of `checksum`; false if there is no checksum to compare with. */
export const checkRuntime = async (
  target: string,
  bytes: Uint8Array<ArrayBuffer> | undefined,
  checksum: string | undefined,
): Promise<boolean> => {
  if (checksum === undefined) return false;
  if (bytes === undefined) throw new Error(`the downloaded runtime of ${target} was not found, and cannot be checked`);
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  if (found !== checksum) {
    throw new Error(`the downloaded runtime of ${target} has the SHA-256 ${found}, expected ${checksum}`);
  }
  return true;
};

/** What the first entry of a zip file holds. Source: APPNOTE.TXT of PKWARE, 4.3.7 (local header) and 4.3.12 (directory). */
const onlyFileOf = (zip: Uint8Array): Uint8Array | undefined => {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = zip.length - END_BYTES;
  if (end < 0 || view.getUint32(end, true) !== END_SIGNATURE) return undefined;
  const entry = view.getUint32(end + 16, true);
  const [method, size, header] = [
    view.getUint16(entry + 10, true),
    view.getUint32(entry + 20, true),
    view.getUint32(entry + 42, true),
  ];
  const from = header + HEADER_BYTES + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
  const content = zip.subarray(from, from + size);
  return method === DEFLATED ? inflateRawSync(content) : content;
};

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const HEADER_BYTES = 30;
const DEFLATED = 8;
