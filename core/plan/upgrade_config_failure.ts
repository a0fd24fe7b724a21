import type { NonEmptyReadonlyArray } from "effect/Array";
import * as Data from "effect/Data";
import type { PreparationFailure } from "./prepare.ts";
import type { DataFailure } from "./stored_data/stored_data.ts";

/**
 * The operator can no longer generate the config of a resource because its own version, its settings, the image or the
 * base config changed, and not because of an edit by the author.
 */
export class UpgradeConfigFailure extends Data.TaggedError("UpgradeConfigFailure")<{
  /** Version of the operator that generated the last valid config; undefined where an older one recorded none. */
  readonly from: string | undefined;
  /** Of the operator that cannot. */
  readonly to: string;
  readonly causes: NonEmptyReadonlyArray<PreparationFailure | DataFailure>;
}> {
  get path() {
    return this.causes[0].path;
  }
  override get message(): string {
    const { from, to, causes } = this;
    const what = from === undefined || from === to
      ? "After a change of the operator's settings, of the image or of the base config, the operator cannot generate the config " +
        "of this resource"
      : `Operator ${to} cannot generate the config of this resource, which operator ${from} could generate`;
    return `${what}: ${causes.map(({ message }) => message).join("; ")}. The running Deployment is unchanged`;
  }
}
