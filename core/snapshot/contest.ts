/** Fields that another manager overwrites. */

/** A field of the operator that another manager changed, or an object of the operator that does not stay. */
export interface ForeignField {
  /** `Kind name`. */
  readonly object: string;
  /** Empty: it is to be applied once more just as it was applied last, because it was deleted, or is not marked as applied. */
  readonly field: string;
  /** Field manager as recorded by the API server; empty if nobody owns the field, as after its removal. */
  readonly manager: string;
}

/**
 * The digest of each manifest that was applied last, by `Kind/name`, and of the pod template of a Deployment: of objects that
 * were written of late. A policy that removes annotations leaves no other trace of it.
 */
export type LastApplied = ReadonlyMap<string, string>;

/** A field that is repeatedly overwritten; `manager` is undefined if several managers alternate. */
export interface Contest extends Omit<ForeignField, "manager"> {
  readonly manager: string | undefined;
  /** Until when it is not repaired, in milliseconds since 1970; a time that is past: it was repaired, and may be overwritten again. */
  readonly heldUntilMs: number;
  /** When it is over, unless it is overwritten again; in milliseconds since 1970. */
  readonly overAtMs: number;
  /** Whether it has not been announced yet. */
  readonly isNew: boolean;
}
