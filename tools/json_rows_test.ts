import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { jsonRows } from "./json_rows.ts";

Deno.test("jsonRows() writes each row on one line, and loses nothing", () => {
  const value = { apis: { a: { kind: "direct" }, b: {} }, list: [{ x: 1 }, [2]], empty: [], text: "t" };
  const text = jsonRows(value, ({ length }) => length === 2);
  deepStrictEqual(JSON.parse(text), value);
  strictEqual(
    text,
    '{\n "apis": {\n  "a": {"kind":"direct"},\n  "b": {}\n },\n "list": [\n  {"x":1},\n  [2]\n ],\n "empty": [],\n "text": "t"\n}\n',
  );
});
