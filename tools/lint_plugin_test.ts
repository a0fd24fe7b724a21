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

Deno.test("lint plugin reports other ways to clock, chance, network and state in the core", () => {
  const reported = (source: string) => messages("core/x.ts", source);
  const cases: ReadonlyArray<readonly [source: string, message: string]> = [
    ["fetch('http://x');", "fetch in the core"],
    ["const get = fetch;", "fetch in the core"],
    ["const all = { fetch };", "fetch in the core"],
    ["setTimeout(done, 1);", "setTimeout in the core"],
    ["queueMicrotask(done);", "queueMicrotask in the core"],
    ["crypto.getRandomValues(bytes);", "crypto in the core"],
    ["crypto.randomUUID();", "crypto in the core"],
    ["globalThis.crypto.randomUUID();", "globalThis in the core"],
    ['globalThis["Deno"];', "globalThis in the core"],
    ["performance.now();", "performance in the core"],
    ["Date();", "Date() in the core"],
    ['Date["now"]();', "Date.now in the core"],
    ["process.env.HOME;", "process.env in the core"],
    ["let count = 0;", "let of a file in the core"],
    ["export let count = 0;", "let of a file in the core"],
  ];
  for (const [source, message] of cases) deepStrictEqual(reported(source), [message], source);
  const pure = "const f = () => { let x = 1; return x; }; const { process } = y; z.fetch; w = { crypto: 1, fetch: 2 };";
  deepStrictEqual(reported(pure), []);
});

Deno.test("lint plugin leaves dates from arguments, tests and the shell alone", () => {
  deepStrictEqual(messages("core/x.ts", "new Date(nowMs);"), []);
  deepStrictEqual(messages("core/x_test.ts", "Date.now();"), []);
  deepStrictEqual(messages("shell/x.ts", "Deno.args; console.log(Date.now());"), []);
});

Deno.test("lint plugin rejects the path of a file's URL, in which blanks are %20", () => {
  for (const source of ['new URL("../x", import.meta.url).pathname;', "new URL(name, ROOT).pathname;"]) {
    deepStrictEqual(messages("tools/x.ts", source), ["Blanks are %20 in the path of a URL"], source);
  }
  deepStrictEqual(messages("tools/x.ts", "new URL(request.url).pathname; new URL(link, `file:///${x}`).pathname;"), []);
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
