import { deepStrictEqual } from "node:assert/strict";
import { placesIn } from "./yaml_places.ts";

const TEXT = `# a comment
---
---
kind: A
spec:
  list:
    - name: x
      value: "y"
    - { name: z, deep: [1, 2] }
---
"kind": B
spec: &anchor
  text: |
    line: one
  "odd key": 1
  last: 2
other: *anchor
`;

const place = (line: number, column: number) => ({ line, column });

Deno.test("placesIn() finds fields of block and flow style in each document that is not empty", () => {
  const of = placesIn(TEXT);
  deepStrictEqual(
    [
      of([0, "kind"]),
      of([0, "spec", "list"]),
      of([0, "spec", "list", 0, "value"]),
      of([0, "spec", "list", 1]),
      of([0, "spec", "list", 1, "deep", 1]),
      of([1, "kind"]),
      of([1, "spec", "odd key"]),
      of([1, "spec", "last"]),
      of([1, "other"]),
    ],
    [
      place(4, 1),
      place(6, 3),
      place(8, 7),
      place(9, 7),
      place(9, 28),
      place(11, 1),
      place(15, 3),
      place(16, 3),
      place(17, 1),
    ],
  );
});

Deno.test("placesIn() gives the nearest place around a field that is missing", () => {
  const of = placesIn(TEXT);
  deepStrictEqual(of([0, "spec", "list", 0, "missing", "deeper"]), place(7, 7));
  deepStrictEqual(of([0, "spec", "nothing"]), place(5, 1));
  // Written as an object where a list is meant.
  deepStrictEqual(of([1, "spec", 0, "last"]), place(16, 3));
});

Deno.test("placesIn() reads JSON, Windows line ends and a byte order mark", () => {
  deepStrictEqual(placesIn('{"a":\r\n  {"b": 1}}')([0, "a", "b"]), place(2, 4));
  deepStrictEqual(placesIn("\ufeffa: 1\nb: 2\n")([0, "b"]), place(2, 1));
});
