import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { createServer, type Server } from "node:https";
import { connect, type ConnectionOptions } from "node:tls";
import * as Effect from "effect/Effect";
import * as Logger from "effect/Logger";
import * as SubscriptionRef from "effect/SubscriptionRef";
import { TestClock } from "effect/testing";
import type { JsonObject } from "../../core/data/json.ts";
import { TLS_DEFAULT } from "../../core/operator/tls_profile.ts";
import { Cluster, failedCall } from "./cluster.ts";
import { TLS_PROFILE_LOOK_MS } from "../limits.ts";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";
import { applyTlsProfile, followTlsProfile, LiveTlsProfile } from "./tls_profile.ts";

const profile = (type: string): JsonObject => ({ spec: { tlsSecurityProfile: { type } } });

/** The oldest version after each answer of the API server, or its status; and what was logged. */
const followed = async (answers: ReadonlyArray<JsonObject | number>) => {
  const logged: Array<string> = [];
  const versions: Array<string> = [];
  let next = 0;
  const read = () => {
    const answer = answers[Math.min(next++, answers.length - 1)] ?? 500;
    return typeof answer === "number"
      ? Effect.fail(
        failedCall({ verb: "get", path: "/", status: answer, reason: "", detail: "", retryAfterMs: undefined }),
      )
      : Effect.succeed(answer);
  };
  await Effect.runPromise(
    Effect.scoped(Effect.gen(function* () {
      const live = yield* LiveTlsProfile;
      yield* Effect.forkScoped(followTlsProfile);
      yield* Effect.yieldNow;
      for (const _ of answers) {
        versions.push(SubscriptionRef.getUnsafe(live).minVersion);
        yield* TestClock.adjust(TLS_PROFILE_LOOK_MS);
      }
    })).pipe(
      Effect.provideService(Cluster, { read } as unknown as Cluster["Service"]),
      Effect.provideServiceEffect(LiveTlsProfile, SubscriptionRef.make(TLS_DEFAULT)),
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])),
      Effect.provide(TestClock.layer()),
    ),
  );
  return { versions, logged };
};

Deno.test("followTlsProfile() follows changes, and keeps what it knows while nothing can be read", async () => {
  const { versions, logged } = await followed([404, profile("Modern"), 403, 503, profile("Intermediate")]);
  deepStrictEqual(versions, ["TLSv1.2", "TLSv1.3", "TLSv1.3", "TLSv1.3", "TLSv1.2"]);
  // Once for each change, and once for several failures.
  deepStrictEqual(logged.map((line) => /cannot be read/.test(line)), [true, false, true, false]);
});

Deno.test("followTlsProfile() keeps the version when the profile names one that it does not know", async () => {
  const unknown = { spec: { tlsSecurityProfile: { type: "Custom", custom: { minTLSVersion: "VersionTLS99" } } } };
  const { versions } = await followed([profile("Modern"), unknown, profile("Intermediate"), unknown]);
  deepStrictEqual(versions, ["TLSv1.3", "TLSv1.3", "TLSv1.2", "TLSv1.2"]);
  deepStrictEqual((await followed([unknown])).versions, ["TLSv1.3"]);
});

/** The version that a client agrees on which offers this one at most, or the error. */
const agreed = (port: number, maxVersion: NonNullable<ConnectionOptions["maxVersion"]>): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, maxVersion, rejectUnauthorized: false }, () => {
      resolve(socket.getProtocol() ?? "");
      socket.destroy();
    });
    socket.on("error", (error) => resolve(String(error)));
  });

Deno.test("applyTlsProfile() applies a profile to the next connections", async () => {
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const pair = await makeLeaf(await makeAuthority(validity), ["127.0.0.1"], validity);
  const server: Server = createServer({ ...pair, minVersion: "TLSv1.2" }, (_, response) => response.end("ok"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const found: Array<string> = [];
  await Effect.runPromise(
    Effect.scoped(Effect.gen(function* () {
      const live = yield* LiveTlsProfile;
      yield* applyTlsProfile(server, () => pair);
      yield* Effect.yieldNow;
      for (const minVersion of ["TLSv1.2", "TLSv1.3", "TLSv1.2"] as const) {
        yield* SubscriptionRef.set(live, { minVersion });
        for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
          found.push(yield* Effect.promise(() => agreed(port, maxVersion)));
        }
      }
    })).pipe(Effect.provideServiceEffect(LiveTlsProfile, SubscriptionRef.make(TLS_DEFAULT))),
  );
  await new Promise((resolve) => server.close(resolve));
  const [before, , refused = "", newer, after] = found;
  deepStrictEqual([before, newer, after], ["TLSv1.2", "TLSv1.3", "TLSv1.2"]);
  match(refused, /version/i);
  strictEqual(found.length, 6);
});
