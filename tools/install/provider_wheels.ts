/** Wheels for images of external providers: published ones, and that of the example in the documentation. */
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { findPython } from "./python_server.ts";
import { must, sha256Of } from "./run_program.ts";
import { PIP } from "./tiktoken_data.ts";

const HERE = import.meta.dirname ?? ".";

/** A folder with the wheels of the lock file, for the machine's architecture. */
export const installProviderWheels = async (): Promise<string> => {
  const requirements = join(HERE, "requirements", "external-providers.txt");
  const digest = (await sha256Of(requirements)).slice(0, 8);
  return await once(
    cacheDir("provider_wheels", `published-${digest}`),
    "published providers (first time, about 10 s)",
    async (into) => {
      const { path } = await findPython();
      const platforms = ["manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_17"]
        .flatMap((name) => ["--platform", `${name}_${Deno.build.arch}`]);
      const exact = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--python-version", "3.13"];
      await must(path, [...PIP, "download", ...exact, ...platforms, "-d", into, "-r", requirements]);
    },
  );
};

/** The files of the example on the page for authors of providers, by their names. */
export const exampleFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const page = await Deno.readTextFile(join(HERE, "..", "..", "docs", "external-providers.md"));
  return Object.fromEntries(
    [...page.matchAll(/`([\w./-]+)`[^\n]*:\n\n```\w+\n([\s\S]*?)^```/gm)].map((
      [, name = "", text = ""],
    ) => [name, text]),
  );
};

/** A folder with the wheel of the example, built as the page says. */
export const buildExampleWheel = async (): Promise<string> => {
  const files = await exampleFiles();
  const bytes = new TextEncoder().encode(JSON.stringify(files));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 4).toHex();
  return await once(
    cacheDir("provider_wheels", `example-${digest}`),
    "the provider of the documentation (first time, about 10 s)",
    async (into) => {
      const { path } = await findPython();
      const source = await Deno.makeTempDir();
      try {
        for (const [name, text] of Object.entries(files)) {
          await Deno.mkdir(join(source, name, ".."), { recursive: true });
          await Deno.writeTextFile(join(source, name), text);
        }
        await must(path, [...PIP, "wheel", "--no-deps", "--wheel-dir", into, "."], { cwd: source });
      } finally {
        await Deno.remove(source, { recursive: true });
      }
    },
  );
};
