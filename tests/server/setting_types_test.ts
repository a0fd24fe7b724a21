/** The types of settings that are refused, against what the config classes of the real servers refuse. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { CATALOGUES } from "../../core/config/servers/catalogue.ts";
import { expectedInstead } from "../../core/config/servers/field_types.ts";
import type { Json } from "../../core/data/json.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { ended } from "../../tools/install/run_program.ts";
import { COMPARED_VERSIONS } from "./tested_servers.ts";

const SCRIPT = new URL("setting_types.py", import.meta.url).pathname;

const SAMPLES: ReadonlyArray<Json> = [
  ...[null, "lots", "5", " 5 ", "5.0", "1_0", "", "inf", "true", "tRue", "yes", "Y", "http://x"],
  ...[5, 5.5, 0, 1, 2, true, false, [], ["a"], {}, { a: 1 }],
];

/** By `<api> <type>`, then by field: which of the samples the server takes. */
type Taken = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<boolean>>>>>;

for (const version of COMPARED_VERSIONS) {
  Deno.test(`${version} refuses every setting that is refused before it starts, and every word where it reads a number`, async () => {
    const [packageName = "", release = ""] = version.split(" ");
    const { python, pythonPath } = await installServer(version);
    const { code, stdout, stderr } = await ended(python, [SCRIPT, packageName], {
      env: { ...Deno.env.toObject(), PYTHONPATH: pythonPath },
      stdin: JSON.stringify(SAMPLES),
    });
    ok(code === 0, stderr);
    const taken = JSON.parse(stdout) as Taken;
    const catalogue = CATALOGUES.find(({ server }) => release.startsWith(`${server}.`));
    const rows = Object.entries(catalogue?.providers ?? {}).flatMap(([api, types]) =>
      Object.entries(types).flatMap(([type, { fields }]) =>
        Object.entries(fields).flatMap(([name, field]) =>
          SAMPLES.map((value, index) => ({
            place: `${api} ${type} ${name}: ${JSON.stringify(value)}`,
            type: field.type,
            value,
            refused: expectedInstead(field, value) !== undefined,
            taken: taken[`${api} ${type}`]?.[name]?.[index],
          }))
        )
      )
    );
    ok(rows.length > 1000);
    deepStrictEqual(rows.filter((row) => row.taken === undefined).map(({ place }) => place), []);
    deepStrictEqual(rows.filter((row) => row.refused && row.taken === true).map(({ place }) => place), []);
    const numeric = rows.filter(({ type, value }) =>
      ["boolean", "integer", "number"].includes(type) && value === "lots"
    );
    deepStrictEqual(numeric.filter((row) => !row.refused).map(({ place }) => place), []);
  });
}
