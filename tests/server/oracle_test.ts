/** Of resources drawn from the catalogue: a server starts with what the operator generates without a finding. */
import { deepStrictEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { serverOf } from "../../core/config/servers/families/families.ts";
import { causeOf, compared, isSurprise } from "../../tools/oracle/compared.ts";
import { startOracle } from "../../tools/oracle/oracle.ts";
import { arbitraryConfig } from "../arbitrary_configs.ts";
import { COMPARED_VERSIONS } from "./tested_servers.ts";

/** `deno task oracle` draws as many as one wants, and others each day. */
const DRAWN = 40;
const SEED = 1;

for (const version of COMPARED_VERSIONS) {
  Deno.test(`${version} starts with the config of each drawn resource that has no finding`, async () => {
    const release = version.split(" ")[1] ?? "";
    const catalogue = serverOf(release)?.catalogue;
    ok(catalogue !== undefined);
    await using oracle = await startOracle(version);
    const surprises: Array<string> = [];
    let started = 0;
    for (const config of fc.sample(arbitraryConfig(catalogue), { numRuns: DRAWN, seed: SEED })) {
      const found = await compared(oracle, config);
      if (isSurprise(found)) surprises.push(`${causeOf(found)}: ${JSON.stringify(config.manifest.spec)}`);
      if (found.server?.outcome === "starts") started++;
    }
    deepStrictEqual(surprises, []);
    ok(started >= DRAWN / 8, `only ${started} of ${DRAWN} started`);
  });
}
