/** The types of settings that are refused, against what the config classes of the real servers refuse. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok } from "node:assert/strict";
import type { Catalogue, CatalogueField, ProviderType } from "../../core/config/servers/catalogue.ts";
import { serverOf } from "../../core/config/servers/families/families.ts";
import { expectedInstead } from "../../core/config/servers/field_types.ts";
import type { Json } from "../../core/data/json.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { ended } from "../../tools/install/run_program.ts";
import { COMPARED_VERSIONS } from "./tested_servers.ts";

const SCRIPT = fileURLToPath(new URL("setting_types.py", import.meta.url));

const SAMPLES: ReadonlyArray<Json> = [
  ...[null, "lots", "5", " 5 ", "5.0", "1_0", "", "inf", "true", "tRue", "yes", "Y", "http://x"],
  ...[5, 5.5, 0, 1, 2, -1, 100_000, true, false, [], ["a"], {}, { a: 1 }],
];

/** By `<api> <type>`, then by field: which of the samples the server takes. */
type Taken = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<boolean>>>>>;

interface KnownField {
  /** `<api> <type>`. */
  readonly provider: string;
  /** Keys from the config of the provider to the field. */
  readonly path: ReadonlyArray<string>;
  readonly field: CatalogueField;
}

/** The fields of each provider type and, below them, those of their maps. */
const fieldsOf = ({ providers, models }: Catalogue): ReadonlyArray<KnownField> => {
  const below = (provider: string, fields: ProviderType["fields"], above: ReadonlyArray<string>) =>
    Object.entries(fields).flatMap(([name, field]): ReadonlyArray<KnownField> => {
      const path = [...above, name];
      const model = field.model === undefined ? undefined : models[field.model];
      return [{ provider, path, field }, ...(model === undefined ? [] : below(provider, model.fields, path))];
    });
  return Object.entries(providers).flatMap(([api, types]) =>
    Object.entries(types).flatMap(([type, { fields }]) => below(`${api} ${type}`, fields, []))
  );
};

for (const version of COMPARED_VERSIONS) {
  Deno.test(`${version} rejects every setting that lint rejects, and text in place of a number`, async () => {
    const [packageName = "", release = ""] = version.split(" ");
    const { python, pythonPath } = await installServer(version);
    const catalogue = serverOf(release)?.catalogue;
    ok(catalogue !== undefined);
    const fields = fieldsOf(catalogue);
    const within = Object.groupBy(fields.filter(({ path }) => path.length > 1), ({ provider }) => provider);
    const { code, stdout, stderr } = await ended(python, [SCRIPT, packageName], {
      env: { ...Deno.env.toObject(), PYTHONPATH: pythonPath },
      stdin: JSON.stringify({
        samples: SAMPLES,
        within: Object.fromEntries(
          Object.entries(within).map(([key, rows = []]) => [key, rows.map(({ path }) => path)]),
        ),
      }),
    });
    ok(code === 0, stderr);
    const taken = JSON.parse(stdout) as Taken;
    const rows = fields.flatMap(({ provider, path, field }) =>
      SAMPLES.map((value, index) => ({
        place: `${provider} ${path.join(".")}: ${JSON.stringify(value)}`,
        type: field.type,
        value,
        refused: expectedInstead(field, value) !== undefined,
        taken: taken[provider]?.[path.join(".")]?.[index],
      }))
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
