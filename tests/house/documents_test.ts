/** README and docs tell the truth: their commands run as written, their links lead somewhere. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

/**
 * Commands that run the tests, of which this is one, or that install parts: they are run by .ci/run itself or by hand, and
 * `up` by tests/cluster/up_test.ts.
 */
const NOT_HERE = new Set(["up", "test", "ok", "bench"]);

/** How README starts Deno; inside the tests the running Deno stands for it. */
const LAUNCHER = "npx -y deno@2.9.6 ";

const commandsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => block.split("\n"))
    .map((line) => line.replace(/\s+#.*$/, "").trim()).filter((line) => line !== "");

Deno.test("README has one command for the main job and one for the tests", async () => {
  const commands = commandsOf(await read("README.md"));
  deepStrictEqual(commands.slice(0, 2), [
    "npx -y deno@2.9.6 task up",
    "npx -y deno@2.9.6 task test",
  ]);
  ok((await read(".ci/run")).includes("npx -y deno@2.9.6 task test"));
});

Deno.test("every command of README runs as written", async () => {
  let ran = 0;
  for (const command of commandsOf(await read("README.md"))) {
    ok(command.startsWith(LAUNCHER), command);
    const words = command.slice(LAUNCHER.length).split(/\s+/);
    if (words[0] === "task" && NOT_HERE.has(words[1] ?? "")) {
      ok((await read("deno.json")).includes(`"${words[1]}": {`), command);
      continue;
    }
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: words,
      cwd: ROOT,
      stdout: "null",
      stderr: "piped",
    }).output();
    strictEqual(code, 0, `${command}\n${new TextDecoder().decode(stderr)}`);
    ran++;
  }
  ok(ran >= 8);
});

Deno.test("README's resource is the sample of that name", async () => {
  const shown = /```yaml\n([\s\S]*?)```/.exec(await read("README.md"))?.[1] ?? "";
  const sample = await read("deploy/samples/vllm.yaml");
  const bare = (text: string) =>
    text.split("\n").map((line) => line.replace(/\s*#.*$/, "")).filter((line) => line !== "").join("\n");
  strictEqual(bare(shown), bare(sample));
});

Deno.test("links of README and ARCHITECTURE lead to files", async () => {
  for (const page of ["README.md", "ARCHITECTURE.md"]) {
    for (const [, target = ""] of (await read(page)).matchAll(/\]\(([^)#]+)\)/g)) {
      ok(await Deno.stat(new URL(target, ROOT)).then(() => true, () => false), `${page}: ${target}`);
    }
  }
});

Deno.test("ARCHITECTURE names every dependency", async () => {
  const page = await read("ARCHITECTURE.md");
  const { imports } = JSON.parse(await read("deno.json")) as { imports: Record<string, string> };
  for (const [name, target] of Object.entries(imports)) {
    if (name.endsWith("/")) continue;
    ok(page.includes(`\`${name}\``), name);
    ok(/@\d+\.\d+\.\d+$/.test(target), `${target} is no exact version`);
  }
});
