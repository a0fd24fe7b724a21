/** The workflows of GitHub, checked by actionlint, and against the tasks that they run. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { ended } from "../../tools/install/run_program.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL(".github/workflows/", ROOT);
const NAMES = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name).toSorted();

Deno.test("actionlint accepts the workflows", async () => {
  const { actionlint } = await installControlPlane(["actionlint"]);
  const { code, stdout } = await ended(actionlint, ["-no-color", "-shellcheck=", "-pyflakes="], {
    cwd: fileURLToPath(ROOT),
  });
  strictEqual(code, 0, stdout);
});

Deno.test("the workflows run tasks that exist, and every part of test:all each night", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const texts = await Promise.all(NAMES.map((name) => Deno.readTextFile(new URL(name, FOLDER))));
  const run = texts.flatMap((text) => [...text.matchAll(/deno@\S+ task (?:-q )?(\S+)/g)].map(([, task = ""]) => task));
  ok(run.length > 4);
  deepStrictEqual(run.filter((task) => !Object.hasOwn(tasks, task)), []);
  const { stdout } = await ended(Deno.execPath(), ["task", "--quiet", "test:all", "--list"], {
    cwd: fileURLToPath(ROOT),
  });
  const nightly = await Deno.readTextFile(new URL("nightly.yml", FOLDER));
  const words =
    /part:\s*\[([\s\S]*?)\]/.exec(nightly)?.[1]?.split(",").map((word) => word.trim()).filter((word) => word !== "") ??
      [];
  // `test` itself runs on every push.
  const parts = stdout.trim().split("\n").filter((part) => part !== "test");
  deepStrictEqual(parts.filter((part) => !words.some((word) => part.includes(word))), []);
  deepStrictEqual(words.filter((word) => !parts.some((part) => part.includes(word))), []);
});
