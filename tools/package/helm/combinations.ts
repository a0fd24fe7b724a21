/** The choices that change more of the objects than a single value, and the template conditions that tell them apart. */
import type { Choices } from "../choices.ts";

/** A field for each value of the chart that objects depend on. */
export interface Combination {
  readonly webhooks: boolean;
  readonly certificates: Exclude<Choices["certificates"], "olm">;
  readonly secretPolling: boolean;
  /** Only some namespaces are watched. */
  readonly watched: boolean;
  /** The NetworkPolicy restricts egress, too. */
  readonly strict: boolean;
  /** `helm uninstall` leaves the CustomResourceDefinition. */
  readonly keep: boolean;
}

export const CERTIFICATES = ["self-managed", "cert-manager", "service-ca"] as const;

const BOTH = [false, true];

export const COMBINATIONS: ReadonlyArray<Combination> = BOTH.flatMap((webhooks) =>
  CERTIFICATES.flatMap((certificates) =>
    BOTH.flatMap((secretPolling) =>
      BOTH.flatMap((watched) =>
        BOTH.flatMap((strict) => BOTH.map((keep) => ({ webhooks, certificates, secretPolling, watched, strict, keep })))
      )
    )
  )
);

interface Literal {
  /** As an argument of `and` and `or` in a template. */
  readonly text: string;
  readonly holds: (combination: Combination) => boolean;
}

const flag = (field: Exclude<keyof Combination, "certificates">, value: string): ReadonlyArray<Literal> => [
  { text: `$.Values.${value}`, holds: (combination) => combination[field] },
  { text: `(not $.Values.${value})`, holds: (combination) => !combination[field] },
];

const LITERALS: ReadonlyArray<Literal> = [
  ...flag("webhooks", "webhooks.enabled"),
  ...flag("secretPolling", "secretPolling"),
  ...flag("watched", "watchNamespaces"),
  ...flag("strict", "networkPolicy.strict"),
  ...flag("keep", "crds.keep"),
  ...CERTIFICATES.flatMap((name): ReadonlyArray<Literal> => [
    {
      text: `(eq $.Values.webhooks.certificates "${name}")`,
      holds: ({ certificates }) => certificates === name,
    },
    {
      text: `(ne $.Values.webhooks.certificates "${name}")`,
      holds: ({ certificates }) => certificates !== name,
    },
  ]),
];

const joined = (ones: ReadonlyArray<Literal>, others: ReadonlyArray<Literal>): ReadonlyArray<Literal> =>
  (["and", "or"] as const).flatMap((word) =>
    ones.flatMap((one) =>
      others.map((other): Literal => ({
        text: `(${word} ${one.text} ${other.text})`,
        holds: word === "and"
          ? (combination) => one.holds(combination) && other.holds(combination)
          : (combination) => one.holds(combination) || other.holds(combination),
      }))
    )
  );

const PAIRS = joined(LITERALS, LITERALS);

/** The shortest first. */
const CANDIDATES: ReadonlyArray<Literal> = [...LITERALS, ...PAIRS, ...joined(LITERALS, PAIRS)];

/**
 * The condition that, `within` being given, is true for exactly the combinations of `holding`; undefined if it is always
 * true.
 */
export const conditionFor = (
  within: ReadonlyArray<Combination>,
  holding: ReadonlyArray<Combination>,
): string | undefined => {
  if (within.length === holding.length) return undefined;
  const wanted = new Set(holding);
  const found = CANDIDATES.find(({ holds }) => within.every((item) => holds(item) === wanted.has(item)));
  if (found === undefined) {
    throw new Error(`No condition of three values tells ${holding.length} combinations from ${within.length}`);
  }
  return found.text.replace(/^\((.*)\)$/, "$1");
};
