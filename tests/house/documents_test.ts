/** README and docs are correct: their commands run as written, and their links lead to files. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import * as Result from "effect/Result";
import { at, type Json, listAt, member } from "../../core/data/json.ts";
import { readYaml11 } from "../../core/data/yaml.ts";
import { lintCommand } from "../../core/command/lint.ts";
import { PLAIN } from "../../core/command/outcome.ts";
import { CATALOGUES } from "../../core/config/servers/catalogue.ts";
import { OWN_KINDS } from "../../core/snapshot/kinds.ts";
import { IMAGE } from "../../tools/package/choices.ts";
import { SECTIONS } from "../../tools/site/pages.ts";
import { SEARCH_SEPARATOR } from "../../tools/site.ts";
import {
  commandsRunBy,
  DOCUMENTED,
  documentedCommands,
  LAUNCHER,
  resourcesOfPages,
  rowsOf,
} from "../documented_commands.ts";
import { none } from "../none.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

Deno.test("README has one command for the main job and one for the tests", async () => {
  const commands = (await documentedCommands()).filter(({ page }) => page === "README.md").map(({ text }) => text);
  deepStrictEqual(commands.slice(0, 2), [`${LAUNCHER}task up`, `${LAUNCHER}task test`]);
  ok((await read(".ci/run")).includes(`${LAUNCHER}task test`));
});

Deno.test("the commands of README that need no cluster run as written", async () => {
  const commands = await commandsRunBy("tests/house/documents_test.ts");
  for (const { text } of commands) {
    ok(text.startsWith(LAUNCHER), text);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: text.slice(LAUNCHER.length).split(/\s+/),
      cwd: ROOT,
      stdout: "null",
      stderr: "piped",
    }).output();
    strictEqual(code, 0, `${text}\n${new TextDecoder().decode(stderr)}`);
  }
  ok(commands.length >= 8);
});

Deno.test("every command of README and docs is run by one test, or named with the reason why by none", async () => {
  const commands = await documentedCommands();
  const told = commands.map((command) => ({ one: command, rows: rowsOf(command) }));
  none(
    told.filter(({ rows }) => rows.length !== 1).map(({ one }) => `${one.page}: ${one.text}`),
    "Add one row for each of these commands to tests/documented_commands.ts",
  );
  deepStrictEqual(DOCUMENTED.filter((row) => !told.some(({ rows }) => rows.includes(row))), []);
  for (const { by, why } of DOCUMENTED) {
    ok((by === undefined) !== (why === undefined));
    if (by !== undefined) {
      ok((await read(by)).includes(`commandsRunBy("${by}")`), `${by} does not ask for its commands`);
    }
  }
  // Tasks that no test runs exist at least.
  const { tasks } = JSON.parse(await read("deno.json")) as { tasks: Record<string, unknown> };
  const named = commands.flatMap(({ text }) =>
    text.startsWith(`${LAUNCHER}task `) ? [text.replace("task -q ", "task ").split(" ")[4] ?? ""] : []
  );
  deepStrictEqual(named.filter((task) => !Object.hasOwn(tasks, task)), []);
});

Deno.test("lint finds no error in any resource that a page shows", async () => {
  const shown = await resourcesOfPages();
  ok(shown.length >= 12);
  const options = { format: "text", style: PLAIN } as const;
  for (const { page, text } of shown) {
    const { code, stdout } = lintCommand(
      [{ name: page, text }],
      { ...DEFAULT_SURROUNDINGS, imageLabels: "Auto" },
      options,
    );
    strictEqual(code, 0, stdout);
  }
});

Deno.test("the search of the site finds every provider type by the name that people know", async () => {
  const words = new Set((await read("docs/providers.md")).toLowerCase().split(new RegExp(SEARCH_SEPARATOR)));
  const types = CATALOGUES.flatMap(({ providers }) => Object.values(providers).flatMap((ofApi) => Object.keys(ofApi)));
  const unfound = types.filter((type) =>
    (type.split("::")[1] ?? type).split(/[-_]/).some((word) => !words.has(word.toLowerCase()))
  );
  none([...new Set(unfound)], "Run deno task gen, which lists these types in docs/providers.md");
});

Deno.test("the site has every page of docs once", () => {
  const listed = SECTIONS.flatMap(([, entries]) => entries.map(([, file]) => file));
  const there = Array.from(Deno.readDirSync(new URL("docs/", ROOT))).filter(({ name }) => name.endsWith(".md"));
  deepStrictEqual(listed.toSorted(), there.map(({ name }) => name).toSorted());
});

Deno.test("deno task install-file prints install.yaml with another image", async () => {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "install-file", "registry.example.com/operator:1"],
    cwd: ROOT,
  }).output();
  strictEqual(code, 0);
  const usual = (await read("deploy/install.yaml")).replace(IMAGE, "registry.example.com/operator:1");
  const bare = (text: string) => text.replace(/^#.*\n/, "").trim();
  strictEqual(bare(new TextDecoder().decode(stdout)), bare(usual));
});

Deno.test("README's resource is the sample of that name, and has no warning", async () => {
  const shown = /```yaml\n([\s\S]*?)```/.exec(await read("README.md"))?.[1] ?? "";
  const sample = await read("deploy/samples/vllm.yaml");
  const bare = (text: string) =>
    text.split("\n").map((line) => line.replace(/\s*#.*$/, "")).filter((line) => line !== "").join("\n");
  strictEqual(bare(shown), bare(sample));
  match(
    lintCommand([{ name: "a", text: sample }], DEFAULT_SURROUNDINGS, { format: "text", style: PLAIN }).stdout,
    /^0 errors, 0 warnings/,
  );
});

/** Every page that a person writes or reads; issue templates have no links. */
const pages = async (): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for (const folder of ["", "docs/", "docs/decisions/"]) {
    for await (const { name, isFile } of Deno.readDir(new URL(folder, ROOT))) {
      if (isFile && name.endsWith(".md")) found.push(`${folder}${name}`);
    }
  }
  return found.toSorted();
};

const isThere = (url: URL): Promise<boolean> => Deno.stat(url).then(() => true, () => false);

/** As GitHub derives it from a heading. */
const anchorOf = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(/\s/g, "-");

Deno.test("links of all pages lead to files and headings", async () => {
  const broken: Array<string> = [];
  for (const page of await pages()) {
    for (const [, target = "", anchor = ""] of (await read(page)).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const file = new URL(target === "" ? page : target, target === "" ? ROOT : new URL(page, ROOT));
      const found = await isThere(file);
      const headings = found && anchor !== ""
        ? [...(await Deno.readTextFile(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading))
        : [];
      if (!found || anchor !== "" && !headings.includes(anchor)) broken.push(`${page}: ${target}#${anchor}`);
    }
  }
  deepStrictEqual(broken, []);
});

Deno.test("files and folders of the repository that pages name exist", async () => {
  const missing: Array<string> = [];
  for (const page of (await pages()).filter((name) => name !== "CHANGELOG.md")) {
    for (
      const [, path = ""] of (await read(page)).matchAll(
        /`((?:core|shell|tools|tests|configs|deploy|docs|crds)\/[\w./-]+)`/g,
      )
    ) {
      if (!path.includes("X.Y") && !await isThere(new URL(path, ROOT))) missing.push(`${page}: ${path}`);
    }
  }
  deepStrictEqual(missing, []);
});

Deno.test("ARCHITECTURE names every dependency", async () => {
  const page = await read("ARCHITECTURE.md");
  const { imports } = JSON.parse(await read("deno.json")) as { imports: Record<string, string> };
  for (const name of Object.keys(imports)) ok(name.endsWith("/") || page.includes(`\`${name}\``), name);
});

Deno.test("every dependency has an exact version, and the lock file is frozen", async () => {
  const { imports, lock } = JSON.parse(await read("deno.json")) as {
    imports: Record<string, string>;
    lock: { frozen?: boolean };
  };
  const inexact = Object.values(imports).filter((target) => !/@\d+\.\d+\.\d+\/?$/.test(target));
  deepStrictEqual(inexact, []);
  strictEqual(lock.frozen, true);
  const installs = (await read("Dockerfile")).split("\n").filter((line) => line.includes("deno install"));
  ok(installs.length > 0 && installs.every((line) => line.includes("--frozen")), installs.join());
});

Deno.test("docs/backup.md saves every kind of object that each API server has", async () => {
  const command = (await read("docs/backup.md")).split("\n").find((line) => line.startsWith("kubectl get secrets,")) ??
    "";
  const saved = command.split(" ")[2]?.split(",") ?? [];
  none(
    OWN_KINDS.map(({ plural }) => plural).filter((plural) => !saved.includes(plural)),
    "Add them to kubectl get in docs/backup.md (Back up one namespace), and to that of docs/go-operator.md",
  );
});

Deno.test("docs/runbook.md explains every reason that explain has advice for", async () => {
  const source = await Deno.readTextFile(new URL("../../core/command/next_steps.ts", import.meta.url));
  const table = source.slice(source.indexOf("const NEXT_STEPS"));
  const reasons = [...table.matchAll(/^ {2}(\w+): /gm)].map(([, reason = ""]) => reason);
  ok(reasons.length > 15);
  const pages = await Promise.all(
    ["runbook", "conditions"].map((page) => Deno.readTextFile(new URL(`../../docs/${page}.md`, import.meta.url))),
  );
  const missing = reasons.filter((reason) => !pages.some((page) => page.includes(`| \`${reason}\``)));
  none(missing, "Add rows to Reasons of conditions in docs/runbook.md");
});

/** Fields that pages name with the same first word, and that are none of the resource: those of a provider's own file. */
const OTHER_SPECS = /^spec\.(yaml|packageName|providerType|api|wheelPath|ignoredDependencies)$/;

/** The schema of a field, without the indexes of lists; "open": anything may follow. */
const schemaOf = (schema: Json | undefined, steps: ReadonlyArray<string>): Json | "open" | undefined => {
  const [step, ...rest] = steps;
  const items = member(schema, "items");
  if (items !== undefined) return schemaOf(items, steps);
  if (step === undefined || schema === undefined) return schema;
  if (member(schema, "x-kubernetes-preserve-unknown-fields") === true) return "open";
  return schemaOf(member(member(schema, "properties"), step) ?? member(schema, "additionalProperties"), rest);
};

Deno.test("README and docs name only fields of a resource, and values of them, that the schema of a version has", async () => {
  const crd = Result.getOrThrow(readYaml11(await read("crds/llamastackdistributions.yaml")));
  const schemas = listAt(crd, "spec", "versions").map((version) => at(version, "schema", "openAPIV3Schema"));
  const pages = [...Deno.readDirSync(new URL("docs/", ROOT))].map(({ name }) => `docs/${name}`)
    .filter((page) => page.endsWith(".md")).concat("README.md");
  const named = (await Promise.all(pages.map(async (page) => {
    const spans = [...(await read(page)).replaceAll(/^```[^]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)];
    return spans.flatMap(([, span = ""]) =>
      [...span.matchAll(/(?<![\w./-])(spec(?:\.[A-Za-z]\w*(?:\[[^\]]*\])?)+)(?:: ([A-Z]\w*)$)?/g)]
        .map(([, path = "", value]) => ({ page, path: path.replaceAll(/\[[^\]]*\]/g, ""), value }))
    );
  }))).flat().filter(({ path }) => !OTHER_SPECS.test(path));
  ok(named.length > 100);
  const isKnown = ({ path, value }: typeof named[number]) =>
    schemas.map((schema) => schemaOf(schema, path.split("."))).some((schema) =>
      schema !== undefined && (value === undefined || schema === "open" || listAt(schema, "enum").includes(value))
    );
  none(
    named.filter((one) => !isKnown(one)).map(({ page, path, value }) => [page, path, value].join(" ")),
    "Correct these names of fields and values",
  );
});
