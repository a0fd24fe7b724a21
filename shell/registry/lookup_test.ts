import { strictEqual } from "node:assert/strict";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Scope from "effect/Scope";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { lookupLimits } from "./lookup.ts";
import { aTick } from "../../tests/waiting.ts";

/** Lookups that begin and never end, until the scope is closed. */
const waiting = async () => {
  const scope = Scope.makeUnsafe();
  const limits = await Effect.runPromise(lookupLimits);
  let begun = 0;
  const never = Effect.andThen(Effect.sync(() => begun++), Effect.never);
  return {
    ask: (namespace: string, host: string) =>
      Effect.runPromise(
        Effect.forkIn(limits({ namespace, image: `${host}/a:1` } as ImageQuestion, never), scope),
      ),
    begins: async (namespace: string, host: string) => {
      const isBegun = Deferred.makeUnsafe<void>();
      const once = Effect.asVoid(Deferred.succeed(isBegun, undefined));
      const question = { namespace, image: `${host}/a:1` } as ImageQuestion;
      await Effect.runPromise(Effect.forkIn(limits(question, once), scope));
      return await Effect.runPromise(Effect.timeoutOption(Deferred.await(isBegun), 100)).then(({ _tag }) =>
        _tag === "Some"
      );
    },
    begun: async () => {
      await aTick();
      return begun;
    },
    end: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

Deno.test("a registry that does not answer delays neither other registries of the namespace nor other namespaces", async () => {
  const lookups = await waiting();
  for (let count = 0; count < 20; count++) await lookups.ask("team", "dead.example.com");
  strictEqual(await lookups.begun(), 2);
  strictEqual(await lookups.begins("team", "fine.example.com"), true);
  strictEqual(await lookups.begins("other", "fine.example.com"), true);
  strictEqual(await lookups.begins("team", "dead.example.com"), false);
  await lookups.end();
});

Deno.test("a namespace takes few places, however many registries it names", async () => {
  const lookups = await waiting();
  for (let count = 0; count < 20; count++) await lookups.ask("team", `r${count}.example.com`);
  strictEqual(await lookups.begun(), 4);
  strictEqual(await lookups.begins("other", "fine.example.com"), true);
  await lookups.end();
});
