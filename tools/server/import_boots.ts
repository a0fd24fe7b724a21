/** Starts servers for every config of a folder, one after the other, and says how the answers of both compare. */
import { type Answers, bootBoth, PATHS, startDatabases } from "./import_boot.ts";
import { ServerDidNotStart } from "./llama_stack.ts";

interface File {
  readonly name: string;
  readonly text: string;
}

export const bootAll = async (
  files: ReadonlyArray<File>,
  print: (cells: ReadonlyArray<string>) => void,
): Promise<void> => {
  await using databases = await startDatabases();
  for (const { name, text } of files) {
    try {
      const { server, corrections, own, made } = await bootBoth(text, databases);
      const answers = PATHS.map((path) => `${path} ${comparison(path, own, made)}`).join("; ");
      print([name, server, corrections.join("; "), answers]);
    } catch (cause) {
      print([name, "", "", cause instanceof ServerDidNotStart ? lastError(cause.log) : String(cause)]);
    }
  }
};

const comparison = (path: string, own: Answers, made: Answers): string => {
  const [before = [], after = []] = [own[path], made[path]];
  const [lost, added] = [
    before.filter((item) => !after.includes(item)),
    after.filter((item) => !before.includes(item)),
  ];
  return lost.length + added.length === 0
    ? `equal (${before.length})`
    : [...lost.map((item) => `without ${item}`), ...added.map((item) => `also ${item}`)].join(", ");
};

/** The line that a Python program ends with. */
const lastError = (log: string): string =>
  [...log.matchAll(/[A-Z]\w+(?:Error|Exception): [^\n"\\]+/g)].at(-1)?.[0] ?? log.slice(-300);
