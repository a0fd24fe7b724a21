import { deepStrictEqual } from "node:assert/strict";
import { formatPath } from "../../data/field_path.ts";
import type { Json } from "../../data/json.ts";
import { decoded } from "../../../tests/given.ts";
import { factsOf } from "../draft.ts";
import { serverOf } from "../servers/families/families.ts";
import { storageFindings } from "./backend_findings.ts";

const SOUND = {
  backends: {
    kv_default: { type: "kv_sqlite", db_path: "/kv.db" },
    sql_default: { type: "sql_postgres", host: "db", user: "${env.PGUSER}", port: "${env.PGPORT:=5432}" },
  },
  stores: {
    metadata: { backend: "kv_default", namespace: "registry" },
    inference: { backend: "sql_default", table_name: "inference", num_writers: 4 },
    conversations: null,
    prompts: { backend: "kv_default", namespace: "prompts" },
  },
};

const found = (storage: Json, version = "0.7.3"): ReadonlyArray<string> => {
  const server = serverOf(version);
  if (server === undefined) throw new Error(version);
  const { spec } = decoded({ distribution: { name: "starter" } });
  return storageFindings({ storage }, factsOf("my", spec, server)).map(({ path }) => formatPath(path));
};

Deno.test("storageFindings() says nothing of stores that a server accepts, or of servers without backends", () => {
  deepStrictEqual(found(SOUND), []);
  deepStrictEqual(found({ backends: { a: { type: "nonsense" } } }, "0.2.24"), []);
});

for (
  const [what, storage, path] of [
    ["a type that no server has", { backends: { a: { type: "sqlite", db_path: "/a" } } }, "storage.backends.a.type"],
    ["a backend without type", { backends: { a: { db_path: "/a" } } }, "storage.backends.a.type"],
    ["a file that is missing", { backends: { a: { type: "sql_sqlite" } } }, "storage.backends.a.db_path"],
    ["a user that is missing", { backends: { a: { type: "sql_postgres" } } }, "storage.backends.a.user"],
    [
      "a value of another type",
      { backends: { a: { type: "kv_redis", port: "x" } } },
      "storage.backends.a.port",
    ],
    ["a store as text", { ...SOUND, stores: { metadata: "kv_default" } }, "storage.stores.metadata"],
    [
      "a store of the other kind",
      { ...SOUND, stores: { inference: { backend: "kv_default", table_name: "i" } } },
      "storage.stores.inference.backend",
    ],
    [
      "a store in a backend that is not there",
      { ...SOUND, stores: { metadata: { backend: "absent", namespace: "r" } } },
      "storage.stores.metadata.backend",
    ],
    [
      "a store without a table",
      { ...SOUND, stores: { responses: { backend: "sql_default" } } },
      "storage.stores.responses.table_name",
    ],
  ] as const
) {
  Deno.test(`storageFindings() finds ${what}`, () => deepStrictEqual(found(storage), [path]));
}
