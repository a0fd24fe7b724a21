/** An externally managed certificate in a directory: cert-manager, OpenShift's service-ca, OLM. */
import * as Effect from "effect/Effect";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { certificateFacts } from "../../core/data/digest.ts";
import { CertificateLife, type Keeping } from "./certificates.ts";
import { LiveFigures } from "../runtime/metrics.ts";
import type { ServingCertificate } from "./webhook_server.ts";

/** As a Secret of type kubernetes.io/tls is mounted. */
const FILES = { cert: "tls.crt", key: "tls.key" } as const;

/**
 * Reads the directory periodically; a pair that does not match, as in the middle of a change, is ignored until the next
 * read.
 */
export const followFolder = Effect.fn("followFolder")(function* <E, R>(
  folder: string,
  { serve, servable }: Pick<Keeping<E, R>, "serve" | "servable">,
) {
  const { lookMs } = yield* CertificateLife;
  let served = "";
  for (;;) {
    const pair = yield* readPair(folder);
    if (pair === undefined) {
      if (served === "") yield* Effect.logWarning("no certificate yet").pipe(Effect.annotateLogs({ folder }));
    } else if (pair.cert !== served) {
      yield* serve(pair);
      served = pair.cert;
      servable(true);
      const endsAtMs = certificateFacts(pair.cert)?.notAfterMs;
      if (endsAtMs !== undefined) (yield* LiveFigures).certificateEndsAtMs.set("serving", endsAtMs);
      yield* Effect.logInfo("certificate read").pipe(Effect.annotateLogs({ folder }));
    }
    yield* Effect.sleep(lookMs);
  }
});

/** Undefined where the two files are not there or do not fit. */
export const readPair = (folder: string): Effect.Effect<ServingCertificate | undefined> =>
  Effect.promise(async () => {
    try {
      const [cert, key] = await Promise.all(
        [FILES.cert, FILES.key].map((name) => Deno.readTextFile(`${folder}/${name}`)),
      );
      const pair = { cert: cert ?? "", key: key ?? "" };
      return new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)) ? pair : undefined;
    } catch {
      return undefined;
    }
  });
