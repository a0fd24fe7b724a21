/** What the checklist for a new server version asks for, and nothing else would notice. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { RELEASED } from "../../tools/bases.ts";
import { jsonRows } from "../../tools/json_rows.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { COMMON_VERSIONS, SERVER_VERSIONS } from "../../tools/install/python_server.ts";
import endpointPaths from "../../configs/endpoint_paths.json" with { type: "json" };
import { CATALOGUES, endpointExpectation } from "../../core/config/servers/catalogue.ts";
import * as unstartable from "../../core/config/servers/families/unstartable_types.ts";
import { SERVER_FAMILIES } from "../../core/config/servers/families/families.ts";

const MINORS = [...Deno.readDirSync(new URL("../../configs/catalogue", import.meta.url))]
  .map(({ name }) => name.replace(/\.json$/, "")).toSorted();

Deno.test("every generated catalogue is used", () => {
  deepStrictEqual(CATALOGUES.map(({ server }) => server).toSorted(), MINORS);
});

Deno.test("every catalogue has a section of endpoint paths", () => {
  deepStrictEqual(MINORS.filter((minor) => !Object.hasOwn(endpointPaths, minor)), []);
});

Deno.test("every type with which a server fails to start belongs to a family", () => {
  const used = new Set(SERVER_FAMILIES.flatMap(({ unstartableTypes }) => Object.keys(unstartableTypes)));
  const named = Object.values(unstartable).flatMap((exported) =>
    typeof exported === "object" && !Array.isArray(exported) ? Object.keys(exported) : []
  );
  deepStrictEqual(named.filter((row) => !used.has(row)), []);
});

Deno.test("deno task test starts the newest Llama Stack and the newest OGX", () => {
  const newest = (product: string) => SERVER_VERSIONS.findLast((version) => version.startsWith(product));
  deepStrictEqual([...COMMON_VERSIONS], [newest("llama-stack"), newest("ogx")]);
});

Deno.test("every installed server is a release of the distributions, or pinned", () => {
  const pinned = [...EMBEDDED_DISTRIBUTIONS.values()].map(({ serverVersion = "" }) => minorOf(serverVersion));
  const installed = SERVER_VERSIONS.map((name) => name.split(" ")[1] ?? "");
  deepStrictEqual(installed.filter((version) => !RELEASED.includes(version) && !pinned.includes(minorOf(version))), []);
  deepStrictEqual(RELEASED.filter((version) => !installed.includes(version)), []);
});

Deno.test("every inference type with an endpoint has a row of endpoint paths", () => {
  const missing = CATALOGUES.flatMap((catalogue) =>
    Object.entries(catalogue.providers.inference ?? {}).filter(([type, { endpoint }]) =>
      endpoint !== undefined && endpointExpectation(catalogue, "inference", type) === undefined
    ).map(([type]) => `${catalogue.server} ${type}`)
  );
  deepStrictEqual(missing, []);
});

const minorOf = (version: string): string => version.split(".").slice(0, 2).join(".");

Deno.test("endpoint_paths.json has one provider type a line, as the catalogues and the results of boots", async () => {
  for (const name of ["endpoint_paths.json", "boots.json"]) {
    const text = await Deno.readTextFile(new URL(`../../configs/${name}`, import.meta.url));
    strictEqual(text, jsonRows(JSON.parse(text), ({ length }) => length === 2), name);
  }
});
