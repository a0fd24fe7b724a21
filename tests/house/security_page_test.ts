/** docs/security.md is correct: its tests exist, its limits are those of the code, its settings have these defaults. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { ALLOWANCES_DEFAULT } from "../../core/operator/allowances.ts";
import * as coreLimits from "../../core/data/limits.ts";
import { SETTING_ROWS } from "../../core/operator/settings.ts";
import * as shellLimits from "../../shell/limits.ts";
import { UNIT_TESTS } from "../../tools/test.ts";
import { SELECTED } from "../promises.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

/** Cells of the rows of the table below a heading, without its head. */
const rowsBelow = async (heading: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const section = (await read("docs/security.md")).split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
};

/** Names of the tests and steps of a file; what a template fills in is "…". */
const testNames = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:Deno\.test|\.step)\(\s*(["'`])((?:(?!\1).)*)\1/g)]
    .map(([, , name = ""]) => name.replace(/\$\{[^}]*\}/g, "…"));

Deno.test("every promise of docs/security.md names a test that exists", async () => {
  const rows = await rowsBelow("Promises and their tests");
  ok(rows.length >= 20);
  const missing: Array<string> = [];
  for (const [, , cell = ""] of rows) {
    const [, file = "", name = ""] = /^`([^`]+)`: (.+)$/.exec(cell) ?? [];
    ok(file !== "", `no file and name in: ${cell}`);
    const text = await read(file).catch(() => "");
    if (!testNames(text).includes(name)) missing.push(cell);
  }
  deepStrictEqual(missing, []);
});

Deno.test("every test of a promise that needs a real part is in deno task test, and exists", async () => {
  const isUnit = (file: string) => UNIT_TESTS.some((place) => file === place || file.startsWith(`${place}/`));
  const selected = new Set(SELECTED.map(({ file }) => file));
  const files = (await rowsBelow("Promises and their tests")).map(([, , cell = ""]) =>
    /`([^`]+)`/.exec(cell)?.[1] ?? ""
  );
  deepStrictEqual(files.filter((file) => !isUnit(file) && !selected.has(file)), []);
  for (const { file, test } of SELECTED) {
    const patterns = testNames(await read(file)).map((name) =>
      new RegExp(`^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".+")}$`)
    );
    ok(patterns.some((pattern) => pattern.test(test)), `${file}: ${test}`);
  }
});

const shown = (constant: string, value: number): string => {
  const [KIB, MIB] = [1024, 1024 * 1024];
  if (/BYTES/.test(constant)) return value % MIB === 0 ? `${value / MIB} MiB` : `${value / KIB} KiB`;
  return /_MS(_|$)/.test(constant) ? `${(value / 1000).toLocaleString("en")} s` : value.toLocaleString("en");
};

Deno.test("the limits of docs/security.md are those of the code", async () => {
  const rows = await rowsBelow("Limits");
  ok(rows.length >= 15);
  const limits: Readonly<Record<string, unknown>> = { ...coreLimits, ...shellLimits };
  for (const [what = "", value, cell = ""] of rows) {
    const constant = cell.replaceAll("`", "");
    const limit = limits[constant];
    ok(typeof limit === "number", `${constant} is no limit`);
    strictEqual(value, shown(constant, limit), what);
  }
});

Deno.test("docs/security.md names every setting that widens or narrows what authors can do", async () => {
  const page = await read("docs/security.md");
  const names = SETTING_ROWS.filter(({ field }) => field === "allow").map(({ key }) => key);
  ok(names.length >= 6);
  deepStrictEqual(names.filter((key) => !page.includes(`\`${key}\``)), []);
  // The defaults that the page states.
  deepStrictEqual(ALLOWANCES_DEFAULT.serviceAccounts, ["*"]);
  deepStrictEqual(ALLOWANCES_DEFAULT.ingressHosts, ["*"]);
  deepStrictEqual(ALLOWANCES_DEFAULT.ingressAnnotations, ["*", "!*snippet*"]);
  deepStrictEqual(ALLOWANCES_DEFAULT.caBundleNamespaces, []);
  strictEqual(ALLOWANCES_DEFAULT.privileged, false);
  ok(!ALLOWANCES_DEFAULT.volumes.some((kind) => kind === "hostPath" || kind === "nfs"));
});
