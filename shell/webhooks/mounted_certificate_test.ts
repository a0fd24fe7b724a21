import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { certificateFacts } from "../../core/data/digest.ts";
import { makeAuthority, makeLeaf } from "./certificate_maker.ts";
import { CertificateLife } from "./certificates.ts";
import { LiveFigures, newFigures } from "../runtime/metrics.ts";
import { followFolder } from "./mounted_certificate.ts";
import { CERTIFICATE_TIMES } from "../../core/certificates/times.ts";
import { aMoment, until } from "../../tests/waiting.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Math.floor(Date.now() / 1000) * 1000 + 3_600_000 };

Deno.test("followFolder() waits for a pair, loads a new one, and ignores a half-written one", async () => {
  const folder = await Deno.makeTempDir();
  const authority = await makeAuthority(validity);
  const [first, second] = [await makeLeaf(authority, ["a"], validity), await makeLeaf(authority, ["b"], validity)];
  const write = async (cert: string, key: string) => {
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
  };
  const served: Array<string> = [];
  let servable = false;
  const figures = newFigures();
  const fiber = Effect.runFork(
    followFolder(folder, {
      serve: ({ cert }) => Effect.sync(() => void served.push(certificateFacts(cert)?.names[0] ?? "")),
      servable: (is) => void (servable = is),
    }).pipe(
      Effect.provideService(CertificateLife, { times: CERTIFICATE_TIMES, lookMs: 10 }),
      Effect.provideService(LiveFigures, figures),
    ),
  );
  try {
    await aMoment();
    strictEqual(servable, false);
    await write(first.cert, first.key);
    await until("the first one is served", () => servable && figures.certificateEndsAtMs.has("serving"));
    strictEqual(figures.certificateEndsAtMs.get("serving"), validity.notAfterMs);
    await Deno.writeTextFile(`${folder}/tls.crt`, second.cert);
    await aMoment();
    deepStrictEqual(served, ["a"]);
    await write(second.cert, second.key);
    await until("the second one is served", () => served.length === 2);
    deepStrictEqual(served, ["a", "b"]);
  } finally {
    await Effect.runPromise(Fiber.interrupt(fiber));
    await Deno.remove(folder, { recursive: true });
  }
});
