/** Fields that somebody else overwrites. */

/** A field of ours that somebody else changed. */
export interface ForeignField {
  /** `Kind name`. */
  readonly object: string;
  readonly field: string;
  /** Field manager, as the API server recorded it; empty where nobody owns the field, as after it was removed. */
  readonly manager: string;
}

/** A field that was overwritten again and again; `manager` is undefined where several managers do it by turns. */
export interface Contest extends Omit<ForeignField, "manager"> {
  readonly manager: string | undefined;
  /** Until when it is not repaired, in milliseconds since 1970; a time that is past: it was repaired, and may be overwritten again. */
  readonly heldUntilMs: number;
  /** When it is over, unless it is overwritten again; in milliseconds since 1970. */
  readonly overAtMs: number;
  /** Whether this is its first pause, which is announced. */
  readonly isNew: boolean;
}
