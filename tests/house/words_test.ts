/**
 * Phrases that may not come back: the product speaks the terms of Kubernetes, Llama Stack and TypeScript (see the glossary
 * in CONTRIBUTING.md). A finding names file, line, phrase and replacement.
 *
 * A phrase is a regular expression without regard to case; spaces match a line break within a comment or paragraph, too.
 */
import { deepStrictEqual, ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

interface Phrase {
  readonly phrase: string;
  readonly instead: string;
}

const PHRASES: ReadonlyArray<Phrase> = [
  { phrase: "what runs stays", instead: "the running Deployment is unchanged" },
  { phrase: "what should be", instead: "desired state, desired objects" },
  { phrase: "mend(s|ed|ing)?", instead: "fix, correct" },
  { phrase: "is no (valid )?config.yaml|yaml is no config", instead: "is not a valid Llama Stack config" },
  { phrase: "(is|are|was|were) (there|not there) (already|yet)", instead: "already exists; does not exist yet" },
  { phrase: "(is|are) left alone", instead: "is left unchanged, is ignored" },
  { phrase: "(was|were) not looked at", instead: "has not been reconciled" },
  { phrase: "takes? it in turns|by turns", instead: "at most N concurrently" },
  { phrase: "(waits?|waiting) (for )?(its|their) turn", instead: "waiting for an upgrade slot" },
  { phrase: "growing pauses", instead: "with backoff" },
  { phrase: "goes? on by (itself|themselves)", instead: "continues automatically" },
  { phrase: "laid over|lays over", instead: "merged into, overlay" },
  { phrase: "brings? along|comes? along", instead: "ships, built into" },
  { phrase: "somebody else's", instead: "not managed by this resource, of another owner" },
  { phrase: "ones? that is there", instead: "existing" },
  { phrase: "let(s|ting)? (it|them|a change|a held \\w+) through", instead: "roll out, apply, accept" },
  { phrase: "(what|which) becomes? of", instead: "say what is kept, deleted or changed" },
  { phrase: "asks? no cluster|no cluster is asked", instead: "works offline" },
  { phrase: "takes? away (again )?(what|exactly what) it made", instead: "removes the objects it created" },
  { phrase: "tells? the rest", instead: "see --help for all options" },
  { phrase: "last words", instead: "end of the log" },
  { phrase: "way out", instead: "fix, advice, replacement" },
  { phrase: "misuse", instead: "usage error" },
  { phrase: "when absent|where absent", instead: "Defaults to …; if unset, …" },
  { phrase: "(is|are|was|were) told", instead: "is reported, is logged, is configured, receives a warning" },
  { phrase: "(another|every|each|older|oldest|newer|this|server) lines? of servers?", instead: "server family" },
  { phrase: "server lines?", instead: "server family, server families" },
  { phrase: "undone (once|and)", instead: "rolled back" },
  { phrase: "no line has", instead: "no server family has" },
  { phrase: "(not )?ours to choose", instead: "cannot be changed" },
  { phrase: "nobody has looked", instead: "not tested yet" },
  { phrase: "at the begin", instead: "at the beginning" },
  { phrase: "free the name", instead: "delete the object if it is unused" },
  { phrase: "without a word", instead: "silently" },
  { phrase: "(the|a|its) way back", instead: "the conversion back, the rollback" },
  { phrase: "end(s|ed)? (the|its) start", instead: "fails to start" },
  { phrase: "for ever", instead: "forever" },
  { phrase: "last good value", instead: "last valid value" },
  { phrase: "finds the same mistakes", instead: "reports such errors before you apply a file" },
  { phrase: "(go|goes|going|went) on (running|serving)", instead: "keeps running, keeps serving" },
];

/** Numbers of requirements and rulings, which are defined nowhere in the repository. */
const NUMBERS = /\b(R[0-9]{1,2}|N?FR-[0-9]{3}[a-z]?|OQ-[0-9]+|US[0-9]{1,2})\b/;

/** Files with names or texts of others, this list, and those that use a field name of `configs/boots.json`. */
const SKIPPED =
  /^(configs|deploy\/(olm|kustomize|install)|tests\/fixtures|tools\/boot_matrix\/(page|results|shipped)|tools\/install\/(requirements|control_plane))|^deno\.lock$|words_test\.ts$|\.(sum|png|svg)$|^LICENSE$/;

const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for await (const entry of Deno.readDir(new URL(folder === "" ? "./" : folder, ROOT))) {
    const path = `${folder}${entry.name}`;
    if (SKIPPED.test(path) || /^(node_modules|dist|\.git)$/.test(entry.name)) continue;
    if (entry.isDirectory) found.push(...await filesIn(`${path}/`));
    else if (/\.(ts|md|yaml|yml|json|sh)$/.test(path)) found.push(path);
  }
  return found;
};

const FOLDERS = ["core/", "shell/", "tools/", "docs/", "crds/", "tests/", "deploy/samples/", ".ci/", ".github/"];
const PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deno.json"];

const COMPILED = PHRASES.map(({ phrase, instead }) => ({
  phrase,
  instead,
  // A line break within prose: indentation, and the mark of a comment.
  pattern: new RegExp(`\\b(?:${phrase.replaceAll(" ", "(?: |\\s*\\n\\s*(?:\\*|//)? ?)")})(?![\\w-])`, "gi"),
}));

const findingsIn = (file: string, text: string): ReadonlyArray<string> => {
  const lines = text.split("\n");
  const lineOf = (index: number): number => text.slice(0, index).split("\n").length;
  const phrases = COMPILED.flatMap(({ instead, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({ number: lineOf(match.index), found: match[0], instead }))
  ).map(({ number, found, instead }) => `${file}:${number}: "${found.replace(/\s+/g, " ")}"; write: ${instead}`);
  const numbers = NUMBERS.test(text)
    ? lines.flatMap((line, index) => {
      const [found] = NUMBERS.exec(line) ?? [];
      return found === undefined ? [] : [`${file}:${index + 1}: "${found}"; write: the behaviour in plain words`];
    })
    : [];
  return [...phrases, ...numbers];
};

Deno.test("no file contains a phrase or a number that a newcomer cannot understand", async () => {
  const existing = await Promise.all(FOLDERS.map((folder) => filesIn(folder).catch(() => [])));
  const files = [...existing.flat(), ...PAGES];
  ok(files.length > 300);
  const findings = await Promise.all(
    files.map(async (file) => findingsIn(file, await Deno.readTextFile(new URL(file, ROOT)))),
  );
  deepStrictEqual(findings.flat(), []);
});

Deno.test("findings name file, line, phrase and replacement, also across lines", () => {
  deepStrictEqual(findingsIn("a.ts", "/**\n * Tried again with growing\n * pauses.\n */\n"), [
    'a.ts:2: "growing * pauses"; write: with backoff',
  ]);
  deepStrictEqual(findingsIn("a.md", "- fulfils FR-012\n"), [
    'a.md:1: "FR-012"; write: the behaviour in plain words',
  ]);
  deepStrictEqual(findingsIn("a.ts", "const recommended = 1;\n"), []);
});
