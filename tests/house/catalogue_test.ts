/** What the checklist for a new server version asks for, and nothing else would notice. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { jsonRows } from "../../tools/json_rows.ts";
import { COMMON_VERSIONS, SERVER_VERSIONS } from "../../tools/install/python_server.ts";
import { none } from "../none.ts";
import { TESTED_SERVERS } from "../server/tested_servers.ts";
import endpointPaths from "../../configs/endpoint_paths.json" with { type: "json" };
import { CATALOGUES, endpointExpectation } from "../../core/config/servers/catalogue.ts";
import * as unstartable from "../../core/config/servers/families/unstartable_types.ts";
import { SERVER_FAMILIES } from "../../core/config/servers/families/families.ts";

const ROOT = new URL("../../", import.meta.url);

const MINORS = [...Deno.readDirSync(new URL("../../configs/catalogue", import.meta.url))]
  .map(({ name }) => name.replace(/\.json$/, "")).toSorted();

Deno.test("every generated catalogue is used", () => {
  const used = CATALOGUES.map(({ server }) => server);
  none(MINORS.filter((minor) => !used.includes(minor)), "Import them in core/config/servers/catalogue.ts");
  deepStrictEqual(used.toSorted(), MINORS);
});

Deno.test("every catalogue has a section of endpoint paths", () => {
  const missing = MINORS.filter((minor) => !Object.hasOwn(endpointPaths, minor));
  none(missing, "Add sections to configs/endpoint_paths.json, usually copies of the previous minor version");
});

Deno.test("every type with which a server fails to start belongs to a family", () => {
  const used = new Set(SERVER_FAMILIES.flatMap(({ unstartableTypes }) => Object.keys(unstartableTypes)));
  const named = Object.values(unstartable).flatMap((exported) =>
    typeof exported === "object" && !Array.isArray(exported) ? Object.keys(exported) : []
  );
  none(named.filter((row) => !used.has(row)), "Add them to unstartableTypes of a server family, or remove them");
});

Deno.test("deno task test starts the newest Llama Stack and the newest OGX", () => {
  const started = TESTED_SERVERS.filter(({ onlyInTestAll }) => onlyInTestAll === undefined).map(({ minor }) => minor);
  const newest = COMMON_VERSIONS.map(minorOf);
  none(newest.filter((minor) => !started.includes(minor)), "Add them to tests/server/tested_servers.ts");
  none(started.filter((minor) => !newest.includes(minor)), "Mark them onlyInTestAll in tests/server/tested_servers.ts");
});

Deno.test("every server that can be installed has a catalogue and a base config", () => {
  const bases = EMBEDDED_DISTRIBUTIONS.get("starter")?.releases.map(({ serverVersion = "" }) => minorOf(serverVersion));
  const installed = SERVER_VERSIONS.map(minorOf);
  none(installed.filter((minor) => !MINORS.includes(minor)), "Run deno task catalogue for them");
  none(installed.filter((minor) => bases?.includes(minor) !== true), "Run deno task bases for them");
});

Deno.test("every inference type with an endpoint has a row of endpoint paths", () => {
  const missing = CATALOGUES.flatMap((catalogue) =>
    Object.entries(catalogue.providers.inference ?? {}).filter(([type, { endpoint }]) =>
      endpoint !== undefined && endpointExpectation(catalogue, "inference", type) === undefined
    ).map(([type]) => `${catalogue.server} ${type}`)
  );
  none(missing, "Add rows to configs/endpoint_paths.json; CONTRIBUTING.md, A new provider type, explains them");
});

/** Strings such as `vector_io remote::qdrant api_key` and `remote::vllm`, and `storage kv_redis` of a rule. */
const NAMED = /"(?:(\w+) )?((?:remote|inline)::[\w:-]+)(?: [\w.]+)?"|\bof: "(storage) ([^"]+)"/g;

Deno.test("every provider and storage type that the core names is a type of some catalogue", async () => {
  const all = CATALOGUES.flatMap(({ providers, backends }) => [
    ...Object.entries(providers).flatMap(([api, types]) => Object.keys(types).map((type) => [api, type] as const)),
    ...Object.keys(backends).map((type) => ["storage", type] as const),
  ]);
  const known = new Set(all.flatMap(([api, type]) => [`${api} ${type}`, type]));
  const files = await textsIn("core/");
  const named = files.flatMap(({ file, code }) =>
    [...code.matchAll(NAMED)].map(([, api = "", type = "", storage = api, other = type]) => ({
      file,
      name: [storage, other].filter((word) => word !== "").join(" "),
    }))
  );
  ok(named.length > 100);
  none(
    named.filter(({ name }) => !known.has(name)).map(({ file, name }) => `${file}: ${name}`),
    "Correct these names of provider types, or run deno task catalogue",
  );
});

/** The files of the product below a folder, without comments and tests. */
const textsIn = async (folder: string): Promise<ReadonlyArray<{ readonly file: string; readonly code: string }>> => {
  const found: Array<{ readonly file: string; readonly code: string }> = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const file = `${folder}${name}`;
    if (isDirectory) found.push(...await textsIn(`${file}/`));
    else if (file.endsWith(".ts") && !file.endsWith("_test.ts")) {
      const text = await Deno.readTextFile(new URL(file, ROOT));
      found.push({ file, code: text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, "") });
    }
  }
  return found;
};

/** Of a version, or of a server with its version. */
const minorOf = (name: string): string => /\d+\.\d+/.exec(name)?.[0] ?? "";

Deno.test("endpoint_paths.json has one provider type a line, as the catalogues and the results of boots", async () => {
  for (const name of ["endpoint_paths.json", "boots.json"]) {
    const text = await Deno.readTextFile(new URL(`../../configs/${name}`, import.meta.url));
    const wanted = jsonRows(JSON.parse(text), ({ length }) => length === 2);
    const lines = wanted.split("\n");
    const wrong = text.split("\n").findIndex((line, index) => line !== lines[index]);
    none(wrong < 0 ? [] : [lines[wrong] ?? ""], `Write line ${wrong + 1} of configs/${name} as follows`);
    strictEqual(text, wanted, name);
  }
});
