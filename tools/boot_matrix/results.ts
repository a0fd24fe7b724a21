/** The results of the boots, as stored between runs. */
import type { Cell, Outcome } from "./cell.ts";
import type { TypeOutcome } from "./provider_types.ts";

interface Seen {
  /** The package that really ran, e.g. `ogx 1.0.4`. */
  readonly server: string;
  /** Day of the boot. */
  readonly date: string;
}

export interface BootedCell extends Cell, Seen {
  readonly outcome: Outcome;
}

export interface BootedType extends Seen {
  readonly minor: string;
  readonly type: string;
  readonly outcome: TypeOutcome;
}

/** A distribution without a name, with the sqlite stores of its own base config. */
export interface BootedShipped extends Seen {
  readonly minor: string;
  readonly distribution: string;
  readonly fixes: readonly string[];
  readonly outcome: Outcome;
}

export interface Boots {
  readonly cells: Array<BootedCell>;
  readonly types: Array<BootedType>;
  readonly shipped: Array<BootedShipped>;
}

export const readBoots = async (file: URL): Promise<Boots> => {
  try {
    const kept = JSON.parse(await Deno.readTextFile(file)) as Partial<Boots>;
    return { cells: kept.cells ?? [], types: kept.types ?? [], shipped: kept.shipped ?? [] };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { cells: [], types: [], shipped: [] };
    throw error;
  }
};

/** Newer rows replace older ones of the same place; sorted, so that a new run changes only what changed. */
export const merged = (before: Boots, fresh: Boots): Boots => ({
  cells: laid(before.cells, fresh.cells, ({ minor, distribution, storage }) => `${minor} ${distribution} ${storage}`),
  shipped: laid(before.shipped, fresh.shipped, ({ minor, distribution }) => `${minor} ${distribution}`),
  types: laid(before.types, fresh.types, ({ minor, type }) => `${minor} ${type}`),
});

const laid = <A>(before: readonly A[], fresh: readonly A[], keyOf: (row: A) => string): Array<A> => {
  const byKey = new Map([...before, ...fresh].map((row) => [keyOf(row), row]));
  return [...byKey].sort(([a], [b]) => a < b ? -1 : 1).map(([, row]) => row);
};
