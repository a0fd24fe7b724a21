import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { signals } from "./signals.ts";
import { aTick } from "../../tests/waiting.ts";

Deno.test("an event ends the waiting of its name, also if it comes before anybody waits for it", async () => {
  const all = signals();
  const ended: Array<string> = [];
  const wait = (name: string, pause: number) =>
    Effect.runPromise(all.during(name, (event) => Effect.andThen(Effect.sleep(pause), event)))
      .then(() => ended.push(`${name} ${pause}`));
  const waiting = [wait("team", 0), wait("team", 30), wait("other", 0)];
  await aTick();
  await Effect.runPromise(all.of("team"));
  await Promise.all(waiting.slice(0, 2));
  deepStrictEqual(ended, ["team 0", "team 30"]);
  await Effect.runPromise(all.of("nobody"));
  await Effect.runPromise(all.all);
  await waiting[2];
  deepStrictEqual(ended.length, 3);
});
