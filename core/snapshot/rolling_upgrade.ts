/** A resource whose server is being upgraded to another image or base config of the operator, or was. */
export interface RollingUpgrade {
  /** `namespace/name` of the resource. */
  readonly key: string;
  /** Resources of one distribution wait in one queue. */
  readonly queue: string;
  /** Digest of the image and base that it rolls to. */
  readonly pins: string;
  /** Only one that is rolling holds a slot. */
  readonly state: "rolling" | "failed" | "complete";
  /** When it stops holding a slot, in milliseconds since 1970, even if it is still rolling. */
  readonly slotEndsMs: number;
}
