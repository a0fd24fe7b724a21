import { deepStrictEqual } from "node:assert/strict";
import plugin from "./lint_plugin.ts";

const messages = (file: string, source: string) =>
  Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message.split(":")[0]);

Deno.test("lint plugin reports clock, chance, Deno, console and throw in the core", () => {
  const source = "Date.now(); new Date(); Math.random(); Deno.args; console.log(1); throw new Error('x');";
  deepStrictEqual(messages("core/x.ts", source), [
    "Date.now in the core",
    "new Date() in the core",
    "Math.random in the core",
    "Deno in the core",
    "console in the core",
    "throw in the core",
  ]);
});

Deno.test("lint plugin leaves dates from arguments, tests and the shell alone", () => {
  deepStrictEqual(messages("core/x.ts", "new Date(nowMs);"), []);
  deepStrictEqual(messages("core/x_test.ts", "Date.now();"), []);
  deepStrictEqual(messages("shell/x.ts", "Deno.args; console.log(Date.now());"), []);
});

Deno.test("lint plugin requires sentences for test names", () => {
  deepStrictEqual(messages("core/x_test.ts", 'Deno.test("works", () => {});'), ["A test name is a sentence"]);
  deepStrictEqual(messages("core/x_test.ts", 'Deno.test("x() gives up early", () => {});'), []);
});

Deno.test("lint plugin rejects tests that wait for a time, or compare one with a number", () => {
  const source = "setTimeout(done, 50); pause(50); ok(tookMs < 2000); ok(performance.now() - started < 1000);";
  for (const file of ["core/x_test.ts", "tests/cluster/x.ts"]) {
    deepStrictEqual(messages(file, source), [
      "A test waits for a state",
      "A test waits for a state",
      "No test measures the machine",
      "No test measures the machine",
    ]);
  }
  deepStrictEqual(messages("tests/node/x.ts", 'kubectl(["wait", "--timeout=30s"]);'), [
    "A slow machine makes no test red",
  ]);
  deepStrictEqual(messages("tests/waiting.ts", source), []);
  deepStrictEqual(messages("shell/x.ts", source), []);
  deepStrictEqual(messages("core/x_test.ts", "pause(LENGTH_MS); ok(tookMs < 10 * calmMs); ok(count < 5);"), []);
});
