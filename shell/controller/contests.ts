/** How often fields of each resource's objects, or whole objects, were overwritten of late, and until when they are not repaired because it is in vain. */
import * as Context from "effect/Context";
import type { Contest, ForeignField, LastApplied } from "../../core/snapshot/contest.ts";
import {
  APPLIED_OBJECTS_MAX,
  APPLIED_RESOURCES_MAX,
  CONTEST_FIELDS_MAX,
  CONTEST_OVER_MS,
  CONTEST_OVERWRITES,
  CONTEST_OVERWRITES_OF_ANYBODY,
  CONTEST_PAUSE_MS_MAX,
  CONTEST_PAUSE_MS_MIN,
  CONTEST_WINDOW_MS,
} from "../limits.ts";

export interface ContestedFields {
  /** Fields of the resource `key` that are to be repaired. Whether any of them waits from now on. */
  readonly overwritten: (key: string, fields: ReadonlyArray<ForeignField>, nowMs: number) => boolean;
  /** After their repair: what is seen of them next is another overwrite. */
  readonly repaired: (key: string, fields: ReadonlyArray<ForeignField>) => void;
  /** What was applied of the resource just now. */
  readonly applied: (key: string, manifests: LastApplied) => void;
  readonly lastApplied: (key: string) => LastApplied;
  /** With the report of a decision: their contests are announced. */
  readonly reported: (key: string) => void;
  readonly of: (key: string, nowMs: number) => ReadonlyArray<Contest>;
  readonly forget: (key: string) => void;
}

const NOTHING_APPLIED: LastApplied = new Map();

interface Count {
  readonly field: Omit<Contest, "heldUntilMs" | "overAtMs" | "isNew">;
  readonly atMs: ReadonlyArray<number>;
  readonly pauses: number;
  readonly heldUntilMs: number;
  /** The last overwrite that was counted was repaired since. */
  readonly isRepaired: boolean;
  readonly isAnnounced: boolean;
}

export const newContests = (): ContestedFields => {
  const known = new Map<string, Map<string, Count>>();
  // The resource that was written last comes last.
  const applied = new Map<string, LastApplied>();
  const countsOf = (key: string): Map<string, Count> => {
    const counts = known.get(key) ?? new Map<string, Count>();
    known.set(key, counts);
    return counts;
  };
  const isQuiet = ({ atMs, heldUntilMs }: Count, nowMs: number): boolean =>
    Math.max(atMs.at(-1) ?? 0, heldUntilMs) + CONTEST_WINDOW_MS <= nowMs;
  const count = (
    counts: Map<string, Count>,
    name: string,
    field: Count["field"],
    max: number,
    nowMs: number,
  ): boolean => {
    const found = counts.get(name);
    const before = found === undefined || isQuiet(found, nowMs) ? undefined : found;
    if (before?.isRepaired === false) return false;
    const atMs = [...before?.atMs ?? [], nowMs].filter((item) => nowMs - item < CONTEST_WINDOW_MS);
    // The first repair after a delay shows whether the contest is over.
    const goesOn = before !== undefined && before.pauses > 0;
    const isContested = goesOn || atMs.length >= max;
    const pauseMs = Math.min(CONTEST_PAUSE_MS_MIN * 2 ** (before?.pauses ?? 0), CONTEST_PAUSE_MS_MAX);
    counts.delete(name);
    counts.set(name, {
      field,
      atMs,
      pauses: isContested ? (before?.pauses ?? 0) + 1 : 0,
      heldUntilMs: isContested ? nowMs + pauseMs : 0,
      isRepaired: false,
      isAnnounced: goesOn && before.isAnnounced,
    });
    return isContested;
  };
  return {
    overwritten: (key, fields, nowMs) => {
      const counts = countsOf(key);
      const waiting = fields.map((field) => {
        const place = `${field.object} ${field.field}`;
        const byOne = count(counts, `${place} by ${field.manager}`, field, CONTEST_OVERWRITES, nowMs);
        const byAny = count(counts, place, { ...field, manager: undefined }, CONTEST_OVERWRITES_OF_ANYBODY, nowMs);
        return byOne || byAny;
      });
      for (const [name, one] of counts) {
        if (isQuiet(one, nowMs) || counts.size > 2 * CONTEST_FIELDS_MAX) counts.delete(name);
      }
      return waiting.includes(true);
    },
    repaired: (key, fields) => {
      const counts = countsOf(key);
      for (const { object, field, manager } of fields) {
        for (const name of [`${object} ${field} by ${manager}`, `${object} ${field}`]) {
          const found = counts.get(name);
          if (found !== undefined) counts.set(name, { ...found, isRepaired: true });
        }
      }
    },
    applied: (key, manifests) => {
      if (manifests.size === 0) return;
      const before = [...applied.get(key) ?? []].filter(([object]) => !manifests.has(object));
      applied.delete(key);
      applied.set(key, new Map([...before, ...manifests].slice(-APPLIED_OBJECTS_MAX)));
      const [oldest] = applied.keys();
      if (applied.size > APPLIED_RESOURCES_MAX && oldest !== undefined) applied.delete(oldest);
    },
    lastApplied: (key) => applied.get(key) ?? NOTHING_APPLIED,
    reported: (key) => {
      for (const [name, count] of known.get(key) ?? []) {
        if (count.pauses > 0) known.get(key)?.set(name, { ...count, isAnnounced: true });
      }
    },
    of: (key, nowMs) =>
      [...known.get(key)?.values() ?? []].filter((item) =>
        item.pauses > 0 && nowMs < item.heldUntilMs + CONTEST_OVER_MS
      )
        .map(({ field, heldUntilMs, isAnnounced }) => ({
          ...field,
          heldUntilMs,
          overAtMs: heldUntilMs + CONTEST_OVER_MS,
          isNew: !isAnnounced,
        })),
    forget: (key) => {
      known.delete(key);
      applied.delete(key);
    },
  };
};

/** Of one leader; a test process runs several. */
export class ContestsOf
  extends Context.Service<ContestsOf, ContestedFields>()("llama-stack-operator/shell/ContestsOf") {}
