/** What the checklist for a new server version asks for, and nothing else would notice. */
import { deepStrictEqual } from "node:assert/strict";
import { newestOfFamilies } from "../../tools/boot_matrix/shipped.ts";
import { COMMON_VERSIONS, SERVER_VERSIONS } from "../../tools/install/python_server.ts";
import endpointPaths from "../../configs/endpoint_paths.json" with { type: "json" };
import { CATALOGUES } from "../../core/config/servers/catalogue.ts";
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

Deno.test("the newest server of every family is among those of deno task test", () => {
  const common: ReadonlyArray<string> = COMMON_VERSIONS;
  deepStrictEqual(newestOfFamilies(SERVER_VERSIONS).filter((version) => !common.includes(version)), []);
});
