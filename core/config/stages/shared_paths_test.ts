import { deepStrictEqual } from "node:assert/strict";
import { generated, rejected } from "../../../tests/given.ts";
import type { JsonObject } from "../../data/json.ts";

const spec = (vectorIo: ReadonlyArray<JsonObject>, more: JsonObject = {}): JsonObject => ({
  distribution: { name: "starter", serverVersion: "1.5" },
  providers: { vectorIo: vectorIo.map((provider, index) => ({ id: `v${index}`, ...provider })), ...more },
});
const qdrant = (path: string): JsonObject => ({ provider: "inline::qdrant", settings: { path } });
const refused = (found: JsonObject) => rejected(found).failures.map(({ message }) => message);

Deno.test("rejectSharedPaths() refuses a second provider of type inline::qdrant in the same folder, which the first one locks", () => {
  for (
    const [first, second] of [
      ["/.llama/q", "/.llama/q"],
      ["${env.UNSET:=/.llama/q}", "/.llama/q"],
      ["/tmp/q", "/tmp//q/"],
      ["q", "./q"],
      ["~/q", "~/x/../q"],
    ] as const
  ) {
    deepStrictEqual(refused(spec([qdrant(first), qdrant(second)])), [
      'spec.providers.vectorIo[1].settings.path: provider "v0" has the same path, which the two cannot share; use another ' +
      "one",
    ]);
  }
  for (const paths of [["/.llama/q", "/.llama/r"], [":memory:", ":memory:"], ["/tmp/q", "tmp/q"], ["~/q", "q"]]) {
    generated(spec(paths.map(qdrant)));
  }
});

Deno.test("rejectSharedPaths() refuses a file where another provider has a folder", () => {
  const milvus = { provider: "inline::milvus", settings: { db_path: "/tmp/a.db" } };
  deepStrictEqual(refused(spec([milvus, qdrant("/tmp/a.db")])).length, 1);
  const files = { files: [{ id: "f", provider: "localfs", settings: { storage_dir: "/tmp/a" } }] };
  deepStrictEqual(
    refused(spec([{ provider: "inline::sqlite-vec", settings: { db_path: "/tmp/a" } }], files)).length,
    1,
  );
  generated(spec([{ provider: "inline::sqlite-vec", settings: { db_path: "/tmp/b" } }], files));
});
