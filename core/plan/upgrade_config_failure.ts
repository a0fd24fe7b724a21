import type { NonEmptyReadonlyArray } from "effect/Array";
import * as Data from "effect/Data";
import type { PreparationFailure } from "./prepare.ts";
import type { DataFailure } from "./stored_data/stored_data.ts";

/** What the operator itself contributes to the config of a resource. */
export interface OperatorInputs {
  /** Version of the operator; undefined where an older one recorded none. */
  readonly version: string | undefined;
  /** Digest of the image and base config of the distribution, as recorded; undefined where it is unknown. */
  readonly pins: string | undefined;
}

/**
 * The operator can no longer generate the config of a resource because its own version, its settings, the image or the
 * base config changed, and not because of an edit by the author.
 */
export class UpgradeConfigFailure extends Data.TaggedError("UpgradeConfigFailure")<{
  /** The inputs of the last valid config. */
  readonly from: OperatorInputs;
  readonly to: OperatorInputs;
  readonly causes: NonEmptyReadonlyArray<PreparationFailure | DataFailure>;
}> {
  get path() {
    return this.causes[0].path;
  }
  override get message(): string {
    const { from, to, causes } = this;
    const what = from.version === undefined || from.version === to.version
      ? "After a change of the operator's settings, of the image or of the base config, the operator cannot generate the config " +
        "of this resource"
      : `Operator ${to.version} cannot generate the config of this resource, which operator ${from.version} could generate`;
    return `${what}: ${causes.map(({ message }) => message).join("; ")}. The running Deployment is unchanged`;
  }
}
