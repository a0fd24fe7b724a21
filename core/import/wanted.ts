/** What is expressed as a resource. */
import type { Json, JsonObject } from "../data/json.ts";
import type { Read } from "./entries.ts";
import type { Variables } from "./variables.ts";

export interface Wanted {
  /** The config of the author. */
  readonly own: Read;
  /** The base config of the distribution. */
  readonly base: Read;
  readonly variables: Variables;
  /** Variables that the config reads. */
  readonly names: ReadonlyArray<string>;
  /** Of the resource. */
  readonly name: string;
  /** Stores stay where the config has them. */
  readonly keepData: boolean;
  /** Where the volume of the resource is mounted, if it has one already. */
  readonly mountPath: string | undefined;
}

export type SecretOf = (variable: string) => JsonObject;

export const secretName = (name: string): string => `${name}-secrets`;

/** Without what is empty. */
export const blocks = (all: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, Json] =>
      entry[1] !== undefined && Object.keys(entry[1] as object).length > 0
    ),
  );
