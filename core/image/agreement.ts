/** One config for all architectures of an image: a pod may be scheduled to a node of any of them. */
import * as Data from "effect/Data";
import * as Result from "effect/Result";

export interface ConfigText {
  readonly file: string;
  readonly text: string;
  readonly serverVersion: string | undefined;
}

export interface PlatformConfig {
  readonly architecture: string;
  /** Undefined: its labels name none. */
  readonly config: ConfigText | undefined;
}

export class PlatformsDiffer extends Data.TaggedError("PlatformsDiffer")<{
  readonly architectures: readonly [string, string];
}> {
  override get message(): string {
    return `the configs of the architectures ${this.architectures.join(" and ")} of the image differ`;
  }
}

export const agreed = (
  platforms: ReadonlyArray<PlatformConfig>,
): Result.Result<ConfigText | undefined, PlatformsDiffer> => {
  const [first, ...others] = platforms;
  const different = others.find(({ config }) =>
    config?.text !== first?.config?.text || config?.file !== first?.config?.file ||
    config?.serverVersion !== first?.config?.serverVersion
  );
  return first !== undefined && different !== undefined
    ? Result.fail(new PlatformsDiffer({ architectures: [first.architecture, different.architecture] }))
    : Result.succeed(first?.config);
};
