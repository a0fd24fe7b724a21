/**
 * `import` undoes `render`: the config of any resource becomes a resource with the same config. `IMPORT_RUNS` sets how many
 * resources are tried for each minor version (20 where it is not set).
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import * as Result from "effect/Result";
import { decodeResource } from "../core/api/decode.ts";
import { derive, Derived } from "../core/config/derive.ts";
import { CATALOGUES } from "../core/config/servers/catalogue.ts";
import { type JsonObject, objectAt, stringAt } from "../core/data/json.ts";
import { importConfig } from "../core/import/importing.ts";
import { type Variable, variableOf } from "../core/import/variables.ts";
import { arbitraryConfig } from "./arbitrary_configs.ts";
import { SURROUNDINGS } from "./given.ts";

const RUNS = Number(Deno.env.get("IMPORT_RUNS") ?? 20);

for (const catalogue of CATALOGUES) {
  Deno.test(`import undoes render for resources on ${catalogue.server}`, () => {
    let count = 0;
    fc.assert(
      fc.property(arbitraryConfig(catalogue), ({ manifest }) => {
        const derived = Result.flatMap(
          Result.mapError(decodeResource(manifest, "strict"), (failures) => ({ failures, warnings: [] })),
          (resource) => derive(resource, SURROUNDINGS),
        );
        if (Result.isFailure(derived) || !Derived.$is("Generated")(derived.success)) return;
        const { config, env } = derived.success;
        count++;
        const variables = new Map(env.map(({ name, value, valueFrom }): [string, Variable] => {
          const ref = valueFrom?.secretKeyRef;
          if (valueFrom === undefined) return [name, variableOf(name, value ?? "")];
          return [
            name,
            ref?.name === undefined ? { kind: "secret" } : { kind: "secret", ref: { name: ref.name, key: ref.key } },
          ];
        }));
        const { networking } = objectAt(manifest, "spec");
        const source = {
          tree: config.tree,
          variables,
          isComplete: true,
          metadata: { name: "my" },
          spec: networking === undefined ? {} : { networking } as JsonObject,
        };
        const distribution = stringAt(manifest, "spec", "distribution", "name");
        const imported = importConfig(
          source,
          { keepData: false, serverVersion: catalogue.server, distribution },
          SURROUNDINGS,
        );
        const found = Result.getOrThrow(imported).differences.map(({ kind, what }) => `${kind}: ${what}`);
        deepStrictEqual(found, []);
      }),
      { numRuns: RUNS, seed: 20 },
    );
    ok(count > 0);
  });
}
