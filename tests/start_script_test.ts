/** The start script as a shell runs it, with stand-ins for the programs of an image. */
import { ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { type JsonObject, listAt } from "../core/data/json.ts";
import { objectOf } from "./objects.ts";

const SPEC = { storage: { kv: {} }, providers: { telemetry: [{ provider: "otel", endpoint: "http://c" }] } };

Deno.test("the start script traces where the image has a working opentelemetry-instrument", async () => {
  strictEqual(await started('#!/bin/sh\n[ "$1" = --version ] || echo "traced: $*"'), "traced: python3 -m");
});

Deno.test("an opentelemetry-instrument that cannot run costs the traces, not the server", async () => {
  strictEqual(await started("#!/no/such/interpreter\n"), "python3: -m");
  strictEqual(await started(undefined), "python3: -m");
});

const OWN = { distribution: { image: "registry.example/own:1" }, overrideConfig: { configMapName: "own" } };
const FACTORY = "python3: -m uvicorn --factory";
const COMMAND = "python3: -m llama_stack.cli.llama stack run /etc/llama-stack/config.yaml --port 8321";

for (
  const [what, packages, wanted] of [
    ["Llama Stack 0.2.13", { llama_stack: "0.2.13" }, COMMAND],
    ["Llama Stack 0.2.24", { llama_stack: "0.2.24" }, COMMAND],
    ["a candidate of 0.2", { llama_stack: "0.2.22rc1" }, COMMAND],
    ["Llama Stack 0.3.0", { llama_stack: "0.3.0" }, `${FACTORY} llama_stack.core.server.server:create_app`],
    ["Llama Stack 0.7.3", { llama_stack: "0.7.3" }, `${FACTORY} llama_stack.core.server.server:create_app`],
    ["Llama Stack as a source tree", { llama_stack: "" }, `${FACTORY} llama_stack.core.server.server:create_app`],
    ["OGX 1.5.0", { ogx: "1.5.0" }, `${FACTORY} ogx.core.server.server:create_app`],
    ["OGX beside an old one", { ogx: "0.8.0", llama_stack: "0.2.24" }, `${FACTORY} ogx.core.server.server:create_app`],
    ["neither", {}, "no Llama Stack or OGX server in this image for /etc/llama-stack/config.yaml"],
  ] as const
) {
  Deno.test(`with a config of one's own, an image that holds ${what} starts as that server wants`, async () => {
    ok((await probed(packages)).startsWith(wanted), await probed(packages));
  });
}

/** What the script says or starts where these packages are installed; without a version a package has no metadata. */
const probed = (packages: Readonly<Record<string, string>>): Promise<string> =>
  inImage(OWN, async (folder) => {
    // Questions go to the Python of this machine, without its own packages.
    const python = '#!/bin/sh\n[ "$1" != -c ] || PATH=${PATH#*:} exec python3 -S "$@"\necho "python3: $*"';
    await Deno.writeTextFile(join(folder, "python3"), python, { mode: 0o755 });
    for (const [name, version] of Object.entries(packages)) {
      await Deno.mkdir(join(folder, name));
      await Deno.writeTextFile(join(folder, name, "__init__.py"), "");
      if (version === "") continue;
      const about = join(folder, `${name}-${version}.dist-info`);
      await Deno.mkdir(about);
      await Deno.writeTextFile(join(about, "METADATA"), `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
    }
  });

/** The first words of what the script starts at its end. */
const started = async (instrument: string | undefined): Promise<string> => {
  const said = await inImage(SPEC, async (folder) => {
    const put = (name: string, text: string) => Deno.writeTextFile(join(folder, name), text, { mode: 0o755 });
    await put("python3", '#!/bin/sh\necho "python3: $*"');
    if (instrument !== undefined) await put("opentelemetry-instrument", instrument);
  });
  return said.replace(/ uvicorn .*\n/, "");
};

/** What the start script of a spec prints, with a folder of programs and Python packages that `fill` makes. */
const inImage = async (spec: JsonObject, fill: (folder: string) => Promise<void>): Promise<string> => {
  const folder = await Deno.makeTempDir();
  try {
    await fill(folder);
    const [container] = listAt(objectOf("Deployment", spec), "spec", "template", "spec", "containers");
    const [shell = "", ...args] = listAt(container, "command").map(String);
    const data = { SQLITE_STORE_DIR: folder, FILES_STORAGE_DIR: folder };
    const env = { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, PYTHONPATH: folder, ...data };
    const { stdout, stderr } = await new Deno.Command(shell, { args, env, clearEnv: true }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
