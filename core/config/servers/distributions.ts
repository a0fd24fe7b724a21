/** The distributions that the operator brings along: images, versions and base documents, pinned together per release. */
import * as Result from "effect/Result";
import table from "../../../configs/distributions.json" with { type: "json" };
import releases from "../../../configs/releases.json" with { type: "json" };
import type { Json } from "../../data/json.ts";
import { BASES } from "./bases.ts";
import { type DistributionTable, readDistributions } from "./distribution.ts";

/** A broken table in the program itself is a mistake of ours that no user can mend: it stops the start. */
export const EMBEDDED_DISTRIBUTIONS: DistributionTable = Result.getOrThrow(
  readDistributions(table as Json, BASES, releases as Json),
);
