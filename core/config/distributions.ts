/** The distributions that the operator brings along: images, versions and base documents, pinned together per release. */
import { Result } from "effect";
import ogxPostgresDemo from "../../configs/bases/ogx-postgres-demo.yaml" with { type: "text" };
import ogxStarter from "../../configs/bases/ogx-starter.yaml" with { type: "text" };
import postgresDemo from "../../configs/bases/postgres-demo.yaml" with { type: "text" };
import starter from "../../configs/bases/starter.yaml" with { type: "text" };
import table from "../../configs/distributions.json" with { type: "json" };
import type { Json } from "../json.ts";
import { type DistributionTable, readDistributions } from "./distribution.ts";

/** By file name, as distributions.json names them. */
const BASES: Readonly<Record<string, string>> = {
  "ogx-postgres-demo.yaml": ogxPostgresDemo,
  "ogx-starter.yaml": ogxStarter,
  "postgres-demo.yaml": postgresDemo,
  "starter.yaml": starter,
};

/** A broken table in the program itself is a mistake of ours that no user can mend: it stops the start. */
export const EMBEDDED_DISTRIBUTIONS: DistributionTable = Result.getOrThrow(readDistributions(table as Json, BASES));
