/** What `import` calls equal, asked of real servers: each runs a config as its author wrote it, and the one from the imported resource. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { bootBoth, startDatabases } from "../../tools/server/import_boot.ts";

interface Row {
  readonly file: string;
  readonly server: string;
  /** How many providers it has at least. */
  readonly providers: number;
  /** Also in `deno task test`. */
  readonly isPromise?: true;
}

const FIXTURES = "tests/fixtures/import";

/** Configs as people write them, and base configs, which most people begin with. */
const ROWS: ReadonlyArray<Row> = [
  { file: `${FIXTURES}/ollama-0.2.yaml`, server: "0.2.24", providers: 3 },
  { file: `${FIXTURES}/postgres-0.3.yaml`, server: "0.3.5", providers: 8 },
  { file: `${FIXTURES}/tools-0.3.yaml`, server: "0.3.5", providers: 7 },
  { file: "configs/bases/starter-0.4.yaml", server: "0.4.7", providers: 15 },
  { file: "configs/bases/starter-0.6.yaml", server: "0.6.1", providers: 15 },
  { file: `${FIXTURES}/playground-0.7.yaml`, server: "0.7.3", providers: 8, isPromise: true },
  { file: `${FIXTURES}/service-1.x.yaml`, server: "1.4.1", providers: 7 },
  { file: "configs/bases/starter-1.5.yaml", server: "1.5.0", providers: 15 },
];

for (const { file, server, providers, isPromise } of ROWS) {
  if (isPromise === undefined && !Deno.env.has("TEST_EVERY_VERSION")) continue;
  Deno.test(`server ${server} answers alike with ${file} and with the resource that import makes of it`, async () => {
    await using databases = await startDatabases();
    const text = await Deno.readTextFile(new URL(`../../${file}`, import.meta.url));
    const { own, made, differences } = await bootBoth(text, databases, { serverVersion: server });
    deepStrictEqual(differences, []);
    deepStrictEqual(made, own);
    const listed = own["/v1/providers"] ?? [];
    ok(listed.length >= providers, listed.join("\n"));
  });
}
