import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { growsWithSize } from "../../tests/measured.ts";
import { exceptionClass, reveals, WITHHELD, withoutSecrets } from "./redaction.ts";

const CANARY = "k9#Vz/q 7+Wm%41'x\"Pé2";

const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const eachByte = (text: string, code: (byte: number) => string) =>
  Array.from(new TextEncoder().encode(text), code).join("");
const eachCode = (text: string, code: (code: number) => string) =>
  Array.from({ length: text.length }, (_, index) => code(text.charCodeAt(index))).join("");
/** As Python shows bytes. */
const bytesRepr = (text: string) =>
  `b'${
    eachByte(text, (byte) => byte < 0x80 ? String.fromCharCode(byte).replace("'", "\\'") : `\\x${byte.toString(16)}`)
  }'`;
const html = (text: string, quote: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("'", quote);

const inHex = (text: string, separator: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join(separator);
const inDecimals = (text: string, separator: string) => new TextEncoder().encode(text).join(separator);
/** Base64 with a line break after so many characters; the value begins a little before the first. */
const wrapped = (text: string, width: number, lineBreak = "\n") =>
  base64(`${"x".repeat(width / 4 * 3 - 4)}${text}${"y".repeat(60)}`).replaceAll(
    new RegExp(`.{${width}}`, "g"),
    `$&${lineBreak}`,
  );

for (
  const [disguise, shown] of [
    ["as it is", CANARY],
    ["trimmed", CANARY.trim()],
    ["percent-encoded", encodeURIComponent(CANARY)],
    ["percent-encoded in lower case", encodeURIComponent(CANARY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ["as a form", new URLSearchParams({ a: CANARY }).toString().slice(2)],
    ["percent-decoded", decodeURIComponent("k9#Vz/q 7+Wm%41'x")],
    ["in base64", base64(CANARY)],
    ["in base64 within another text", base64(`x${CANARY}y`)],
    ["in base64 for URLs", base64(`xx${CANARY}y`).replaceAll("+", "-").replaceAll("/", "_")],
    ["in hex", Array.from(new TextEncoder().encode(CANARY), (byte) => byte.toString(16).padStart(2, "0")).join("")],
    ["in JSON", JSON.stringify({ a: CANARY })],
    ["as a repr", `'${CANARY.replaceAll("'", "\\'")}'`],
    ["in a connection", `postgresql://me:${encodeURIComponent(CANARY)}@db/x`],
    ["as bytes", bytesRepr(CANARY)],
    ["with every letter as \\xNN", eachCode(CANARY, (code) => `\\x${code.toString(16).padStart(2, "0")}`)],
    ["with every letter as \\uNNNN", eachCode(CANARY, (code) => `\\u${code.toString(16).padStart(4, "0")}`)],
    ["with octal escapes", eachByte(CANARY, (byte) => `\\${byte.toString(8).padStart(3, "0")}`)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify({ a: CANARY }))],
    ["in HTML", html(CANARY, "&#x27;")],
    ["in HTML with decimal codes", eachCode(CANARY, (code) => `&#${code};`)],
    ["in HTML in JSON", JSON.stringify(html(CANARY, "&#39;"))],
    ["percent-encoded in HTML in a repr", `'${html(encodeURIComponent(CANARY), "&apos;").replaceAll("'", "\\'")}'`],
    ["in hex in upper case", eachByte(CANARY, (byte) => byte.toString(16).padStart(2, "0").toUpperCase())],
    ["in hex with colons", inHex(CANARY, ":")],
    ["in hex with colons in upper case", inHex(CANARY, ":").toUpperCase()],
    ["in hex with blanks", inHex(CANARY, " ")],
    ["in hex with blanks in upper case", inHex(CANARY, " ").toUpperCase()],
    ["in hex as numbers", `[0x${inHex(CANARY, ", 0x")}]`],
    ["in hex in lines", inHex(CANARY, ":").replaceAll(/(.{15})/g, "$1\n    ")],
    ["in hex in lines in JSON", JSON.stringify(inHex(CANARY, ":").replaceAll(/(.{15})/g, "$1\n    "))],
    ["in hex in groups", inHex(CANARY, "").replaceAll(/(.{4})/g, "$1 ")],
    ["in hex with colons before a cut", `${inHex(CANARY, ":").slice(0, 17)}...`],
    ["as a list of bytes", `[${inDecimals(CANARY, ", ")}]`],
    ["as a list of bytes with blanks", `[${inDecimals(CANARY, " ")}]`],
    ["as a list of bytes without blanks", inDecimals(CANARY, ",")],
    ["as a list of bytes in lines", inDecimals(CANARY, ",\n  ")],
    ["in base64 of base64", base64(base64(CANARY))],
    ["in base64 of base64 within another text", base64(`x${base64(`yy${CANARY}z`)}=`)],
    ["in base64 of base64 for URLs", base64(base64(`x${CANARY}`)).replaceAll("+", "-").replaceAll("/", "_")],
    ["in base64 of base64 behind a path", `/v1/x${base64(base64(CANARY))}`],
    ["in base64 of base64 in lines", wrapped(base64(CANARY), 64)],
    ["in base64 in lines of 64", wrapped(CANARY, 64)],
    ["in base64 in lines of 76", wrapped(CANARY, 76, "\r\n")],
    ["in base64 in lines of 64 in JSON", JSON.stringify(wrapped(CANARY, 64))],
    ["in base64 in lines of 76 in JSON in JSON", JSON.stringify(JSON.stringify(wrapped(CANARY, 76)))],
    ["in base64 in indented lines", wrapped(CANARY, 64, "\n      ")],
    ["in upper case", CANARY.toUpperCase()],
    ["in lower case", CANARY.toLowerCase()],
    ["in upper case in JSON", JSON.stringify(CANARY.toUpperCase())],
    ["in upper case and cut", CANARY.toUpperCase().slice(6, 16)],
    ["with four letters before a cut", `${CANARY.slice(0, 4)}...`],
    ["with seven letters before a cut", `${CANARY.slice(0, 7)}…`],
    ["with four letters behind a cut", `...${CANARY.slice(-4)}`],
    ["with asterisks in its middle", `${CANARY.slice(0, 4)}*****`],
    ["escaped beside a cut", `${JSON.stringify(CANARY.slice(-5)).slice(1, -1).replace(/^/, "...")}`],
    ["cut before", CANARY.slice(6)],
    ["cut behind", CANARY.slice(0, 10)],
    ["cut in the middle by pydantic", `${CANARY.slice(0, 9)}...${CANARY.slice(-4)}`],
  ] as const
) {
  Deno.test(`reveals() finds a value ${disguise}`, () => {
    ok(reveals(`ValueError: bad key ${shown} given`, [` ${CANARY}\n`]), shown);
  });
}

Deno.test("reveals() finds a value of eight letters across a line break of its base64, and no shorter one in another case", () => {
  for (const width of [64, 76]) {
    for (const lineBreak of ["\n", "\r\n", "\\n", "\n    "]) {
      ok(reveals(`Error: ${wrapped("Tr0ub4dr", width, lineBreak)}`, ["Tr0ub4dr"]), `${width} ${lineBreak}`);
    }
  }
  ok(reveals("bad key TR0UB4DOR-XK9QLMZP", ["Tr0ub4dor-xk9QlmZp"]));
  strictEqual(reveals("bad key TR0UB4D", ["Tr0ub4d"]), false);
});

Deno.test("reveals() finds each part of eight characters of a value, at any position", () => {
  const word = fc.string({ minLength: 8, maxLength: 200 });
  fc.assert(fc.property(word, fc.string(), fc.string(), fc.nat(), (value, before, after, at) => {
    const trimmed = value.trim();
    fc.pre(trimmed.length >= 8 && !/:\/\//.test(value) && !/host\s*=/.test(value));
    const from = at % (trimmed.length - 7);
    ok(reveals(before + trimmed.slice(from, from + 8) + after, [value]));
  }));
});

Deno.test("reveals() accepts text that only resembles a value", () => {
  for (
    const [text, value] of [
      ["connection refused", "sk-0123456789abcdef"],
      ["abc", "ab"],
      [
        "could not connect to db.example:5432, database llamastack",
        "postgresql://me:secret-0@db.example:5432/llamastack",
      ],
      ["see https://www.example.com", "https://www.other.org/hook/8f7e6d5c4b3a"],
      ["", "sk-0123456789abcdef"],
    ] as const
  ) strictEqual(reveals(text, [value]), false, text);
});

Deno.test("reveals() finds user and password of a connection, decoded too", () => {
  const dsn = "postgresql://carlotta:pa%23ss@db.example:5432/x?sslmode=require";
  deepStrictEqual(
    ["user carlotta", "pw pa#ss", "pw pa%23ss", "db.example require"].map((text) => reveals(text, [dsn])),
    [
      true,
      true,
      true,
      false,
    ],
  );
  ok(reveals("it's wrong: hun ter2", ["host=db password='hun ter2' user=me"]));
});

const URLS: ReadonlyArray<readonly [url: string, secret: ReadonlyArray<string>, shown: ReadonlyArray<string>]> = [
  ["postgresql://me:pa/ss/wo#rd@db.example:5432/stack", ["pa/ss/wo#rd", "pa/ss/wo", "ss/wo#rd"], [
    "db.example:5432/stack",
  ]],
  ["postgresql://me:12345/secretly@db.example/stack", ["12345/secretly"], ["db.example/stack"]],
  ["postgresql://me:what?is/it@db.example/stack?sslmode=require", ["what?is/it"], ["db.example/stack", "require"]],
  ["postgresql://me:p@ss/word@db.example/stack?application_name=a@b", ["p@ss/word"], ["db.example/stack"]],
  ["redis://:sl/ash/ed@cache.example:6379/0", ["sl/ash/ed"], ["cache.example:6379/0"]],
  ["redis://cache.example:6379/0", [], ["cache.example:6379/0"]],
  ["mongodb+srv://me:a/b/c/d/e@one.example,two.example/stack", ["a/b/c/d/e"], ["one.example,two.example"]],
  ["jdbc:postgresql://db.example:5432/stack?user=me&password=a/b:c@d", ["a/b:c@d"], ["db.example:5432/stack"]],
  ["https://me:hun/ter2x@host.example/path", ["hun/ter2x"], ["host.example/path"]],
  ["https://me:hunter2x@host.example/image@sha256", ["hunter2x"], ["host.example/image@sha256"]],
  [
    "https://hooks.example.com/services/T024BE7LD/B0AX3P9Q1/a8Kx02LmQz91hTbY7cVw3nRd",
    ["T024BE7LD", "a8Kx02LmQz91hTbY7cVw3nRd", "Kx02LmQz"],
    ["hooks.example.com/services"],
  ],
  [
    "https://api.example.com/hook/123e4567-e89b-12d3-a456-426614174000?key=sk-0123456789",
    ["123e4567-e89b-12d3-a456-426614174000", "a456-426", "sk-0123456789"],
    ["api.example.com/hook/"],
  ],
  ["https://api.example.com/#access_token=abcdef123456", ["abcdef123456"], ["api.example.com"]],
  ["https://api.example.com:8443/v1/chat/completions", [], ["api.example.com:8443/v1/chat/completions"]],
];

for (const [url, secret, shown] of URLS) {
  Deno.test(`reveals() finds what is secret of ${url}, and not its host`, () => {
    for (const part of secret) ok(reveals(`ValueError: cannot use ${part} here`, [url]), part);
    for (const part of shown) ok(!reveals(`ConnectionError: no answer of ${part} within 5 s`, [url]), part);
  });
}

Deno.test("reveals() finds less than eight characters at the beginning and at the end of a text that was cut", () => {
  const value = "sk-Zq81LmX0v";
  const log = 'INFO: "GET /v1/health HTTP/1.1" 200\n'.repeat(60);
  ok(reveals(`${value.slice(-5)} is not a valid key\n${log}`, [value]));
  ok(reveals(`${log}ValueError: bad key ${value.slice(0, 5)}`, [value]));
  ok(!reveals(`${log}ValueError: bad key ${value.slice(0, 5)} given`, [value]));
  strictEqual(withoutSecrets(`${value.slice(-5)} is bad\n${log}end`, [value]), `${WITHHELD}\n${log}end`);
});

/** Other data in Secrets besides passwords, and texts that contain all of it. */
const USUAL_VALUES = [
  ...["true", "false", "postgres", "5432", "6379", "localhost", "db.team.svc.cluster.local", "db.example.com:5432"],
  ...["10.96.0.1", "require", "us-east-1", "redis", "admin", "llamastack", "https://api.openai.com/v1"],
  ...["postgresql://postgres:Xq7-secret-9@db.example.com:5432/llamastack?sslmode=require", "sk-proj-J8s0Qm2LkT5vB1xY"],
];
const USUAL_TEXTS = [
  'psycopg2.OperationalError: connection to server at "db.example.com" (10.96.0.1), port 5432 failed: Connection refused',
  'FATAL:  password authentication failed for user "postgres"',
  'FATAL:  database "llamastack" does not exist',
  "redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused.",
  "httpx.ConnectError: All connection attempts failed: https://api.openai.com/v1/models",
  "socket.gaierror: [Errno -2] Name or service not known: db.team.svc.cluster.local",
  "pydantic_core._pydantic_core.ValidationError: 1 validation error for StackConfig\nproviders.inference.0.config\n" +
  "  Input should be a valid dictionary [type=dict_type, input_value='...', input_type=str]",
  'Traceback (most recent call last):\n  File "/usr/lib/python3.12/site-packages/llama_stack/core/server/server.py", ' +
  'line 512, in main\n    raise ValueError(f"Model {model} not found...")\nValueError: Model llama3.2:3b not found...',
  "INFO: Started server process [1]\nINFO: Waiting for application startup...\nERROR: Application startup failed. Exiting.",
  'admission webhook "quota" denied the request: exceeded quota: compute, requested: requests.cpu=2, limited: 1',
  "{'error': {'message': 'Rate limit reached', 'type': 'requests', 'param': None, 'code': 'rate_limit_exceeded'}}",
  "ValueError: sslmode=require needs a certificate; verify=true, port 6379, region us-east-1, C:\\Users\\x, 50% &amp; more",
];

Deno.test("reveals() accepts usual messages of servers, and values that are not secret", () => {
  for (const text of USUAL_TEXTS) strictEqual(reveals(text, USUAL_VALUES), false, text);
  // Long texts are cut somewhere.
  strictEqual(reveals(USUAL_TEXTS.join("\n").repeat(3), USUAL_VALUES), false);
});

Deno.test("reveals() finds the secrets among such values", () => {
  for (const secret of ["Xq7-secret-9", "J8s0Qm2LkT5vB1xY", "J8s0Qm2L"]) {
    for (const text of USUAL_TEXTS) ok(reveals(`${text} ${secret}`, USUAL_VALUES), `${text} ${secret}`);
  }
});

const mixed = (count: number, from: number): string =>
  Array.from(
    { length: count },
    (_, index) => String.fromCharCode(33 + (from * 7919 + index * index * 31 + index * 17) % 90),
  )
    .join("");
const VALUES_OF_A_SIZE: Readonly<Record<string, ReadonlyArray<string>>> = {
  "512 values of 256 characters": Array.from({ length: 512 }, (_, index) => mixed(256, index)),
  "one value of 128 KiB": [mixed(128 * 1024, 1)],
  "512 connections": Array.from(
    { length: 512 },
    (_, index) => `postgres://me:${mixed(100, index).replaceAll("@", "/")}@db/x?a=${mixed(40, index + 1)}`,
  ),
  "a letter again and again": Array.from({ length: 8 }, () => "a".repeat(16 * 1024)),
  "percent signs": Array.from({ length: 512 }, () => "%41".repeat(80)),
};
const TEXTS_OF_A_SIZE: Readonly<Record<string, (length: number) => string>> = {
  "of letters": (length) => mixed(length, 3),
  "of escapes": (length) => "\\x41\\u0042&amp;%43".repeat(length / 19),
  "of cuts": (length) => "abc...".repeat(length / 6),
  "of short lines": (length) => "abcdefg\n".repeat(length / 8),
  "of one letter": (length) => "b".repeat(length),
  "of hex": (length) => "54:72:3f:".repeat(length / 9),
  "of groups of hex": (length) => "5472 303f55 ".repeat(length / 12),
  "of numbers": (length) => "84, 114, 48, 999, ".repeat(length / 18),
  "of base64 in lines": (length) => `${"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(2)}abcdef\n`.repeat(length / 77),
  "of line breaks": (length) => `abcdefghijklmnop${"\n ".repeat(length / 2)}`,
};

for (const [what, values] of Object.entries(VALUES_OF_A_SIZE)) {
  for (const [how, text] of Object.entries(TEXTS_OF_A_SIZE)) {
    Deno.test(`withoutSecrets() searches ${what} in a text ${how} in time proportional to its length`, () => {
      const [smaller, larger] = [text(16 * 1024), text(64 * 1024)];
      growsWithSize(() => withoutSecrets(smaller, values), () => withoutSecrets(larger, values));
    });
  }
}

Deno.test("reveals() works on large values in a time that grows with their length alone, and withholds beside too many", () => {
  const values = ["ab".repeat(48 * 1024), ` ${"@".repeat(4000)}`, `postgres://${"@".repeat(4000)}`];
  strictEqual(reveals("ValueError: x".repeat(300), values), false);
  strictEqual(reveals("harmless", ["ab".repeat(128 * 1024)]), true);
  strictEqual(reveals("harmless", Array.from({ length: 600 }, (_, index) => `value-${index}`)), true);
});

Deno.test("withoutSecrets() withholds lines, or everything if no single line is enough", () => {
  strictEqual(withoutSecrets("a\nkey sk-12345678\nb", ["sk-12345678"]), `a\n${WITHHELD}\nb`);
  strictEqual(withoutSecrets("abcd\nefgh", ["abcd\nefgh"]), WITHHELD);
});

Deno.test("exceptionClass() is the last exception of a traceback", () => {
  strictEqual(exceptionClass("ValueError: a\nx.y.ConfigError: sk-1\n  more"), "x.y.ConfigError");
  strictEqual(exceptionClass("no class here"), undefined);
});
