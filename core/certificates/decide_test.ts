import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { certificateFacts } from "../data/digest.ts";
import { type Authority, authorityIn, authorityText, certificatesIn } from "./authority.ts";
import { type Bundle, CertificateStep, isServable, type Look, nextStep, type Settled, settledAfter } from "./decide.ts";
import { CERTIFICATE_TIMES as TIMES } from "./times.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.UTC(2030, 0, 1);

const authorityAt = (nowMs: number, notBeforeMs = nowMs - TIMES.backDateMs) =>
  makeAuthority({ notBeforeMs, notAfterMs: nowMs + TIMES.authorityMs });
const leafOf = async (authority: Authority, nowMs: number) =>
  certificateFacts(
    (await makeLeaf(authority, ["svc"], { notBeforeMs: nowMs - TIMES.backDateMs, notAfterMs: nowMs + TIMES.leafMs }))
      .cert,
  );
const pemOf = (...authorities: ReadonlyArray<Authority>) => authorities.map(({ certificate }) => certificate).join("");
const published = (pem: string | undefined, target = "crd"): Bundle => ({ target, pem, hasPath: true });
const settledOn = ({ certificate }: Authority, sinceMs: number): Settled => ({
  fingerprint: certificateFacts(certificate)?.fingerprint ?? "",
  sinceMs,
});
const look = (authority: Authority | undefined, more: Partial<Look> = {}): Look => ({
  signer: more.leaf === undefined ? undefined : authority?.certificate,
  nowMs: START,
  authority,
  bundles: authority === undefined ? [] : [published(pemOf(authority))],
  leaf: undefined,
  names: ["svc"],
  settled: undefined,
  ...more,
});
const tagOf = (item: Look) => nextStep(item, TIMES)?._tag;

Deno.test("nextStep() makes an authority where there is none, and publishes it before it serves", async () => {
  strictEqual(tagOf(look(undefined)), "CreateAuthority");
  const authority = await authorityAt(START);
  strictEqual(tagOf(look(authority, { bundles: [published(undefined)] })), "Publish");
  strictEqual(tagOf(look(authority)), "IssueLeaf");
  const leaf = await leafOf(authority, START);
  const emptied = look(authority, { leaf, bundles: [published(undefined)] });
  deepStrictEqual(nextStep(emptied, TIMES), CertificateStep.Publish({ target: "crd", pem: pemOf(authority) }));
  strictEqual(isServable(emptied), false);
  strictEqual(tagOf(look(authority, { leaf })), undefined);
  strictEqual(isServable(look(authority, { leaf })), true);
});

Deno.test("nextStep() keeps the operator's authorities that were published, and nothing else, while one is new", async () => {
  const [former, authority] = [await authorityAt(START - MINUTE), await authorityAt(START)];
  const foreign = (await makeLeaf(former, ["x"], { notBeforeMs: START, notAfterMs: START + DAY })).cert;
  const bundles = [published(`${pemOf(former)}${foreign}no certificate`), published(pemOf(former), "webhook")];
  const leaf = await leafOf(authority, START);
  const at = (nowMs: number) => nextStep(look(authority, { leaf, bundles, nowMs }), TIMES);
  deepStrictEqual(at(START), CertificateStep.Publish({ target: "crd", pem: pemOf(authority, former) }));
  const both = [published(pemOf(authority, former))];
  strictEqual(tagOf(look(authority, { leaf, bundles: both })), undefined);
  const later = START + TIMES.formerMs;
  deepStrictEqual(
    nextStep(look(authority, { leaf: await leafOf(authority, later), bundles: both, nowMs: later }), TIMES),
    CertificateStep.Publish({ target: "crd", pem: pemOf(authority) }),
    "nothing that the former one signed is valid",
  );
});

Deno.test("nextStep() trusts a bounded number of authorities, the newest, however often the Secret is lost", async () => {
  let [pem, last] = ["", ""];
  for (let lost = 0; lost < 40; lost++) {
    const nowMs = START + lost * 1000;
    const step = nextStep(look(undefined, { nowMs, bundles: [published(pem)] }), TIMES);
    ok(step?._tag === "CreateAuthority");
    const authority = await authorityAt(nowMs, step.notBeforeMs);
    const leaf = await leafOf(authority, nowMs);
    const after = nextStep(look(authority, { nowMs, leaf, bundles: [published(pem)] }), TIMES);
    ok(after?._tag === "Publish");
    ok(after.pem.includes(last), "the one before is trusted");
    last = authority.certificate.trim();
    pem = after.pem;
  }
  strictEqual(certificatesIn(pem).length, 16);
});

Deno.test("nextStep() keeps trust in what is served where a new Secret has another path", async () => {
  const [former, authority] = [await authorityAt(START - MINUTE), await authorityAt(START)];
  const [leaf, signer] = [await leafOf(former, START), former.certificate];
  const bundles = [{ target: "crd", pem: pemOf(former), hasPath: false }];
  const lost = look(authority, { leaf, signer, bundles });
  strictEqual(isServable(lost), true, "a call of the former path is answered");
  const next = nextStep(lost, TIMES);
  ok(next?._tag === "Publish" && next.pem.includes(signer.trim()));
  strictEqual(tagOf(look(former, { leaf, bundles })), "Publish", "the path alone is published too");
});

Deno.test("nextStep() serves under another authority only after the API servers had time to trust it", async () => {
  const [former, authority] = [await authorityAt(START - MINUTE), await authorityAt(START)];
  const [leaf, signer] = [await leafOf(former, START), former.certificate];
  const bundles = [published(pemOf(authority, former))];
  const at = (settled: Settled | undefined) => tagOf(look(authority, { leaf, signer, bundles, settled }));
  strictEqual(at(undefined), undefined);
  strictEqual(at(settledOn(authority, START - TIMES.settleMs + 1)), undefined);
  strictEqual(at(settledOn(former, START - TIMES.settleMs)), undefined, "it waited for another one");
  strictEqual(at(settledOn(authority, START - TIMES.settleMs)), "IssueLeaf");
  // What it serves under comes back, if somebody took it out.
  strictEqual(tagOf(look(authority, { leaf, signer })), "Publish");
});

Deno.test("settledAfter() counts from the first look at which every bundle trusts the authority", async () => {
  const [former, authority] = [await authorityAt(START - MINUTE), await authorityAt(START)];
  const both = [published(pemOf(former, authority)), published(pemOf(authority), "webhook")];
  const one = [published(pemOf(authority)), published(pemOf(former), "webhook")];
  const first = settledAfter(undefined, { authority, bundles: both, nowMs: START });
  deepStrictEqual(first, settledOn(authority, START));
  deepStrictEqual(settledAfter(first, { authority, bundles: both, nowMs: START + 5 }), first);
  strictEqual(settledAfter(first, { authority, bundles: one, nowMs: START + 5 }), undefined);
  strictEqual(settledAfter(first, { authority: undefined, bundles: both, nowMs: START + 5 }), undefined);
  deepStrictEqual(
    settledAfter(first, { authority: former, bundles: [published(pemOf(former))], nowMs: START + 5 }),
    settledOn(former, START + 5),
  );
});

Deno.test("nextStep() makes another authority where the Secret is replaced by an older one, by a backup", async () => {
  const [older, newer] = [await authorityAt(START - 30 * DAY), await authorityAt(START - 20 * DAY)];
  // Two replicas: one serves under the newer authority, one has just started.
  for (const leaf of [await leafOf(newer, START), undefined]) {
    const bundles = [published(pemOf(newer)), published(pemOf(newer), "webhook")];
    const step = nextStep(look(older, { leaf, signer: leaf && newer.certificate, bundles }), TIMES);
    ok(step?._tag === "CreateAuthority");
    const made = await authorityAt(START, step.notBeforeMs);
    const after = look(made, { leaf: await leafOf(made, START), bundles });
    deepStrictEqual(nextStep(after, TIMES), CertificateStep.Publish({ target: "crd", pem: pemOf(made, newer) }));
  }
});

Deno.test("nextStep() makes one authority, not many, where the clock of a replica is ahead or somebody publishes one", async () => {
  for (const aheadMs of [4 * MINUTE, 40 * MINUTE]) {
    const ahead = await authorityAt(START + aheadMs);
    const bundles = [published(pemOf(ahead))];
    const step = nextStep(look(undefined, { bundles }), TIMES);
    ok(step?._tag === "CreateAuthority" && step.notBeforeMs <= START);
    const made = await authorityAt(START, step.notBeforeMs);
    const after = look(made, { leaf: await leafOf(made, START), bundles: [published(pemOf(made, ahead))] });
    strictEqual(tagOf(after), undefined, `${aheadMs} ms`);
  }
});

Deno.test("nextStep() repairs a bundle that Go's parser reads differently or not at all", async () => {
  const [authority, former] = [await authorityAt(START), await authorityAt(START - MINUTE)];
  const leaf = await leafOf(authority, START);
  const pem = pemOf(authority, former);
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
    const seen = look(authority, { leaf, bundles: [published(text)] });
    strictEqual(tagOf(seen), "Publish", text);
  }
  strictEqual(isServable(look(authority, { leaf, bundles: [published(` ${pem}`)] })), false);
  strictEqual(tagOf(look(authority, { leaf, bundles: [published(`\n${second}\n${first}`)] })), undefined);
});

Deno.test("nextStep() renews a certificate after two thirds, or when it is not valid, or lacks a name", async () => {
  const authority = await authorityAt(START);
  const leaf = await leafOf(authority, START);
  const settled = settledOn(authority, START - DAY);
  const at = (nowMs: number, more: Partial<Look> = {}) => tagOf(look(authority, { leaf, nowMs, settled, ...more }));
  strictEqual(at(START + TIMES.leafMs * 0.6), undefined);
  strictEqual(at(START + TIMES.leafMs * 0.7), "IssueLeaf");
  strictEqual(at(START + TIMES.leafMs * 2, { settled: undefined }), "IssueLeaf");
  strictEqual(at(START, { names: ["svc", "other"] }), "IssueLeaf");
});

Deno.test("nextStep() makes the next authority after two thirds, with an authority that is trusted and served", async () => {
  const authority = await authorityAt(START);
  const late = START + TIMES.authorityMs * 0.7;
  const leaf = await leafOf(authority, late);
  strictEqual(tagOf(look(authority, { nowMs: late })), "IssueLeaf");
  strictEqual(tagOf(look(authority, { leaf, nowMs: late, bundles: [published("")] })), "Publish");
  const step = nextStep(look(authority, { leaf, nowMs: late }), TIMES);
  ok(step?._tag === "CreateAuthority" && step.isPlanned);
});

Deno.test("nextStep() recovers when the CA has expired, or its maker's clock was wrong", async () => {
  const authority = await authorityAt(START);
  for (const nowMs of [START + TIMES.authorityMs, START - DAY]) {
    const step = nextStep(look(authority, { nowMs }), TIMES);
    ok(step?._tag === "CreateAuthority" && !step.isPlanned);
    const made = await authorityAt(nowMs, step.notBeforeMs);
    strictEqual(tagOf(look(made, { nowMs, bundles: [published(pemOf(authority))] })), "Publish");
    strictEqual(tagOf(look(made, { nowMs })), "IssueLeaf");
  }
});

Deno.test("authorityIn() reads what was written and nothing else", async () => {
  const authority = await authorityAt(START);
  const text = authorityText(authority);
  deepStrictEqual(authorityIn(text), authority);
  const { certificate, key } = authority;
  const odd = [[`# \u4e2d\n${certificate}`, key], [certificate, `\u4e2d${key}`], [`${certificate}${certificate}`, key]]
    .map(([certificate, key]) => JSON.stringify({ current: { certificate, key } }));
  for (const wrong of [...odd, undefined, "", "{}", "[]", text.slice(1), text.replaceAll("BEGIN CERT", "BEGIN C")]) {
    strictEqual(authorityIn(wrong), undefined);
  }
});

/**
 * Two years of two replicas that run at random times with clocks up to four minutes apart, that crash between any two
 * steps, and whose Secret is lost or replaced by an older one now and then. Every bundle always trusts the certificates
 * that a replica serves.
 */
for (const seed of Deno.env.has("PROPERTY_RUNS") ? [1, 2, 3, 4] : [1]) {
  Deno.test(`nextStep() never serves what is not trusted, in two years of two replicas (seed ${seed})`, async () => {
    const chance = randomFrom(seed);
    let [secret, backup]: [string | undefined, string | undefined] = [undefined, undefined];
    const bundles = new Map(["crd", "webhook"].map((target) => [target, published(undefined, target)]));
    const replicas = [0, 1].map(() => ({
      skewMs: (chance() - 0.5) * 8 * MINUTE,
      leaf: undefined as ReturnType<typeof certificateFacts>,
      signer: undefined as string | undefined,
      settled: undefined as Settled | undefined,
    }));
    const signers = new Set<string>();
    let [trueMs, lost] = [START, 0];
    while (trueMs < START + 2 * 365 * DAY) {
      trueMs += 20 * MINUTE + chance() * 3 * DAY;
      if (chance() < 0.02) {
        secret = [undefined, "corrupted", backup][Math.floor(chance() * 3)];
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
          const seen = { authority: authorityIn(secret), bundles: [...bundles.values()], nowMs };
          replica.settled = settledAfter(replica.settled, seen);
          const step = nextStep({ ...seen, ...replica, names: ["svc"] }, TIMES);
          if (step === undefined) break;
          ok(done < 20, `no end: ${step._tag}`);
          if (step._tag === "Publish") bundles.set(step.target, published(step.pem, step.target));
          if (step._tag === "CreateAuthority") {
            if (secret !== undefined) backup = secret;
            secret = authorityText(await authorityAt(nowMs, step.notBeforeMs));
          }
          if (step._tag === "IssueLeaf") {
            replica.signer = step.signer.certificate;
            replica.leaf = certificateFacts((await makeLeaf(step.signer, ["svc"], step)).cert);
            signers.add(replica.leaf?.issuer ?? "");
          }
        }
        if (crashAfter < 20) [replica.leaf, replica.signer, replica.settled] = [undefined, undefined, undefined];
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
