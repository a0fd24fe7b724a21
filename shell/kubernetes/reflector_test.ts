import { ok, strictEqual } from "node:assert/strict";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Stream from "effect/Stream";
import { TestClock } from "effect/testing";
import { Cluster, type ClusterError, failedCall, type WatchEvent } from "./cluster.ts";
import { type Reactions, reflect } from "./reflector.ts";
import { untilRestored } from "../runtime/restored_database.ts";
import * as Option from "effect/Option";

const refused = (status: number, retryAfterMs?: number) =>
  failedCall({ verb: "watch", path: "/pods", status, reason: "R", detail: "d", retryAfterMs });

/** Lists and watches of one minute, with every watch as given. */
const inOneMinute = (watch: Stream.Stream<WatchEvent, ClusterError> | ((number: number) => ClusterError)) => {
  const counts = { lists: 0, watches: 0 };
  const cluster = {
    eachPage: () => Effect.sync(() => `${++counts.lists}`),
    watch: () =>
      Stream.unwrap(Effect.sync(() => {
        const number = ++counts.watches;
        return typeof watch === "function" ? Stream.fail(watch(number)) : watch;
      })),
  } as unknown as Cluster["Service"];
  const reactions: Reactions = {
    changed: () => Effect.void,
    listed: () => Effect.void,
    heard: Effect.void,
    failed: () => Effect.void,
  };
  return Effect.runPromise(
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(reflect({ path: "/pods" }, reactions));
      for (let second = 0; second < 60; second++) yield* TestClock.adjust(Duration.seconds(1));
      yield* Fiber.interrupt(fiber);
      return counts;
    }).pipe(Effect.provideService(Cluster, cluster), Effect.provide(TestClock.layer())),
  );
};

Deno.test("reflect() waits longer and longer while watches end at once", async () => {
  const { lists, watches } = await inOneMinute(Stream.empty);
  strictEqual(lists, 1);
  ok(watches >= 7 && watches <= 12, `${watches} watches`);
});

Deno.test("reflect() continues at once after a watch that lived, and soon after a broken one", async () => {
  const living = Stream.drain(Stream.fromEffect(Effect.sleep(Duration.seconds(2))));
  ok((await inOneMinute(living)).watches >= 28);
  const breaking = Stream.concat(living, Stream.fail(refused(500)));
  ok((await inOneMinute(breaking)).watches >= 18, "the pauses do not add up");
});

Deno.test("reflect() lists again when its version is too old, and honours Retry-After", async () => {
  const tooOld = await inOneMinute(Stream.fail(refused(410)));
  strictEqual(tooOld.lists, tooOld.watches);
  // After an outage of half a minute, not only after the long pause that it has grown to.
  const afterOutage = await inOneMinute((number) => refused(number <= 5 ? 503 : 410));
  ok(afterOutage.lists >= 5, `${afterOutage.lists} lists`);
  const busy = await inOneMinute(Stream.fail(refused(429, 20_000)));
  strictEqual(busy.lists, 1);
  ok(busy.watches <= 4, `${busy.watches} watches`);
});

/** Whether a restore was detected within three minutes, by a reflector that listed at version 50. */
const noticed = (
  watch: Stream.Stream<WatchEvent, ClusterError>,
  looks: ReadonlyArray<number> = [],
  lists = ["50"],
  looksForSeconds = 0,
) => {
  let [listed, looked] = [0, 0];
  const cluster = {
    eachPage: () => Effect.sync(() => lists[listed++] ?? lists.at(-1)),
    watch: () => watch,
    read: () =>
      Effect.sync(() => ({ metadata: { resourceVersion: String(looks[looked++] ?? looks.at(-1) ?? 1000) } })).pipe(
        Effect.delay(Duration.seconds(looksForSeconds)),
      ),
  } as unknown as Cluster["Service"];
  const reactions: Reactions = {
    changed: () => Effect.void,
    listed: () => Effect.void,
    heard: Effect.void,
    failed: () => Effect.void,
  };
  const looksAtDatabase = looks.length > 0;
  return Effect.runPromise(
    Effect.gen(function* () {
      const program = untilRestored(reflect({ path: "/pods", looksAtDatabase }, reactions));
      const fiber = yield* Effect.forkChild(Effect.timeoutOption(program, Duration.seconds(180)));
      for (let second = 0; second < 181; second++) yield* TestClock.adjust(Duration.seconds(1));
      return Option.isSome(yield* Fiber.join(fiber));
    }).pipe(Effect.provideService(Cluster, cluster), Effect.provide(TestClock.layer())),
  );
};

const told = (type: WatchEvent["type"], ...versions: ReadonlyArray<string>) =>
  Stream.concat(
    Stream.fromIterable(
      versions.map((resourceVersion): WatchEvent => ({ type, object: { metadata: { resourceVersion } } })),
    ),
    Stream.never,
  );

Deno.test("reflect() detects a restored etcd by an event, a bookmark or a list older than before", async () => {
  strictEqual(await noticed(told("MODIFIED", "51", "60")), false);
  strictEqual(await noticed(told("MODIFIED", "60", "55")), true);
  strictEqual(await noticed(told("BOOKMARK", "49")), true);
  strictEqual(await noticed(Stream.fail(refused(410)), [], ["50", "51", "52"]), false);
  strictEqual(await noticed(Stream.fail(refused(410)), [], ["50", "51", "20"]), true);
});

Deno.test("reflect() detects a restored etcd while a watch is silent, and when the next one begins", async () => {
  strictEqual(await noticed(Stream.never, [50, 70, 90]), false);
  strictEqual(await noticed(Stream.never, [60, 40]), true);
  const living = Stream.drain(Stream.fromEffect(Effect.sleep(Duration.seconds(2))));
  strictEqual(await noticed(living, [40]), true);
});

/** Events a second apart, which begin half a second before the first look. */
const toldDuringLooks = (...versions: ReadonlyArray<string>) =>
  Stream.fromIterable(versions).pipe(
    Stream.mapEffect((resourceVersion) =>
      Effect.succeed<WatchEvent>({ type: "MODIFIED", object: { metadata: { resourceVersion } } }).pipe(
        Effect.delay(Duration.millis(1000)),
      )
    ),
    (events) => Stream.concat(Stream.drain(Stream.fromEffect(Effect.sleep(Duration.millis(58_500)))), events),
    (events) => Stream.concat(events, Stream.never),
  );

Deno.test("reflect() takes neither a late event nor a late answer for a restored etcd", async () => {
  // The look at 60 s is answered with 70 at once; events of before that are delivered after it.
  strictEqual(await noticed(toldDuringLooks("51", "52", "53", "71"), [70, 80, 90]), false);
  // It is answered two seconds later, with the version of when it was asked; events of after that are delivered before it.
  strictEqual(await noticed(toldDuringLooks("51", "61", "62", "63"), [55, 63], ["50"], 2), false);
  strictEqual(await noticed(toldDuringLooks("51", "61", "62", "63"), [50], ["50"], 2), true);
});
