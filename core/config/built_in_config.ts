/** Warnings about the config that is built into an image, as far as it is known. */
import * as Result from "effect/Result";
import type { Spec } from "../api/v1alpha2.ts";
import type { Warning } from "../failure/warning.ts";
import type { BaseSource } from "./servers/image_labels.ts";
import { foldersOf } from "./data_folders.ts";
import { factsOf } from "./draft.ts";
import { readBase } from "./servers/base.ts";
import type { Server } from "./servers/families/families.ts";
import { configCautions, specCautions } from "./stages/cautions.ts";
import { unfitVariables } from "./stages/expanded.ts";

export const cautionsOf = (
  spec: Spec,
  server: Server | undefined,
  base: BaseSource | undefined,
): ReadonlyArray<Warning> => {
  const tree = server === undefined || base === undefined ? undefined : Result.getOrUndefined(readBase(base, server));
  return [
    ...(server === undefined || tree === undefined ? [] : [
      ...configCautions(tree, { spec, server, folders: foldersOf(spec) }),
      ...unfitVariables(tree, factsOf("", spec, server)),
    ]),
    ...specCautions(spec),
  ];
};
