import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Logger from "effect/Logger";
import * as Scope from "effect/Scope";
import type { ImageFailure } from "./image_config.ts";
import { AddressNotAllowed, RegistryUnreachable } from "../../core/image/registry_failure.ts";
import { REGISTRIES_DEFAULT } from "../../core/operator/registries.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { unreached } from "../kubernetes/cluster_error.ts";
import { lookedUp, lookupLimits } from "./lookup.ts";
import { aTick } from "../../tests/waiting.ts";

/** Much longer than a lookup needs to begin. */
const WAITED_MS = 1000;

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
      return await Effect.runPromise(Effect.timeoutOption(Deferred.await(isBegun), WAITED_MS)).then(({ _tag }) =>
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

/** The sentence about an image of this host, whose registry cannot be reached because of `detail`. */
const sentenceOf = (host: string, detail: string, internal: ReadonlyArray<string> = []) =>
  sentenceAfter(host, new RegistryUnreachable({ host, detail }), internal);

const sentenceAfter = async (host: string, failure: ImageFailure, internal: ReadonlyArray<string> = []) => {
  const question: ImageQuestion = {
    image: `${host}/a:1`,
    reference: `${host}/a:1`,
    wanted: undefined,
    namespace: "n",
    serviceAccount: undefined,
    pullSecrets: [],
    authorities: "",
    registries: { ...REGISTRIES_DEFAULT, internal },
  };
  const found = await Effect.runPromise(
    lookedUp(question, new Map(), { forbidden: [], addresses: Effect.succeed(new Set<string>()) }, {
      read: () => Effect.fail(failure),
      ms: 5000,
    }).pipe(Effect.provide(Logger.layer([]))),
  );
  return found.kind === "failed" ? found.detail : "found";
};

Deno.test("the author of a resource learns nothing of what listens on the hosts that he names", async () => {
  const details = [
    "connection refused",
    "no response within 15 s",
    "invalid peer certificate",
    "its name has no address",
  ];
  const found = await Promise.all(details.map((detail) => sentenceOf("10.0.0.9:10250", detail)));
  deepStrictEqual([...new Set(found)], [
    "registry 10.0.0.9:10250 cannot be reached: no usable answer; the log of the operator has the reason",
  ]);
  // Neither whether it is an address of this cluster, also where the registry leads on to it.
  const ofCluster = { detail: "x", isOfCluster: true, setting: "registries.internal" };
  for (const host of ["10.0.0.9:10250", "10.0.0.10"]) {
    deepStrictEqual([await sentenceAfter("10.0.0.9:10250", new AddressNotAllowed({ host, ...ofCluster }))], [found[0]]);
    deepStrictEqual(
      [await sentenceAfter("10.0.0.9:10250", new RegistryUnreachable({ host, detail: "its name has no address" }))],
      [found[0]],
    );
  }
  // The administrator has named this one.
  const named = await sentenceOf("10.0.0.9:10250", "connection refused", ["10.0.0.9:10250"]);
  strictEqual(named, "registry 10.0.0.9:10250 cannot be reached: connection refused");
});

Deno.test("no registry is asked while the addresses of the nodes are not known", async () => {
  const question = {
    image: "r.example/a:1",
    reference: "r.example/a:1",
    registries: REGISTRIES_DEFAULT,
  } as ImageQuestion;
  const found = await Effect.runPromise(
    lookedUp(question, new Map(), {
      forbidden: [],
      addresses: Effect.fail(unreached("list", "/api/v1/nodes", "reset")),
    }, {
      read: () => Effect.die("asked"),
      ms: 5000,
    }),
  );
  deepStrictEqual(found, { kind: "failed", detail: "the addresses of the nodes could not be read" });
});
