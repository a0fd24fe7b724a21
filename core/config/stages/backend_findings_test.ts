import { deepStrictEqual, ok } from "node:assert/strict";
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
    conversations: { backend: "sql_default", table_name: "conversations" },
    responses: null,
    prompts: { backend: "kv_default", namespace: "prompts" },
  },
};

const withBackend = (a: Json) => ({ ...SOUND, backends: { ...SOUND.backends, a } });

const found = (storage: Json, version = "0.7.3"): ReadonlyArray<string> => {
  const server = serverOf(version);
  if (server === undefined) throw new Error(version);
  const { spec } = decoded({ distribution: { name: "starter" } });
  const nothingSet = (variable: string) => variable === "UNSET" ? "" : undefined;
  const known = { environment: () => "Unknown" as const, valueOf: nothingSet };
  return storageFindings({ storage }, factsOf("my", spec, server), known).filter(({ isFatal }) => isFatal)
    .map(({ path }) => formatPath(path));
};

Deno.test("storageFindings() says nothing of stores that a server accepts, or of servers without backends", () => {
  deepStrictEqual(found(SOUND), []);
  deepStrictEqual(found(SOUND, "1.5.0"), []);
  deepStrictEqual(found({ backends: { a: { type: "nonsense" } } }, "0.2.24"), []);
});

for (
  const [what, storage, path, version = "0.7.3"] of [
    ["a type that no server has", withBackend({ type: "sqlite", db_path: "/a" }), "storage.backends.a.type"],
    ["a backend without type", withBackend({ db_path: "/a" }), "storage.backends.a.type"],
    ["a file that is missing", withBackend({ type: "sql_sqlite" }), "storage.backends.a.db_path"],
    ["a user that is missing", withBackend({ type: "sql_postgres" }), "storage.backends.a.user"],
    [
      "a value of another type",
      withBackend({ type: "kv_redis", port: "x" }),
      "storage.backends.a.port",
    ],
    [
      "a table that its statements would have to quote",
      withBackend({ type: "kv_postgres", user: "u", table_name: "my-table" }),
      "storage.backends.a.table_name",
    ],
    [
      "a mode of TLS that the client does not know",
      withBackend({ type: "kv_postgres", user: "u", ssl_mode: "on" }),
      "storage.backends.a.ssl_mode",
    ],
    [
      "a store of the relational kind in the form of the other",
      { stores: { conversations: { backend: "kv_default", namespace: "c" } } },
      "storage.stores.conversations.table_name,storage.stores.conversations.backend",
      "1.5.0",
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
      "a store in a backend that is not there, as a variable says",
      { ...SOUND, stores: { metadata: { backend: "${env.UNSET:=absent}", namespace: "r" } } },
      "storage.stores.metadata.backend",
    ],
    [
      "a store in a backend that the server does not have of itself",
      { stores: { metadata: { backend: "absent", namespace: "r" } } },
      "storage.stores.metadata.backend",
    ],
    [
      "a store in a backend whose type a variable says",
      {
        ...withBackend({ type: "${env.UNSET:=kv_sqlite}", db_path: "/a" }),
        stores: { inference: { backend: "a", table_name: "i" } },
      },
      "storage.stores.inference.backend",
    ],
    [
      "a store that the server has in a backend of its own",
      {
        backends: { ...SOUND.backends, kv_default: undefined, kv_mine: SOUND.backends.kv_default },
        stores: {
          inference: SOUND.stores.inference,
          connectors: { backend: "kv_mine", namespace: "c" },
          prompts: { backend: "kv_mine", namespace: "p" },
        },
      },
      "storage.backends.kv_default",
    ],
    [
      "a key-value store of which the server makes a table, in a backend that is not there",
      {
        backends: { ...SOUND.backends, kv_mine: SOUND.backends.kv_default },
        stores: { ...SOUND.stores, prompts: { backend: "kv_mine", namespace: "p" } },
      },
      "storage.stores.prompts.backend",
      "1.5.0",
    ],
    [
      "a store in both forms, in a key-value backend",
      { ...SOUND, stores: { ...SOUND.stores, prompts: { backend: "kv_default", namespace: "p", table_name: "p" } } },
      "storage.stores.prompts.backend",
      "1.5.0",
    ],
    [
      "a store that no server does without",
      { ...SOUND, stores: { ...SOUND.stores, prompts: null } },
      "storage.stores.prompts",
    ],
    [
      "a store that the server does not have of itself",
      { ...SOUND, stores: { ...SOUND.stores, metadata: undefined } },
      "storage.stores.metadata",
      "0.3.5",
    ],
    [
      "a word in the place of a port",
      withBackend({ type: "sql_postgres", user: "u", port: "six" }),
      "storage.backends.a.port",
      "0.6.1",
    ],
    [
      "a connection string beside a host",
      withBackend({ type: "sql_postgres", connection_string: "postgresql://u@h/d", host: "h" }),
      "storage.backends.a.host",
      "1.5.0",
    ],
    [
      "a user that comes from an empty variable, where a connection string could stand",
      withBackend({ type: "sql_postgres", user: "${env.UNSET:=}", host: "h" }),
      "storage.backends.a.connection_string",
      "1.5.0",
    ],
    [
      "a user that is empty",
      withBackend({ type: "kv_postgres", user: "", host: "h" }),
      "storage.backends.a.user",
      "1.5.0",
    ],
    [
      "a connection string without a database, as a variable says",
      withBackend({ type: "kv_postgres", connection_string: "${env.UNSET:=postgresql://u@h}" }),
      "storage.backends.a.connection_string",
      "1.5.0",
    ],
    [
      "a host with a port",
      withBackend({ type: "sql_postgres", user: "u", host: "${env.UNSET:=pg:5432}" }),
      "storage.backends.a.host",
      "0.6.1",
    ],
    [
      "a host of Redis with a port",
      withBackend({ type: "kv_redis", host: "u:p@redis:6379", port: 6379 }),
      "storage.backends.a.host",
    ],
    [
      "a folder in the place of a file",
      withBackend({ type: "sql_sqlite", db_path: "/tmp/" }),
      "storage.backends.a.db_path",
    ],
    [
      "a file without a name",
      withBackend({ type: "kv_sqlite", db_path: "" }),
      "storage.backends.a.db_path",
    ],
    [
      "a store without a table",
      { ...SOUND, stores: { ...SOUND.stores, conversations: { backend: "sql_default" } } },
      "storage.stores.conversations.table_name",
    ],
  ] as ReadonlyArray<readonly [string, unknown, string, string?]>
) {
  Deno.test(`storageFindings() finds ${what}`, () => {
    // Without what is undefined.
    deepStrictEqual(found(JSON.parse(JSON.stringify(storage)), version).join(), path);
  });
}

Deno.test("storageFindings() warns of a host or port that only later requests need", () => {
  const server = serverOf("0.7.3");
  const { spec } = decoded({ distribution: { name: "starter" } });
  ok(server !== undefined);
  const storage = withBackend({ type: "sql_postgres", user: "u", password: "${env.P}", host: "db:5432", port: "six" });
  const known = { environment: () => "Unknown" as const, valueOf: () => undefined };
  const all = storageFindings({ storage: JSON.parse(JSON.stringify(storage)) }, factsOf("my", spec, server), known);
  deepStrictEqual(all.map(({ path, isFatal, code }) => [path.at(-1), isFatal, code]), [
    ["host", false, "ConfigUnfit"],
    ["port", false, "ConfigUnfit"],
  ]);
});
