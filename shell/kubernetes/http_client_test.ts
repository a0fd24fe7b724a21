import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { TestClock } from "effect/testing";
import { type ClusterError, unreached } from "./cluster_error.ts";
import { chunksOf, renewableClient, silenceAlarm, within } from "./http_client.ts";
import { aMoment, aTick, eventually } from "../../tests/waiting.ts";

/** Much longer than an answer takes, also on a busy machine. */
const WAIT_MS = 1500;

for (const how of ["failed", "given up"] as const) {
  Deno.test(`a client whose call was ${how} without an answer makes new connections`, async () => {
    let connections = 0;
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const open: Array<Deno.TcpConn> = [];
    const serving = (async () => {
      for await (const connection of listener) {
        open.push(connection);
        // The first one is dead after its first answer: what comes next on it is swallowed.
        const isDying = ++connections === 1;
        void (async () => {
          const buffer = new Uint8Array(4096);
          try {
            for (let request = 0; await connection.read(buffer) !== null; request++) {
              if (isDying && request > 0) continue;
              await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
            }
          } catch {
            // The client is gone.
          }
        })();
      }
    })();
    const call = (client: Deno.HttpClient): Effect.Effect<string, ClusterError> => {
      const asked = Effect.tryPromise({
        try: async (signal) => {
          const deadline = how === "failed" ? AbortSignal.timeout(WAIT_MS) : signal;
          return await (await fetch(`http://127.0.0.1:${listener.addr.port}`, { client, signal: deadline })).text();
        },
        catch: (cause) => unreached("get", "/", cause),
      });
      return asked;
    };
    const program = Effect.gen(function* () {
      const calls = yield* renewableClient(() => Deno.createHttpClient({ http2: false }));
      const asked = calls.using(call).pipe(
        Effect.timeoutOption(Duration.millis(how === "failed" ? 10 * WAIT_MS : WAIT_MS)),
        Effect.map((answer) => answer._tag === "Some" ? answer.value : "nothing"),
        Effect.orElseSucceed(() => "nothing"),
      );
      return [yield* asked, yield* asked, yield* asked].join(" ");
    });
    strictEqual(await Effect.runPromise(Effect.scoped(program)), "ok nothing ok");
    strictEqual(connections, 2);
    listener.close();
    await serving;
    for (const tcpConn of open) {
      try {
        tcpConn.close();
      } catch {
        // Closed by its reader.
      }
    }
  });
}

Deno.test("a client is replaced within a minute after the CA was rotated, and not before", async () => {
  const made: Array<string | undefined> = [];
  let caPem: string | undefined = "one";
  const make = (pem: string | undefined) => {
    if (pem === "broken") throw new TypeError("no certificate");
    made.push(pem);
    return { close: () => {} } as Deno.HttpClient;
  };
  await Effect.runPromise(
    Effect.gen(function* () {
      const client = yield* renewableClient(make, () => caPem);
      const used = client.using(() => Effect.void);
      const usedAfter = (duration: Duration.Input) => Effect.andThen(TestClock.adjust(duration), used);
      yield* used;
      yield* usedAfter("2 minutes");
      deepStrictEqual(made, ["one"]);
      caPem = "two";
      yield* usedAfter("59 seconds");
      deepStrictEqual(made, ["one"]);
      yield* usedAfter("1 second");
      deepStrictEqual(made, ["one", "two"]);
      for (const [moment, expected] of [["broken", "two"], [undefined, "two"], ["three", "three"]] as const) {
        caPem = moment;
        yield* usedAfter("1 minute");
        strictEqual(made.at(-1), expected);
      }
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  );
});

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

Deno.test("within() ends a run that its caller cancelled, before or after it began, and reports why", async () => {
  const caller = new AbortController();
  const running = within(60_000, caller.signal, untilAborted);
  caller.abort(new Error("given up"));
  await rejects(running, /given up/);
  await rejects(within(60_000, caller.signal, untilAborted), /given up/);
});

Deno.test("within() ends a run when its time is up, and leaves an answer alone that came before", async () => {
  const { signal } = new AbortController();
  await rejects(within(10, signal, untilAborted), /no answer within 10 ms/);
  let given: AbortSignal | undefined;
  strictEqual(await within(10, signal, (both) => Promise.resolve((given = both, "answer"))), "answer");
  await aTick();
  strictEqual(given?.aborted, false);
});

Deno.test("chunksOf() ends with its signal although the response was collected, and leaves no connection", async () => {
  let isOpen = false;
  const body = () =>
    new ReadableStream<Uint8Array>({
      start: (open) => (isOpen = true, open.enqueue(new TextEncoder().encode("one"))),
      cancel: () => void (isOpen = false),
    });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response(body()));
  try {
    for (const how of ["aborted", "left"] as const) {
      const controller = new AbortController();
      const url = `http://127.0.0.1:${server.addr.port}`;
      const opened = async () => {
        const { body } = await fetch(url, { signal: controller.signal });
        return chunksOf({ body }, controller.signal);
      };
      const read = async (): Promise<void> => {
        for await (const chunk of await opened()) {
          strictEqual(new TextDecoder().decode(chunk), "one");
          if (how === "left") return;
          // Enough for the collector to look at everything that is held.
          for (let count = 0; count < 40; count++) {
            new Array(1_000_000).fill(count);
            await aTick();
          }
          setTimeout(() => controller.abort(new Error("given up")), WAIT_MS);
        }
      };
      const ended = within(
        20 * WAIT_MS,
        new AbortController().signal,
        (late) => Promise.race([read(), untilAborted(late)]),
      );
      if (how === "aborted") await rejects(ended, /given up/);
      else await ended;
      while (isOpen) await aTick();
    }
  } finally {
    await server.shutdown();
  }
});

Deno.test("chunksOf() returns the whole body, or nothing if there is none", async () => {
  const { signal } = new AbortController();
  const chunks = async (response: Response): Promise<string> => {
    let text = "";
    for await (const chunk of chunksOf(response, signal)) text += new TextDecoder().decode(chunk);
    return text;
  };
  strictEqual(await chunks(new Response("whole")), "whole");
  strictEqual(await chunks(new Response(null)), "");
  await rejects(chunks(new Response(new ReadableStream({ start: (it) => it.error(new Error("cut")) }))), /cut/);
});

Deno.test("silenceAlarm() rings once nothing was heard for its time, and not after it was stopped", async () => {
  let rung = 0;
  // Ten moments.
  const alarm = silenceAlarm(1000, () => void rung++);
  alarm.start();
  for (let moment = 0; moment < 15; moment++) {
    await aMoment();
    alarm.heard();
  }
  strictEqual(rung, 0);
  await eventually("it rings", () => rung > 0 || undefined);
  const stopped = silenceAlarm(10, () => void rung++);
  stopped.start();
  stopped.stop();
  await aMoment();
  strictEqual(rung, 1);
});
