import { deepStrictEqual } from "node:assert/strict";
import { catalogText, readCatalog } from "./catalog.ts";

Deno.test("readCatalog() reads what catalogText() wrote, whatever the texts in it", () => {
  const catalog = [
    { schema: "olm.package", name: "a", description: "}\n{\n---\n{ not a blob" },
    { schema: "olm.channel", entries: [{ name: "a.v1", replaces: "a.v0" }] },
  ];
  deepStrictEqual(readCatalog(catalogText(catalog)), catalog);
  deepStrictEqual(readCatalog(catalogText([])), []);
});
