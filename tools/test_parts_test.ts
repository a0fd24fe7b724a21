import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { failuresIn } from "./test_parts.ts";
import { until } from "../tests/waiting.ts";

const PRINTED = `./a_test.ts => a works ... ok (1ms)

 ERRORS 

a fails ... inner => ./a_test.ts:2:45
error: Error: one

two
    at file:///a_test.ts:2:73

b fails => ./b_test.ts:1:6
error: Error: ${Array.from({ length: 40 }, (_, index) => index).join("\n")}

 FAILURES 

a fails ... inner => ./a_test.ts:2:45
b fails => ./b_test.ts:1:6

FAILED | 1 passed | 2 failed (1 step) (16ms)
`;

Deno.test("failuresIn() finds each error with the place of its test, shortened", () => {
  const errors = failuresIn(`${PRINTED}\n${PRINTED}`, "error: Test failed");
  deepStrictEqual(errors.map((error) => error.split("\n")[0]), [
    "a fails ... inner => ./a_test.ts:2:45",
    "b fails => ./b_test.ts:1:6",
    "a fails ... inner => ./a_test.ts:2:45",
    "b fails => ./b_test.ts:1:6",
  ]);
  deepStrictEqual(errors[0]?.split("\n").length, 5);
  deepStrictEqual(errors[1]?.split("\n").length, 20);
});

Deno.test("failuresIn() shows the end of the errors where no test failed", () => {
  const errors = `${Array.from({ length: 40 }, (_, index) => index).join("\n")}\n`;
  const [shown = ""] = failuresIn("ok | 1 passed | 0 failed (2ms)\n", errors);
  deepStrictEqual([shown.split("\n").length, shown.split("\n").at(-1)], [20, "39"]);
});

Deno.test("startedHere() ends what it started, and what that started, when this process is killed", async () => {
  const child = `const { status } = new Deno.Command("sleep", { args: ["infinity"] }).spawn();
      console.log("started");
      await status;`;
  const parent = `import { startedHere } from "${new URL("test_parts.ts", import.meta.url)}";
      await startedHere({ args: ["eval", ${JSON.stringify(child)}], stdout: "inherit" }).status;`;
  await using runner = new Deno.Command(Deno.execPath(), {
    args: ["eval", parent],
    stdout: "piped",
  }).spawn();
  const reader = runner.stdout.getReader();
  strictEqual(new TextDecoder().decode((await reader.read()).value), "started\n");
  runner.kill("SIGKILL");
  // The pipe is open as long as one of them lives.
  let isClosed = false;
  reader.read().then(({ done }) => isClosed = done);
  await until("they have ended", () => isClosed);
});

Deno.test("startedHere() keeps colours out of what is read, whatever the environment says", async () => {
  const work = `import { startedHere } from "${new URL("test_parts.ts", import.meta.url)}";
    await startedHere({ args: ["eval", "console.log(1, Deno.noColor)"], stdout: "inherit" }).status;`;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", work], env: { FORCE_COLOR: "1" } })
    .output();
  strictEqual(new TextDecoder().decode(stdout), "1 true\n");
});
