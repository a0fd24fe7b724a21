import { deepStrictEqual } from "node:assert/strict";
import { type Away, stopsOf } from "./pacing.ts";

const away = (key: string, queue: string, pins: string, state: Away["state"]): Away => ({ key, queue, pins, state });

Deno.test("stopsOf() tells of each queue the first that failed with each pins, whatever fails after it", () => {
  const first = [away("a/1", "starter", "p", "rolling"), away("a/2", "starter", "p", "failed")];
  deepStrictEqual(stopsOf([]), new Map());
  deepStrictEqual(stopsOf(first), new Map([["starter", "p a/2"]]));
  deepStrictEqual(stopsOf([...first, away("a/3", "starter", "p", "failed")]), stopsOf(first));
  deepStrictEqual(
    stopsOf([...first, away("a/4", "starter", "q", "failed"), away("b/1", "ogx", "q", "failed")]),
    new Map([["starter", "p a/2 q a/4"], ["ogx", "q b/1"]]),
  );
});
