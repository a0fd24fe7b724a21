/** The TLS profile of the cluster, for every listener with TLS: read again and again, and applied without a restart. */
import * as Context from "effect/Context";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import * as SubscriptionRef from "effect/SubscriptionRef";
import type { Server } from "node:https";
import {
  PROFILE_GROUP,
  TLS_DEFAULT,
  type TlsProfile,
  tlsProfileOf,
  type TlsVersion,
} from "../../core/operator/tls_profile.ts";
import { Cluster } from "./cluster.ts";
import { TLS_PROFILE_LOOK_MS } from "../limits.ts";

export class LiveTlsProfile extends Context.Service<LiveTlsProfile, SubscriptionRef.SubscriptionRef<TlsProfile>>()(
  "llama-stack-operator/shell/LiveTlsProfile",
) {
  /** The default until it is read. */
  static readonly make = SubscriptionRef.make(TLS_DEFAULT);
}

const PATH = `/apis/${PROFILE_GROUP}/v1/apiservers/cluster`;

/** What cannot be read, for whatever reason, stays as it was, and is read again. */
export const followTlsProfile = Effect.gen(function* () {
  const cluster = yield* Cluster;
  const live = yield* LiveTlsProfile;
  let failed = false;
  let known: TlsVersion | undefined;
  for (;;) {
    const answer = yield* Effect.result(cluster.read(PATH));
    if (answer._tag === "Success") {
      failed = false;
      const next = tlsProfileOf(answer.success, known);
      known = next.minVersion;
      const before = yield* SubscriptionRef.get(live);
      if (next.minVersion !== before.minVersion || next.deviation !== before.deviation) {
        yield* Effect.logInfo("TLS profile of the cluster").pipe(Effect.annotateLogs({ ...next }));
        yield* SubscriptionRef.set(live, next);
      }
    } else if (!failed) {
      failed = true;
      yield* Effect.logWarning("the TLS profile of the cluster cannot be read, and stays as it was").pipe(
        Effect.annotateLogs({ status: answer.failure.status }),
      );
    }
    yield* Effect.sleep(Duration.millis(TLS_PROFILE_LOOK_MS));
  }
});

/** Applies each change to the next connections of a listener, until the scope is closed. */
export const applyTlsProfile = Effect.fnUntraced(
  function* (server: Server, context: () => Parameters<Server["setSecureContext"]>[0]) {
    const live = yield* LiveTlsProfile;
    const apply = () =>
      server.setSecureContext({ ...context(), minVersion: SubscriptionRef.getUnsafe(live).minVersion });
    yield* Effect.forkScoped(
      Stream.runForEach(Stream.drop(SubscriptionRef.changes(live), 1), () => Effect.sync(apply)),
    );
    if (SubscriptionRef.getUnsafe(live).minVersion !== TLS_DEFAULT.minVersion) apply();
    return { apply };
  },
);
