/** What the compiled program may do and leaves behind, and that it says what the bundle under Deno says. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { bundleOperator } from "../../tools/bundle_operator.ts";
import { compileProgram } from "../../tools/compile_program.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { runtimeOfTests } from "../../tools/install/deno_runtime.ts";
import { PERMISSIONS, RUNTIME_ENV, UNSTABLE, V8_FLAGS } from "../../tools/program_flags.ts";
import { inFolder } from "../folder.ts";

const SAMPLE = fileURLToPath(new URL("../../deploy/samples/full.yaml", import.meta.url));

/** Tries what the operator must not be able to do, and prints the results. */
const PROBE = `
import { getHeapStatistics } from "node:v8";
const tried = async (what) => {
  try {
    await what();
    return "allowed";
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? "not allowed" : String(error);
  }
};
const file = Deno.env.get("PROBED_FILE");
console.log(JSON.stringify({
  write: await tried(() => Deno.writeTextFile(file, "x")),
  remove: await tried(() => Deno.remove(file)),
  run: await tried(() => new Deno.Command("/bin/true").output()),
  runAfterwards: await tried(() => {
    Deno.permissions.revokeSync({ name: "run" });
    return new Deno.Command("/bin/true").output();
  }),
  library: await tried(() => Deno.dlopen("/usr/lib/libjemalloc.so.2", {})),
  system: await tried(() => Deno.networkInterfaces()),
  read: await tried(() => Deno.readTextFile(file)),
  hostname: await tried(() => Deno.hostname()),
  heapMiB: getHeapStatistics().heap_size_limit / 1024 / 1024,
  collects: typeof gc,
}));
`;

/** The old space of V8_FLAGS and its three semi-spaces of 8 MiB. */
const HEAP_MIB = 256 + 3 * 8;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ended = async (program: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], clearEnv: true, env }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) } satisfies Ended;
};

Deno.test("a compiled program has the permissions and the memory settings of the operator, and no others", () =>
  inFolder(async (folder) => {
    const [source, output, probed] = ["probe.js", "probe", "probed"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await Deno.writeTextFile(source, PROBE);
    await Deno.writeTextFile(probed, "unchanged");
    await compileProgram({ target: Deno.build.target, source, output }, await runtimeOfTests());
    const { stdout, stderr } = await ended(output, [], { PROBED_FILE: probed });
    strictEqual(stderr, "");
    deepStrictEqual(JSON.parse(stdout), {
      ...{ write: "not allowed", remove: "not allowed", library: "not allowed" },
      // Only for the commands: `run` gives it up.
      ...{ run: "allowed", runAfterwards: "not allowed" },
      ...{ system: "not allowed", read: "allowed", hostname: "allowed", heapMiB: HEAP_MIB, collects: "function" },
    });
    strictEqual(await Deno.readTextFile(probed), "unchanged");
  }));

Deno.test("the compiled program prints what the bundle prints, and writes no file", () =>
  inFolder(async (folder) => {
    const program = await compiledOperator();
    const bundle = await bundleOperator(folder);
    const [home, temporary] = [join(folder, "home"), join(folder, "tmp")];
    for (const path of [home, temporary]) await Deno.mkdir(path);
    const env = { ...RUNTIME_ENV, LANG: "C", NO_COLOR: "1" };
    const own = { ...env, HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: home };
    const deno = ["run", "--no-prompt", ...PERMISSIONS, ...UNSTABLE, `--v8-flags=${V8_FLAGS}`, bundle];
    for (
      const args of [["version"], ["--help"], ["render", "--help"], ["crds"], ["render", "-f", SAMPLE], ["unknown"]]
    ) {
      const compiled = await ended(program, args, own);
      deepStrictEqual(compiled, await ended(Deno.execPath(), [...deno, ...args], { ...env, DENO_DIR: folder }));
      ok(compiled.stdout.length + compiled.stderr.length > 50, args.join(" "));
    }
    const left = [...Deno.readDirSync(home), ...Deno.readDirSync(temporary)].map(({ name }) => name);
    deepStrictEqual(left, []);
  }));

Deno.test("the commands of the compiled program start the credential plugin of a kubeconfig, and the operator does not", () =>
  inFolder(async (folder) => {
    const [plugin, kubeconfig, asked] = ["plugin", "config", "asked"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await Deno.writeTextFile(plugin, `#!/bin/sh\necho asked > "${asked}"\nexit 3\n`, { mode: 0o755 });
    await Deno.writeTextFile(
      kubeconfig,
      JSON.stringify({
        "current-context": "a",
        contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
        clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
        users: [{ name: "a", user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: plugin } } }],
      }),
    );
    const program = await compiledOperator();
    const env = { ...RUNTIME_ENV, LANG: "C", PATH: "/usr/bin:/bin", KUBECONFIG: kubeconfig };
    const operator = await ended(program, ["run"], env);
    match(
      operator.stderr,
      /cannot be started by the operator, only by its other commands; use a kubeconfig with a token/,
    );
    strictEqual(operator.code, 2);
    await rejects(Deno.stat(asked), Deno.errors.NotFound);
    const command = await ended(program, ["explain", "my"], env);
    match(command.stderr, /ended with exit code 3/);
    strictEqual(await Deno.readTextFile(asked), "asked\n");
  }));
