/** The distributions that the operator ships: images, versions and base configs, pinned together per release. */
import * as Result from "effect/Result";
import table from "../../../configs/distributions.json" with { type: "json" };
import type { Json } from "../../data/json.ts";
import { BASES } from "./bases.ts";
import { type DistributionTable, readDistributions } from "./distribution_table.ts";

/** An invalid table in the program is a bug that no user can fix, so the program exits at its start. */
export const EMBEDDED_DISTRIBUTIONS: DistributionTable = Result.getOrThrow(readDistributions(table as Json, BASES));
