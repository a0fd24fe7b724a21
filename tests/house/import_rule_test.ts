/** The import rules (ARCHITECTURE.md). All directories are read, so that a file without importers is checked too. */
import { deepStrictEqual, ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

/** What the core takes from outside: values, pure functions, and descriptions of pipelines that never suspend. */
const CORE_PACKAGES = new Set(["js-yaml", "fastest-levenshtein"]);
const CORE_FROM_EFFECT = new Set([
  "Effect",
  "Context",
  "Redacted",
  "Result",
  "Option",
  "Data",
  "Match",
  "Order",
  "Array",
  "Record",
  "Schema",
  "SchemaIssue",
]);
const TYPES_ONLY = "@kubernetes/client-node";

interface Import {
  readonly file: string;
  readonly from: string;
  readonly names: ReadonlyArray<string>;
  readonly typesOnly: boolean;
}

const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for await (const entry of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) found.push(...await filesIn(`${path}/`));
    else if (path.endsWith(".ts")) found.push(path);
  }
  return found.sort();
};

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?([^;"']*?)\s*from\s+"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g;

const importsOf = async (file: string): Promise<ReadonlyArray<Import>> => {
  const text = await Deno.readTextFile(new URL(file, ROOT));
  return [...text.matchAll(IMPORT)].map(([, type, names = "", from, dynamic]) => ({
    file,
    from: from ?? dynamic ?? "",
    names: names.replace(/[{}]/g, "").split(",").map((name) => name.trim()).filter((name) => name !== ""),
    typesOnly: type !== undefined,
  }));
};

const product = async (folder: string) =>
  (await Promise.all((await filesIn(folder)).filter((file) => !file.endsWith("_test.ts")).map(importsOf))).flat();

const target = ({ file, from }: Import): string => new URL(from, new URL(file, ROOT)).href.slice(ROOT.href.length);

Deno.test("core imports the core, data of configs/, and the few packages that hold values", async () => {
  const all = await product("core/");
  ok(all.length > 100);
  const wrong = all.filter((item) => {
    if (item.from.startsWith(".")) return !/^(core|configs)\//.test(target(item));
    if (item.from === TYPES_ONLY) return !item.typesOnly;
    if (item.from === "node:crypto") return item.file !== "core/data/digest.ts";
    if (item.from.startsWith("effect/")) return !CORE_FROM_EFFECT.has(item.from.slice("effect/".length));
    return !CORE_PACKAGES.has(item.from);
  });
  deepStrictEqual(wrong.map(({ file, from, names }) => `${file}: ${names.join(", ")} from ${from}`), []);
});

Deno.test("shell imports the shell, the core and packages; the client library as types only", async () => {
  const wrong = (await product("shell/")).filter((item) => {
    if (item.from.startsWith(".")) return !/^(shell|core)\//.test(target(item));
    return item.from === TYPES_ONLY && !item.typesOnly;
  });
  deepStrictEqual(wrong, []);
});

Deno.test("no file imports itself by way of others", async () => {
  const imports = [...await product("core/"), ...await product("shell/"), ...await product("tools/")];
  const targets = Map.groupBy(imports.filter(({ from }) => from.startsWith(".")), ({ file }) => file);
  const open = new Set<string>();
  const done = new Set<string>();
  const circles: Array<string> = [];
  const visit = (file: string, way: ReadonlyArray<string>): void => {
    if (open.has(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (open.has(file) || done.has(file)) return;
    open.add(file);
    for (const item of targets.get(file) ?? []) visit(target(item), [...way, file]);
    open.delete(file);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  deepStrictEqual(circles, []);
});

Deno.test("each folder of core and shell imports only folders above it in the table of ARCHITECTURE.md", async () => {
  const page = await Deno.readTextFile(new URL("ARCHITECTURE.md", ROOT));
  const cells = page.split("\n").map((line) => /^\| (`(?:core|shell)\/[^|]*)\|/.exec(line)?.[1] ?? "");
  const layers = cells.flatMap((cell) => [...cell.matchAll(/`((?:core|shell)\/[a-z]+)`/g)].map(([, name]) => name));
  const folderOf = (path: string) => /^((?:core|shell)\/[^/]+)\//.exec(path)?.[1];
  const found = new Set(
    [...await filesIn("core/"), ...await filesIn("shell/")].flatMap((file) => folderOf(file) ?? []),
  );
  deepStrictEqual(layers.toSorted(), [...found].sort());
  const upward = [...await product("core/"), ...await product("shell/")].filter(({ from }) => from.startsWith("."))
    .filter((item) => layers.indexOf(folderOf(target(item))) > layers.indexOf(folderOf(item.file)));
  deepStrictEqual(upward.map((item) => `${item.file} imports ${target(item)}`), []);
});

/** Pairs of folders of core of which one imports the other. What adds one is mostly a file in the wrong folder. */
const PAIRS_MAX = 54;

Deno.test("the folders of core import no more of each other than they did", async () => {
  const folderOf = (path: string) => path.split("/")[1];
  const pairs = (await product("core/")).filter((item) => item.from.startsWith(".") && target(item).startsWith("core/"))
    .map((item) => [folderOf(item.file), folderOf(target(item))] as const).filter(([one, other]) => one !== other);
  const found = new Set(pairs.map(([one, other]) => `${one} imports ${other}`));
  ok(found.size <= PAIRS_MAX, `${found.size}: ${[...found].toSorted().join(", ")}`);
});

const EXPORT = /^export (const|function|class|interface|type) (\w+)/gm;

Deno.test("whatever core and shell export, the program imports; what it uses in its own file, tests and tools may import", async () => {
  const files = [...await filesIn("core/"), ...await filesIn("shell/")].filter((file) => !file.endsWith("_test.ts"));
  const others = (await Promise.all(["tools/", "tests/"].map(filesIn))).flat();
  const tests = [...await filesIn("core/"), ...await filesIn("shell/")].filter((file) => file.endsWith("_test.ts"));
  const importedIn = async (all: ReadonlyArray<string>) =>
    new Set(
      (await Promise.all(all.map(importsOf))).flat().filter(({ from }) => from.startsWith(".")).flatMap((item) =>
        // A dynamic import has no names, and a namespace has all.
        (item.names.length === 0 ? ["*"] : item.names).map((name) =>
          `${target(item)}: ${name.replace(/^type /, "").replace(/ as .*/, "")}`
        )
      ),
    );
  const [byProgram, byOthers] = await Promise.all([
    importedIn([...files, "mod.ts"]),
    importedIn([...others, ...tests]),
  ]);
  const unused = (await Promise.all(files.map(async (file) => {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, "");
    return [...text.matchAll(EXPORT)].flatMap(([, kind = "", name = ""]) => {
      const isIn = (imported: ReadonlySet<string>) => [name, "*"].some((one) => imported.has(`${file}: ${one}`));
      // A type that another one mentions can be named where a value of it is, without an import.
      const isMentioned = [...code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length > 1;
      const isUsed = isIn(byProgram) || isMentioned && (isIn(byOthers) || kind !== "const" && kind !== "function");
      return isUsed ? [] : [`${file}: ${name}`];
    });
  }))).flat();
  deepStrictEqual(unused, []);
});

Deno.test("a stage or command makes a warning of every code", async () => {
  const [list = ""] = /export type WarningCode =[^;]*;/.exec(
    await Deno.readTextFile(new URL("core/failure/warning.ts", ROOT)),
  ) ?? [];
  const codes = [...list.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
  const files = (await filesIn("core/")).filter((file) => !file.endsWith("_test.ts"));
  const made = new Set(
    (await Promise.all(
      files.map(async (file) =>
        [...(await Deno.readTextFile(new URL(file, ROOT))).matchAll(/(?:[(]|code: |code = )\s*"(\w+)"/g)]
          .map(([, code]) => code)
      ),
    )).flat(),
  );
  ok(codes.length > 50);
  deepStrictEqual(codes.filter((code) => !made.has(code)), []);
});

Deno.test("mod.ts imports the shell alone", async () => {
  deepStrictEqual((await importsOf("mod.ts")).filter((item) => !target(item).startsWith("shell/")), []);
});

Deno.test("the top level holds what it is meant to hold", async () => {
  // Folders that .gitignore names are made by tasks.
  const made = new Set(["dist", "cov"]);
  const found: Array<string> = [];
  for await (const { name } of Deno.readDir(ROOT)) if (!name.startsWith(".") && !made.has(name)) found.push(name);
  deepStrictEqual(found.sort(), [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "configs",
    "core",
    "crds",
    "deno.json",
    "deno.lock",
    "deploy",
    "docs",
    "mod.ts",
    "shell",
    "tests",
    "tools",
  ]);
});

Deno.test("the files that comments name exist", async () => {
  const all = (await Promise.all(["core/", "shell/", "tools/", "tests/"].map(filesIn))).flat().concat("mod.ts");
  const missing: Array<string> = [];
  for (const file of all) {
    const comments = (await Deno.readTextFile(new URL(file, ROOT))).matchAll(/^\s*(?:\/\/|\/?\*).*$/gm);
    for (const [name] of [...comments].flatMap(([line]) => [...line.matchAll(/[\w./-]*\w\.ts\b/g)])) {
      if (!all.some((other) => `/${other}`.endsWith(`/${name}`))) missing.push(`${file}: ${name}`);
    }
  }
  deepStrictEqual(missing, []);
});

Deno.test("no file has a meaningless name", async () => {
  const all = [
    ...await filesIn("core/"),
    ...await filesIn("shell/"),
    ...await filesIn("tools/"),
    ...await filesIn("tests/"),
  ];
  deepStrictEqual(
    all.filter((file) => /(^|\/)_?(utils?|helpers?|common|types|misc|manager)(_test)?\.ts$/.test(file)),
    [],
  );
});

Deno.test("a file of the product over 300 lines explains why in its header", async () => {
  const long: Array<string> = [];
  for (
    const file of [...await filesIn("core/"), ...await filesIn("shell/")].filter((name) => !name.endsWith("_test.ts"))
  ) {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    if (text.split("\n").length > 300 && !text.slice(0, 1500).includes("over 300 lines")) long.push(file);
  }
  deepStrictEqual(long, []);
});
