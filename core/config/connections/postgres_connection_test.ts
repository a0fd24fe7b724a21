import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { parsePostgres, postgresSecret } from "./postgres_connection.ts";

const parse = (text: string) => parsePostgres(text, "db/url", ["spec", "storage", "sql", "connectionString"]);
const plain = {
  host: "db",
  port: 5432,
  database: "stack",
  user: "llama",
  password: "pw",
  sslMode: undefined,
  sslRootCert: undefined,
};

for (
  const [text, want] of [
    ["postgresql://llama:pw@db:5432/stack", {}],
    ["postgres://llama:pw@db/stack", {}],
    ["postgresql://llama@db/stack", { password: undefined }],
    ["postgresql://llama:pw@db", { database: "llama" }],
    ["postgresql://llama:p%40ss%3A%2F%25@db/stack", { password: "p@ss:/%" }],
    ["postgresql://llama:p@ss@db/stack", { password: "p@ss" }],
    ["postgresql://llama:pw@[fd00::1]:6432/stack", { host: "fd00::1", port: 6432 }],
    ["postgresql://llama:pw@db/stack?sslmode=verify-full&sslrootcert=/ca.crt", {
      sslMode: "verify-full",
      sslRootCert: "/ca.crt",
    }],
    ["postgresql:///stack?host=db&user=llama&password=pw", {}],
    ["host=db user=llama password=pw dbname=stack", {}],
    ["  host = db user=llama password = 'p w\\'s \\\\' dbname=stack sslmode=require", {
      password: "p w's \\",
      sslMode: "require",
    }],
    ["host=db port=6432 user=llama dbname=stack password=''", { port: 6432, password: undefined }],
    ["postgresql://llama:12345@db/stack", { password: "12345" }],
  ] as const
) {
  Deno.test(`parsePostgres() reads ${text}`, () =>
    deepStrictEqual(Result.getOrThrow(parse(text)), { ...plain, ...want }));
}

for (
  const [text, words] of [
    ["", "neither"],
    ["not a connection", "neither"],
    ["mysql://llama:geheim@db/stack", "neither"],
    ["postgresql://db/stack", "no user"],
    ["postgresql://llama:geheim@/stack", "no host"],
    ["postgresql://llama:geheim@a,b/stack", "single PostgreSQL host"],
    ["postgresql://llama:geheim@db:0/stack", "port"],
    ["postgresql://llama:geheim@db:70000/stack", "port"],
    ["postgresql://llama:geheim%@db/stack", "percent-encoding"],
    ["postgresql://llama:geheim@db/stack?sslmode=maybe", "sslmode"],
    ["postgresql://llama:geheim@db/stack?target_session_attrs=any", "target_session_attrs"],
    ["host=/var/run user=llama password=geheim", "socket"],
    ["postgresql://llama:geheim@db/123", "database name looks like a number"],
    ["postgresql://12e3:geheim@db/stack", "user looks like a number"],
    ["postgresql://true:geheim@db/stack", "boolean"],
    ["postgresql://~llama:geheim@db/stack", "begins with ~"],
    ["host=db user=llama password='geheim", "neither"],
  ] as const
) {
  Deno.test(`parsePostgres() rejects ${text} without quoting it`, () => {
    const message = Result.match(parse(text), { onFailure: (failure) => failure.message, onSuccess: () => "accepted" });
    ok(message.includes(words), message);
    ok(!message.includes("geheim"), message);
    ok(message.startsWith("spec.storage.sql.connectionString: invalid value in Secret key db/url: "), message);
  });
}

const use = { rawUrl: true, kvToo: false, key: "db/url", path: [] };

Deno.test("postgresSecret() holds the parts under their variable names and leaves absent ones out", () => {
  deepStrictEqual(Result.getOrThrow(postgresSecret({ ...plain, sslMode: "require" }, use)), {
    LLSD_SQL_HOST: "db",
    LLSD_SQL_PORT: "5432",
    LLSD_SQL_DB: "stack",
    LLSD_SQL_USER: "llama",
    PGPASSWORD: "pw",
    PGSSLMODE: "require",
  });
});

Deno.test("postgresSecret() puts brackets around IPv6 where the server builds a URL of it", () => {
  const host = (rawUrl: boolean) =>
    Result.getOrThrow(postgresSecret({ ...plain, host: "::1" }, { ...use, rawUrl })).LLSD_SQL_HOST;
  deepStrictEqual([host(true), host(false)], ["[::1]", "::1"]);
  ok(Result.isFailure(postgresSecret({ ...plain, host: "::1" }, { ...use, kvToo: true })));
});

Deno.test("postgresSecret() rejects users that a URL would cut, if the server does not escape them", () => {
  ok(Result.isFailure(postgresSecret({ ...plain, user: "a@b" }, use)));
  ok(Result.isSuccess(postgresSecret({ ...plain, user: "a@b" }, { ...use, rawUrl: false })));
});
