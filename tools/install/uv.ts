/**
 * uv, which installs the packages of a lock file in a tenth of pip's time. Environments share what they have in common by
 * hard links, so several servers need little more disk than one.
 */
import { join } from "node:path";
import { cacheDir, once } from "./cache.ts";
import { must } from "./run_program.ts";
import { PIP } from "./tiktoken_data.ts";

const VERSION = "0.13.9";

/** Installs uv with the pip of `python`, and returns what runs it. */
export const installUv = async (python: string): Promise<(args: readonly string[]) => Promise<string>> => {
  const folder = await once(cacheDir("uv", VERSION), `uv ${VERSION} (first time, about 10 s)`, async (into) => {
    await must(python, [...PIP, "install", "--no-deps", "--only-binary", ":all:", "--target", into, `uv==${VERSION}`], {
      env: cleanEnvironment(),
    });
  });
  const env = {
    ...cleanEnvironment(),
    ...await settingsOf(python),
    UV_CACHE_DIR: cacheDir("uv_cache"),
    UV_NO_CONFIG: "1",
  };
  return (args) => must(join(folder, "bin", "uv"), args, { env });
};

/** The caller's own Python settings must not reach into the environment that is made. */
const cleanEnvironment = (): Record<string, string> => {
  const env = { ...Deno.env.toObject(), PYTHONNOUSERSITE: "1" };
  for (const name of ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"]) Reflect.deleteProperty(env, name);
  return env;
};

/** Settings of pip that decide where packages come from; uv has variables of its own for them. */
const PIP_SETTINGS: Readonly<Record<string, string>> = {
  "index-url": "UV_DEFAULT_INDEX",
  "extra-index-url": "UV_INDEX",
  "find-links": "UV_FIND_LINKS",
  "cert": "SSL_CERT_FILE",
};

const settingsOf = async (python: string): Promise<Record<string, string>> => {
  const lines = (await must(python, [...PIP, "config", "list"])).split("\n");
  return Object.fromEntries(lines.flatMap((line) => {
    const [, name = "", value = ""] = /^(?:global|user|site|install|:env:)\.([\w-]+)='(.*)'$/.exec(line.trim()) ?? [];
    const variable = PIP_SETTINGS[name];
    return variable === undefined ? [] : [[variable, value]];
  }));
};
