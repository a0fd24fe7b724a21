/** Each requirement that this version claims has a test with its number in its name. */
import { deepStrictEqual } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

/** Generation (FR-020 – FR-063, FR-090 – FR-092) as far as it needs no cluster, and what it rests on. */
const CLAIMED = [
  ...["002", "005", "007", "008", "009", "012", "013"],
  ...["020", "020a", "020b", "021", "022", "023", "024", "025a", "027", "027a", "027c", "028", "029"],
  ...["030", "031", "032", "033", "034", "035", "035a", "036"],
  ...["040", "041", "042", "043", "044", "050", "051", "052", "053", "060", "061", "063"],
  ...["070", "071", "072", "075", "076", "077", "078", "079", "079d", "080", "081", "082", "083", "090", "091", "092"],
].map((number) => `FR-${number}`).concat(["NFR-001", "NFR-003", "NFR-004", "NFR-005"]);

const testNames = async (folder: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = [];
  for await (const entry of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) found.push(...await testNames(`${path}/`));
    else if (path.endsWith("_test.ts") && path !== "tests/house/requirements_test.ts") {
      const text = await Deno.readTextFile(new URL(path, ROOT));
      found.push(...[...text.matchAll(/(?:Deno\.test|\.step)\(\s*["'`]([^"'`]+)/g)].map(([, name = ""]) => name));
      // Tables of tests state their names as values.
      found.push(...[...text.matchAll(/\[\s*"((?:FR|NFR|US|R)-?[0-9][^"]*)"/g)].map(([, name = ""]) => name));
    }
  }
  return found;
};

Deno.test("every claimed requirement is named by a test", async () => {
  const names = [...await testNames("core/"), ...await testNames("shell/"), ...await testNames("tests/")].join("\n");
  const missing = CLAIMED.filter((number) => !new RegExp(`${number}(?![0-9a-z])`).test(names));
  deepStrictEqual(missing, []);
});
