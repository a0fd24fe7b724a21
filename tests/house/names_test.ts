/** Names that say nothing to a newcomer, and the term that replaces each. */
import { deepStrictEqual, ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

const NAMES: Readonly<Record<string, string>> = {
  away: "the upgrades, or what has a slot",
  doubt: "stale",
  doubted: "isStale",
  laidInto: "upsert",
  refusal: "rejection",
  refusals: "rejectedWrites, or rejections",
  said: "the text that it holds: message, reported, shown",
  saysTheSame: "matchesDesired",
  say: "print, action, or message",
  shelf: "record, or entry",
  told: "what was reported: explanation, warning, announcements",
  turn: "slot",
  Turn: "the slot",
  truth: "conditionTrue",
  untruth: "conditionFalse",
  World: "ClusterSnapshot",
  world: "snapshot",
};

const DECLARED = new RegExp(
  `(?:\\b(?:const|let|function|class|interface|type)\\s+|[({,]\\s*|readonly\\s+)(${
    Object.keys(NAMES).join("|")
  })\\b(?=\\s*[:=,)<(?}])`,
  "g",
);

const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for await (const entry of Deno.readDir(new URL(folder, ROOT))) {
    if (entry.isDirectory) found.push(...await filesIn(`${folder}${entry.name}/`));
    else if (entry.name.endsWith(".ts") && !entry.name.endsWith("_test.ts")) found.push(`${folder}${entry.name}`);
  }
  return found;
};

const namesIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
    .flatMap((line) => [...line.matchAll(DECLARED)].flatMap(([, name]) => name ?? []));

Deno.test("no declaration has a name that a newcomer cannot understand", async () => {
  const files = (await Promise.all(["core/", "shell/"].map(filesIn))).flat();
  ok(files.length > 200);
  const found = await Promise.all(
    files.map(async (file) =>
      namesIn(await Deno.readTextFile(new URL(file, ROOT))).map((name) => `${file}: ${name}; write ${NAMES[name]}`)
    ),
  );
  deepStrictEqual(found.flat(), []);
});

Deno.test("namesIn() finds declarations, parameters and fields, and no prose", () => {
  deepStrictEqual(namesIn("const told = 1;\nconst f = (away: number) => away;\n// told what\nreadonly say: string"), [
    "told",
    "away",
    "say",
  ]);
});

const EXPORTED = /^export (?:const|function|class|interface|type|enum) (\w+)/gm;

Deno.test("no two files of a folder export the same name", async () => {
  const files = (await Promise.all(["core/", "shell/", "tools/"].map(filesIn))).flat();
  const exported = await Promise.all(files.map(async (file) => {
    const names = new Set((await Deno.readTextFile(new URL(file, ROOT))).matchAll(EXPORTED).map(([, name]) => name));
    return [...names].map((name) => ({ file, place: `${file.slice(0, file.lastIndexOf("/"))}: ${name}` }));
  }));
  ok(exported.flat().length > 1000);
  const twice = Map.groupBy(exported.flat(), ({ place }) => place).entries().filter(([, all]) => all.length > 1)
    .map(([place, all]) => `${place} in ${all.map(({ file }) => file.slice(file.lastIndexOf("/") + 1)).join(" and ")}`);
  deepStrictEqual([...twice], []);
});

Deno.test("a service is registered under the name that the program has for it", async () => {
  const registered = (await Promise.all((await filesIn("shell/")).map(async (file) => {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    return [...text.matchAll(/"llama-stack-operator\/shell\/(\w+)"/g)].map(({ 1: id, index }) => ({
      name: [...text.slice(0, index).matchAll(/^export (?:class|const) (\w+)/gm)].at(-1)?.[1],
      id,
    }));
  }))).flat();
  ok(registered.length > 10);
  deepStrictEqual(registered.filter(({ name, id }) => name !== id), []);
});
