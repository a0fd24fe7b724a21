/** Keeps the certificates of the webhooks, in every replica; what is to be done is decided in core/certificates. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { type Authority, AUTHORITY_KEY, authorityIn, authorityText } from "../../core/certificates/authority.ts";
import { AUTHORITY_SECRET } from "../../core/api/own_objects.ts";
import {
  CertificateStep,
  isServable,
  type Look,
  nextStep,
  type Settled,
  settledAfter,
} from "../../core/certificates/decide.ts";
import { CERTIFICATE_TIMES, type CertificateTimes } from "../../core/certificates/times.ts";
import { certificateFacts } from "../../core/data/digest.ts";
import { contentOf } from "../../core/config/config_map_content.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { authorityReplaced } from "../../core/api/events.ts";
import { caBundles, publish, type SeenBundles } from "./ca_bundles.ts";
import { isPair, makeAuthority, makeLeaf } from "./certificate_maker.ts";
import { Cluster, type ClusterError, isClusterError, warned } from "../kubernetes/cluster.ts";
import { CERTIFICATE_LOOK_MS, CERTIFICATE_RETRY_MS } from "../limits.ts";
import { LiveFigures } from "../runtime/metrics.ts";
import { announce } from "../controller/perform.ts";
import type { ServingCertificate } from "./webhook_server.ts";
import { creation, replacement } from "../../core/plan/patch.ts";

/** Shorter only where a test cannot wait for months. */
export const CertificateLife: Context.Reference<{ readonly times: CertificateTimes; readonly lookMs: number }> = Context
  .Reference("llama-stack-operator/shell/CertificateLife", {
    defaultValue: () => ({ times: CERTIFICATE_TIMES, lookMs: CERTIFICATE_LOOK_MS }),
  });

export interface Keeping<E, R> {
  readonly namespace: string;
  /** Names that the API server calls this replica by. */
  readonly names: ReadonlyArray<string>;
  /** Called with the first certificate and with each later one. */
  readonly serve: (certificate: ServingCertificate) => Effect.Effect<void, E, R>;
  /** Whether this replica may be called. */
  readonly servable: (is: boolean) => void;
  /** Called with the last segment of the paths, which only the API server knows. */
  readonly proven: (segment: string) => void;
}

/** Runs until it is interrupted. */
export const keepCertificates = Effect.fn("keepCertificates")(function* <E, R>(keeping: Keeping<E, R>) {
  const { lookMs } = yield* CertificateLife;
  const kept: Progress = {
    leaf: undefined,
    signer: undefined,
    settled: undefined,
    segment: undefined,
    seen: new Map(),
  };
  for (;;) {
    const busy = yield* oneStep(keeping, kept).pipe(
      Effect.catchIf(isClusterError, (error) => afterFailure(error, lookMs)),
    );
    if (!busy) yield* Effect.sleep(lookMs);
  }
});

const afterFailure = (error: ClusterError, lookMs: number) =>
  // Another replica was faster: what it wrote is what counts.
  error._tag === "Conflict" ? Effect.as(Effect.sleep(100), true) : warned("certificates not updated")(error).pipe(
    Effect.andThen(Effect.sleep(Math.min(CERTIFICATE_RETRY_MS, lookMs))),
    Effect.as(true),
  );

/** What only this replica knows. */
interface Progress {
  leaf: ServingCertificate | undefined;
  /** PEM of the authority that signed it. */
  signer: string | undefined;
  /** Of the paths, as last seen in the Secret: a Secret that is created anew keeps it. */
  segment: string | undefined;
  settled: Settled | undefined;
  readonly seen: SeenBundles;
}

/** True when something was done and there may be more. */
const oneStep = Effect.fnUntraced(function* <E, R>(keeping: Keeping<E, R>, kept: Progress) {
  const { times } = yield* CertificateLife;
  const { secret, look } = yield* looked(keeping, kept);
  if (secret !== undefined && look.authority !== undefined && segmentIn(secret) === undefined) {
    yield* writeSecret(keeping.namespace, secret, look.authority, kept);
    return true;
  }
  keeping.servable(isServable(look));
  const step = nextStep(look, times);
  if (step === undefined) return false;
  yield* Effect.logInfo("certificates").pipe(
    Effect.annotateLogs({
      step: step._tag,
      why: "why" in step ? step.why : "",
      target: "target" in step ? step.target : "",
    }),
  );
  yield* CertificateStep.$match(step, {
    CreateAuthority: ({ notBeforeMs, why, isPlanned }) =>
      Effect.gen(function* () {
        const notAfterMs = look.nowMs + times.authorityMs;
        const authority = yield* Effect.promise(() => makeAuthority({ notBeforeMs, notAfterMs }));
        const written = yield* writeSecret(keeping.namespace, secret, authority, kept);
        if (!isPlanned) yield* announce(authorityReplaced(why), written).pipe(Effect.ignore);
      }),
    Publish: ({ target, pem }) => publish(target, pem, segmentIn(secret) ?? ""),
    IssueLeaf: ({ signer, notBeforeMs, notAfterMs }) =>
      Effect.gen(function* () {
        const leaf = yield* Effect.promise(() => makeLeaf(signer, keeping.names, { notBeforeMs, notAfterMs }));
        yield* keeping.serve(leaf);
        kept.leaf = leaf;
        kept.signer = signer.certificate;
        (yield* LiveFigures).certificateEndsAtMs.set("serving", notAfterMs);
      }),
  });
  return true;
});

const looked = Effect.fnUntraced(function* <E, R>({ namespace, names, proven }: Keeping<E, R>, kept: Progress) {
  const cluster = yield* Cluster;
  const secret = yield* cluster.get({ apiVersion: "v1", kind: "Secret", namespace, name: AUTHORITY_SECRET });
  const segment = segmentIn(secret);
  if (segment !== undefined) {
    kept.segment = segment;
    proven(segment);
  }
  const bundles = yield* caBundles(kept.seen, segment ?? kept.segment ?? "");
  const nowMs = yield* Clock.currentTimeMillis;
  const read = authorityIn(decodedAt(secret, AUTHORITY_KEY));
  const authority = read !== undefined && (yield* Effect.promise(() => isPair(read))) ? read : undefined;
  const current = authority === undefined ? undefined : certificateFacts(authority.certificate);
  if (current !== undefined) (yield* LiveFigures).certificateEndsAtMs.set("authority", current.notAfterMs);
  kept.settled = settledAfter(kept.settled, { authority, bundles, nowMs });
  const look: Look = {
    nowMs,
    authority,
    bundles,
    leaf: kept.leaf === undefined ? undefined : certificateFacts(kept.leaf.cert),
    signer: kept.signer,
    names,
    settled: kept.settled,
  };
  return { secret, look };
});

/** Conditional on the version that was read: one of several replicas writes, the others read again. */
const writeSecret = Effect.fnUntraced(function* (
  namespace: string,
  found: JsonObject | undefined,
  authority: Authority,
  { segment }: Progress,
): Effect.fn.Return<JsonObject, ClusterError, Cluster> {
  const cluster = yield* Cluster;
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const data = {
    [AUTHORITY_KEY]: btoa(authorityText(authority)),
    [SEGMENT_KEY]: btoa(segmentIn(found) ?? segment ?? newSegment()),
  };
  return found === undefined
    ? yield* cluster.send(creation(path, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: AUTHORITY_SECRET,
        namespace,
        labels: { "app.kubernetes.io/part-of": "llama-stack-operator" },
      },
      type: "Opaque",
      data,
    }))
    : yield* cluster.send(replacement(`${path}/${AUTHORITY_SECRET}`, { ...found, data }));
});

/** Key of the path segment by which the API server shows who it is; every replica and every later one uses the same. */
const SEGMENT_KEY = "webhook-path";

/** 128 bits, in hex. */
const SEGMENT = /^[0-9a-f]{32}$/;

const newSegment = (): string => crypto.getRandomValues(new Uint8Array(16)).toHex();

const segmentIn = (secret: JsonObject | undefined): string | undefined => {
  const text = decodedAt(secret, SEGMENT_KEY);
  return text !== undefined && SEGMENT.test(text) ? text : undefined;
};

const decodedAt = (secret: JsonObject | undefined, key: string): string | undefined => {
  const encoded = contentOf(secret ?? null).data[key];
  try {
    return encoded === undefined ? undefined : atob(encoded);
  } catch {
    return undefined;
  }
};
