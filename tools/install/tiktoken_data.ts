// tiktoken downloads its encodings at run time, from a host that tests must not need. The wheel of litellm carries the
// same file under the name that tiktoken's cache gives it (sha1 of the URL); this version is small and pure Python.
import { join } from "node:path";
import { sha256Of } from "./run_program.ts";

/** What tiktoken itself demands of cl100k_base. */
export const TIKTOKEN_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7";

const CARRIER = "litellm==1.60.0";
const FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4";

export const PIP: readonly string[] = ["-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"];

/**
 * Puts the cache file of cl100k_base into the folder `into`.
 *
 * @param python Runs a Python that has pip.
 */
export const fetchTiktokenData = async (
  python: (args: readonly string[]) => Promise<void>,
  into: string,
): Promise<void> => {
  const downloads = join(into, "downloads");
  await python([...PIP, "download", "--no-deps", "--only-binary", ":all:", "-d", downloads, CARRIER]);
  await python(["-c", TAKE_ONE_FILE, downloads, FILE, into]);
  await Deno.remove(downloads, { recursive: true });
  const found = await sha256Of(join(into, FILE));
  if (found !== TIKTOKEN_SHA256) {
    throw new Error(`${CARRIER} contains another cl100k_base than tiktoken requires: sha256 ${found}.`);
  }
};

const TAKE_ONE_FILE = `
import pathlib, sys, zipfile
downloads, name, into = sys.argv[1:]
[wheel] = pathlib.Path(downloads).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    [member] = [path for path in archive.namelist() if path.endswith("/" + name)]
    (pathlib.Path(into) / name).write_bytes(archive.read(member))
`;
