/** The start script as a shell runs it, with stand-ins for the programs of an image. */
import { strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { listAt } from "../core/json.ts";
import { objectOf } from "./objects.ts";

const SPEC = { storage: { kv: {} }, providers: { telemetry: [{ provider: "otel", endpoint: "http://c" }] } };

Deno.test("R48 the start script traces where the image has a working opentelemetry-instrument", async () => {
  strictEqual(await started('#!/bin/sh\n[ "$1" = --version ] || echo "traced: $*"'), "traced: python3 -m");
});

Deno.test("R48 an opentelemetry-instrument that cannot run costs the traces, not the server", async () => {
  strictEqual(await started("#!/no/such/interpreter\n"), "python3: -m");
  strictEqual(await started(undefined), "python3: -m");
});

/** The first words of what the script starts at its end. */
const started = async (instrument: string | undefined): Promise<string> => {
  const folder = await Deno.makeTempDir();
  try {
    const put = (name: string, text: string) => Deno.writeTextFile(join(folder, name), text, { mode: 0o755 });
    await put("python3", '#!/bin/sh\necho "python3: $*"');
    if (instrument !== undefined) await put("opentelemetry-instrument", instrument);
    const [container] = listAt(objectOf("Deployment", SPEC), "spec", "template", "spec", "containers");
    const [shell = "", ...args] = listAt(container, "command").map(String);
    const env = { PATH: `${folder}:/usr/bin:/bin`, SQLITE_STORE_DIR: folder, FILES_STORAGE_DIR: folder };
    const output = await new Deno.Command(shell, { args, env, clearEnv: true }).output();
    return new TextDecoder().decode(output.stdout).replace(/ uvicorn .*\n/, "");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
