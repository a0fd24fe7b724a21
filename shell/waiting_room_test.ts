import { deepStrictEqual } from "node:assert/strict";
import { waitingRoom } from "./waiting_room.ts";

const NONE = new Map<string, string>();
const room = () => {
  const waiting = waitingRoom();
  for (const name of ["1", "2", "3"]) {
    waiting.place(`a/s${name}`, "starter");
    waiting.place(`a/o${name}`, "ogx");
  }
  return waiting;
};

Deno.test("waitingRoom() calls the first of each queue, as many as may go, once for each version", () => {
  const waiting = room();
  deepStrictEqual(waiting.called(1, 2, NONE), ["a/s1", "a/o1", "a/s2", "a/o2"]);
  deepStrictEqual(waiting.called(1, 2, NONE), []);
  waiting.place("a/s1", undefined);
  deepStrictEqual(waiting.called(2, 1, NONE), ["a/o1", "a/s2"]);
});

Deno.test("waitingRoom() calls everybody in a queue that stops, stops at another one or goes on, and nobody in the others", () => {
  const waiting = room();
  deepStrictEqual(waiting.called(1, 0, NONE), []);
  const all = ["a/s1", "a/s2", "a/s3"];
  deepStrictEqual(waiting.called(2, 0, new Map([["starter", "pins a/x"]])), all);
  deepStrictEqual(waiting.called(3, 0, new Map([["starter", "pins a/x"]])), []);
  deepStrictEqual(waiting.called(4, 0, new Map([["starter", "pins a/y"]])), all);
  deepStrictEqual(waiting.called(5, 0, NONE), all);
});
