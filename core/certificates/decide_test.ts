import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { certificateFacts } from "../data/digest.ts";
import { type Authorities, authoritiesIn, authoritiesText, bundleOf, certificatesIn } from "./authorities.ts";
import {
  type Bundle,
  CertificateStep,
  isPublished,
  isServable,
  type Look,
  nextStep,
  unknownAuthorities,
} from "./decide.ts";
import { NO_SIGHTINGS, sighted } from "./sightings.ts";
import { CERTIFICATE_TIMES as TIMES } from "./times.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.UTC(2030, 0, 1);

const authorityAt = (nowMs: number) =>
  makeAuthority({ notBeforeMs: nowMs - TIMES.backDateMs, notAfterMs: nowMs + TIMES.authorityMs });
const state = async (more: Partial<Authorities> = {}): Promise<Authorities> => ({
  current: await authorityAt(START),
  next: undefined,
  retired: [],
  ...more,
});
const leafOf = async (authorities: Authorities, nowMs: number) =>
  certificateFacts(
    (await makeLeaf(authorities.current, ["svc"], {
      notBeforeMs: nowMs - TIMES.backDateMs,
      notAfterMs: nowMs + TIMES.leafMs,
    })).cert,
  );
const published = (pem: string | undefined, target = "crd"): Bundle => ({ target, pem, hasPath: true });
const look = (authorities: Authorities | undefined, more: Partial<Look> = {}): Look => ({
  signer: more.leaf === undefined ? undefined : authorities?.current.certificate,
  lingering: [],
  nowMs: START,
  authorities,
  bundles: authorities === undefined ? [] : [published(bundleOf(authorities, START))],
  leaf: undefined,
  names: ["svc"],
  settledSinceMs: undefined,
  ...more,
});
const tagOf = (item: Look) => nextStep(item, TIMES)?._tag;

Deno.test("nextStep() makes an authority where there is none, and trusts those that were published", async () => {
  strictEqual(tagOf(look(undefined)), "CreateAuthority");
  const old = await state();
  const foreign = (await makeLeaf(old.current, ["x"], { notBeforeMs: START, notAfterMs: START + DAY })).cert;
  const pem = `${old.current.certificate}${foreign}no certificate`;
  const step = nextStep(look(undefined, { bundles: [published(pem), published(pem, "webhook")] }), TIMES);
  ok(step?._tag === "CreateAuthority");
  deepStrictEqual(step.retired, [{ certificate: old.current.certificate, sinceMs: START }]);
});

Deno.test("nextStep() serves first, then publishes to each object that does not trust what it should", async () => {
  const authorities = await state();
  strictEqual(tagOf(look(authorities)), "IssueLeaf");
  const leaf = await leafOf(authorities, START);
  const emptied = look(authorities, { leaf, bundles: [published(undefined)] });
  deepStrictEqual(
    nextStep(emptied, TIMES),
    CertificateStep.Publish({ target: "crd", pem: bundleOf(authorities, START) }),
  );
  strictEqual(isServable(emptied), false);
  strictEqual(tagOf(look(authorities, { leaf })), undefined);
  strictEqual(isServable(look(authorities, { leaf })), true);
});

Deno.test("nextStep() trusts a bounded number of authorities, the newest, however often the Secret is lost", async () => {
  let [pem, last] = ["", ""];
  let retired: Authorities["retired"] = [];
  for (let lost = 0; lost < 40; lost++) {
    const nowMs = START + lost * 1000;
    const step = nextStep(look(undefined, { nowMs, bundles: [published(pem)] }), TIMES);
    ok(step?._tag === "CreateAuthority");
    retired = step.retired;
    if (lost > 0) ok(retired.some(({ certificate }) => certificate.trim() === last.trim()));
    const current = await authorityAt(nowMs);
    last = current.certificate;
    pem = bundleOf({ current, next: undefined, retired }, nowMs);
  }
  strictEqual(retired.length, 16);
});

Deno.test("nextStep() keeps trust in what is served where a new Secret has another path", async () => {
  const old = await state();
  const [leaf, signer] = [await leafOf(old, START), old.current.certificate];
  const bundles = [{ target: "crd", pem: bundleOf(old, START), hasPath: false }];
  const step = nextStep(look(undefined, { leaf, signer, bundles }), TIMES);
  ok(step?._tag === "CreateAuthority");
  deepStrictEqual(step.retired, [{ certificate: signer, sinceMs: START }]);
  const lost = look(await state({ retired: step.retired }), { leaf, signer, bundles });
  strictEqual(isServable(lost), true, "a call of the former path is answered");
  const next = nextStep(lost, TIMES);
  ok(next?._tag === "Publish" && next.pem.includes(signer.trim()));
  strictEqual(tagOf(look(old, { leaf, bundles })), "Publish", "the path alone is published too");
});

Deno.test("nextStep() keeps trust in what is served where the Secret is replaced by an older one", async () => {
  const [older, newer] = [await state(), await state()];
  const [leaf, signer] = [await leafOf(newer, START), newer.current.certificate];
  const bundles = [published(bundleOf(newer, START)), published(undefined, "webhook")];
  const step = nextStep(look(older, { leaf, signer, bundles }), TIMES);
  ok(step?._tag === "Write");
  deepStrictEqual(step.authorities, { ...older, retired: [{ certificate: signer, sinceMs: START }] });
  strictEqual(tagOf(look(step.authorities, { leaf, signer, bundles })), "Publish");
  const after = [published(bundleOf(step.authorities, START))];
  strictEqual(
    tagOf(look(step.authorities, { leaf, signer, bundles: after })),
    undefined,
    "not before the API servers had time",
  );
  const settled = { leaf, signer, bundles: after, settledSinceMs: START - TIMES.settleMs };
  strictEqual(tagOf(look(step.authorities, settled)), "IssueLeaf");
  // Trusted nowhere any more, it comes back all the same: another certificate would be trusted as late.
  strictEqual(tagOf(look(older, { leaf, signer })), "Write");
});

Deno.test("nextStep() publishes an authority of another replica for a while, until that one writes it into the Secret", async () => {
  const [older, newer] = [await state(), await state()];
  // A replica that has just started knows the restored Secret alone.
  const leaf = await leafOf(older, START);
  const bundles = [published(bundleOf(newer, START)), published(bundleOf(newer, START), "webhook")];
  const lingering = unknownAuthorities({ authorities: older, bundles, nowMs: START });
  deepStrictEqual(lingering.map((text) => text.trim()), [newer.current.certificate.trim()]);
  const step = nextStep(look(older, { leaf, bundles, lingering }), TIMES);
  ok(step?._tag === "Publish");
  deepStrictEqual(certificatesIn(step.pem).length, 2);
  const after = [published(step.pem), published(step.pem, "webhook")];
  strictEqual(tagOf(look(older, { leaf, bundles: after, lingering })), undefined);
  const over = nextStep(look(older, { leaf, bundles: after }), TIMES);
  deepStrictEqual(over, CertificateStep.Publish({ target: "crd", pem: bundleOf(older, START) }));
  // Once it is gone it is not missed, whatever another replica remembers.
  strictEqual(tagOf(look(older, { leaf, lingering })), undefined);
});

Deno.test("nextStep() repairs a bundle that Go's parser reads differently or not at all", async () => {
  const authorities = await state({
    retired: [{ certificate: (await authorityAt(START)).certificate, sinceMs: START }],
  });
  const leaf = await leafOf(authorities, START);
  const pem = bundleOf(authorities, START);
  const [first = "", second = ""] = certificatesIn(pem);
  const damaged = [
    ` ${pem}`,
    `x${pem}`,
    `${pem}-----BEGIN CERTIFICATE-----\nAAAA\n`,
    first.trim() + second,
    `${pem}# remark\n`,
    `${pem}${first.replace(/[A-Za-z0-9]{8}/, "AAAAAAAA")}`,
  ];
  for (const text of damaged) {
    const seen = look(authorities, { leaf, bundles: [published(text)] });
    strictEqual(tagOf(seen), "Publish", text);
  }
  strictEqual(isServable(look(authorities, { leaf, bundles: [published(` ${pem}`)] })), false);
  strictEqual(tagOf(look(authorities, { leaf, bundles: [published(`\n${second}\n${first}`)] })), undefined);
});

Deno.test("nextStep() renews a certificate after two thirds, or when it is not valid, or lacks a name", async () => {
  const authorities = await state();
  const leaf = await leafOf(authorities, START);
  const at = (nowMs: number, more: Partial<Look> = {}) => tagOf(look(authorities, { leaf, nowMs, ...more }));
  strictEqual(at(START + TIMES.leafMs * 0.6), undefined);
  strictEqual(at(START + TIMES.leafMs * 0.7), "IssueLeaf");
  strictEqual(at(START + TIMES.leafMs * 2), "IssueLeaf");
  strictEqual(at(START, { names: ["svc", "other"] }), "IssueLeaf");
});

Deno.test("nextStep() lets a successor be trusted before it signs, and its predecessor after", async () => {
  const authorities = await state();
  const late = START + TIMES.authorityMs * 0.7;
  const leaf = await leafOf(authorities, late);
  strictEqual(tagOf(look(authorities, { leaf, nowMs: late })), "MakeSuccessor");
  const next = { ...await authorityAt(late), sinceMs: late };
  const waiting = { ...authorities, next };
  const bundles = [published(bundleOf(waiting, late))];
  strictEqual(tagOf(look(waiting, { leaf, nowMs: late, bundles: [published("")] })), "Publish");
  strictEqual(tagOf(look(waiting, { leaf, nowMs: late + TIMES.overlapMs - 1, bundles })), undefined);
  const promoted = nextStep(look(waiting, { leaf, nowMs: late + TIMES.overlapMs, bundles }), TIMES);
  ok(promoted?._tag === "Write");
  strictEqual(promoted.authorities.current.certificate, next.certificate);
  const after = look(promoted.authorities, { leaf, nowMs: late + TIMES.overlapMs, bundles });
  strictEqual(tagOf(after), undefined, "not before the API servers had time");
  const settled = { ...after, settledSinceMs: after.nowMs - TIMES.settleMs };
  strictEqual(tagOf(settled), "IssueLeaf");
  const fresh = await leafOf(promoted.authorities, late);
  const end = late + TIMES.overlapMs + TIMES.leafMs + TIMES.graceMs;
  const forgotten = nextStep(
    look(promoted.authorities, { leaf: await leafOf(promoted.authorities, end), nowMs: end, bundles }),
    TIMES,
  );
  ok(forgotten?._tag === "Write" && forgotten.authorities.retired.length === 0);
  ok(fresh !== undefined);
});

Deno.test("nextStep() recovers when the CA has expired, or its maker's clock was wrong", async () => {
  const authorities = await state();
  const end = START + TIMES.authorityMs;
  strictEqual(tagOf(look(authorities, { nowMs: end })), "CreateAuthority");
  strictEqual(tagOf(look(authorities, { nowMs: START - DAY })), "CreateAuthority");
  const next = { ...await authorityAt(end - DAY), sinceMs: end + 10 * DAY };
  strictEqual(tagOf(look({ ...authorities, next }, { nowMs: end })), "Write");
});

Deno.test("authoritiesIn() reads what was written and nothing else", async () => {
  const authorities = await state({ next: { ...await authorityAt(START), sinceMs: 5 } });
  const text = authoritiesText({
    ...authorities,
    retired: [{ certificate: authorities.current.certificate, sinceMs: 1 }],
  });
  deepStrictEqual(authoritiesText(authoritiesIn(text) ?? authorities), text);
  const { certificate, key } = authorities.current;
  const odd = [[`# \u4e2d\n${certificate}`, key], [certificate, `\u4e2d${key}`], [`${certificate}${certificate}`, key]]
    .map(([certificate, key]) => JSON.stringify({ current: { certificate, key }, retired: [] }));
  for (const wrong of [...odd, undefined, "", "{}", "[]", text.slice(1), text.replaceAll("BEGIN CERT", "BEGIN C")]) {
    strictEqual(authoritiesIn(wrong), undefined);
  }
  ok(
    isPublished(
      published(certificatesIn(bundleOf(authorities, START)).toReversed().join("\n\n")),
      bundleOf(authorities, START),
    ),
  );
});

/**
 * Two years of two replicas that run at random times with clocks up to four minutes apart, that crash between any two
 * steps, and whose Secret is lost now and then. Every bundle always trusts the certificates that a replica serves.
 */
for (const seed of Deno.env.has("PROPERTY_RUNS") ? [1, 2, 3, 4] : [1]) {
  Deno.test(`nextStep() never serves what is not trusted, in two years of two replicas (seed ${seed})`, async () => {
    const chance = randomFrom(seed);
    let secret: string | undefined;
    const bundles = new Map(["crd", "webhook"].map((target) => [target, published(undefined, target)]));
    const replicas = [0, 1].map(() => ({
      skewMs: (chance() - 0.5) * 8 * MINUTE,
      leaf: undefined as ReturnType<typeof certificateFacts>,
      signer: undefined as string | undefined,
      sightings: NO_SIGHTINGS,
    }));
    const signers = new Set<string>();
    let [trueMs, lost] = [START, 0];
    while (trueMs < START + 2 * 365 * DAY) {
      trueMs += 20 * MINUTE + chance() * 3 * DAY;
      if (chance() < 0.02) {
        secret = chance() < 0.5 ? undefined : "corrupted";
        // The path was in the Secret as well.
        for (const [target, { pem }] of bundles) bundles.set(target, { target, pem, hasPath: false });
        lost++;
      }
      // Both look several times before a long pause, as they do every few seconds.
      for (let turn = 0; turn < 8; turn++) {
        trueMs += 5 * MINUTE;
        const replica = replicas[chance() < 0.5 ? 0 : 1];
        if (replica === undefined) continue;
        const crashAfter = chance() < 0.1 ? Math.floor(chance() * 3) : 20;
        for (let done = 0; done <= crashAfter; done++) {
          const nowMs = trueMs + replica.skewMs;
          const authorities = authoritiesIn(secret);
          const seen = { authorities, bundles: [...bundles.values()], nowMs };
          const { sightings, lingering, settledSinceMs } = sighted(replica.sightings, seen, TIMES);
          replica.sightings = sightings;
          const step = nextStep({
            ...seen,
            leaf: replica.leaf,
            signer: replica.signer,
            lingering,
            names: ["svc"],
            settledSinceMs,
          }, TIMES);
          if (step === undefined) break;
          ok(done < 20, `no end: ${step._tag}`);
          if (step._tag === "Publish") bundles.set(step.target, published(step.pem, step.target));
          if (step._tag === "Write") secret = authoritiesText(step.authorities);
          if (step._tag === "MakeSuccessor") {
            secret = authoritiesText({ ...step.from, next: { ...await authorityAt(nowMs), sinceMs: nowMs } });
          }
          if (step._tag === "CreateAuthority") {
            secret = authoritiesText({ current: await authorityAt(nowMs), next: undefined, retired: step.retired });
          }
          if (step._tag === "IssueLeaf") {
            replica.signer = step.signer.certificate;
            replica.leaf = certificateFacts((await makeLeaf(step.signer, ["svc"], step)).cert);
            signers.add(replica.leaf?.issuer ?? "");
          }
        }
        if (crashAfter < 20) [replica.leaf, replica.signer, replica.sightings] = [undefined, undefined, NO_SIGHTINGS];
        for (const { leaf } of replicas) {
          if (leaf === undefined || [...bundles.values()].some(({ pem }) => pem === undefined)) continue;
          for (const { target, pem } of bundles.values()) {
            const issuers = certificatesIn(pem ?? "").map((text) => certificateFacts(text)?.subject);
            ok(issuers.includes(leaf.issuer), `${target} does not trust what is served`);
          }
        }
      }
    }
    ok(signers.size >= 3 && lost > 0, `${signers.size} authorities, ${lost} losses`);
  });
}

/** The same numbers for the same seed. */
const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return ((state ^ state >>> 13) >>> 0) / 2 ** 32;
  };
};
