/** What is wrong with an object, counted before it becomes errors. */
import type { FieldPath } from "../data/field_path.ts";
import { FINDINGS_MAX } from "../data/limits.ts";
import { SchemaMismatch } from "../failure/failures.ts";

/** The first findings, and the number of the others: a hostile object has a hundred thousand, and an error costs its stack trace. */
export interface Findings<A> {
  readonly found: ReadonlyArray<A>;
  readonly more: number;
}

export const NO_FINDINGS: Findings<never> = { found: [], more: 0 };

export const firstOf = <A, B>(all: ReadonlyArray<A>, made: (item: A) => B): Findings<B> => ({
  found: all.slice(0, FINDINGS_MAX).map(made),
  more: Math.max(0, all.length - FINDINGS_MAX),
});

export const mismatchOf = ({ path, detail }: { readonly path: FieldPath; readonly detail: string }): SchemaMismatch =>
  new SchemaMismatch({ path, detail });

/** One list of the first of them all. */
export const bounded = <A>(
  groups: ReadonlyArray<Findings<A>>,
): ReadonlyArray<A | SchemaMismatch> => {
  const all = groups.flatMap(({ found }) => found);
  const shown = all.slice(0, FINDINGS_MAX);
  const rest = groups.reduce((sum, { more }) => sum + more, all.length - shown.length);
  return rest === 0 ? shown : [...shown, new SchemaMismatch({ path: ["spec"], detail: `${rest} more errors` })];
};
