/** What lint refuses of a config of a user, against the parsers of the real servers: each field with odd values, both ways. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok } from "node:assert/strict";
import { factsOf } from "../../core/config/draft.ts";
import { type Server, serverOf } from "../../core/config/servers/families/families.ts";
import { storageFindings } from "../../core/config/stages/backend_findings.ts";
import { configFindings } from "../../core/config/stages/config_findings.ts";
import type { KnownVariables } from "../../core/config/known_environment.ts";
import { policyFindings } from "../../core/config/stages/own_policies.ts";
import { formatPath } from "../../core/data/field_path.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { ended } from "../../tools/install/run_program.ts";
import { mutations } from "../config_mutations.ts";
import { COMPARED_VERSIONS } from "./tested_servers.ts";

const SCRIPT = fileURLToPath(new URL("parsed_configs.py", import.meta.url));

/** No variable is set. */
const KNOWN: KnownVariables = { environment: () => "Unset", valueOf: () => "" };
const SPEC = { distribution: { name: "starter" } };

/** What keeps the server from its start; undefined if nothing does. */
const refusal = (config: JsonObject, server: Server): string | undefined =>
  [
    ...configFindings(config, server, KNOWN),
    ...storageFindings(config, factsOf("my", SPEC, server), KNOWN),
    ...policyFindings(config, server),
  ].filter(({ isFatal, message }) => isFatal && !SAID_LATER.test(message)).map(({ path, message }) =>
    `${formatPath(path)}: ${message}`
  )[0];

/** The parser takes what the server refuses later: when it opens its stores, or connects to its database. */
const REFUSED_LATER = new RegExp(
  "^storage[.](stores[.]connectors[.](backend|namespace)|backends[.]b[.](port|table_name))$" +
    "|^(metadata_store|server[.]quota[.]kvstore)[.](db_path|table_name)$|^inference_store([.].*)?$",
);

/** The same of what every config here lacks, or of a rule of the server's own program. */
const SAID_LATER = /^(required by the server, as|the server refuses false;)/;

for (const version of COMPARED_VERSIONS) {
  Deno.test(`${version} parses the configs in which lint finds nothing, and no others`, async () => {
    const [packageName = "", release = ""] = version.split(" ");
    const server = serverOf(release);
    ok(server !== undefined);
    const tried = mutations(server.catalogue);
    const { python, pythonPath } = await installServer(version);
    const { code, stdout, stderr } = await ended(python, [SCRIPT, packageName], {
      env: { ...Deno.env.toObject(), PYTHONPATH: pythonPath },
      stdin: JSON.stringify(tried.map(({ config }) => config)),
    });
    ok(code === 0, stderr);
    const answers = JSON.parse(stdout) as ReadonlyArray<string | null>;
    const compared = tried.map(({ path, value, config }, index) => ({
      place: formatPath(path),
      value: JSON.stringify(value),
      lint: refusal(config, server),
      server: answers[index] ?? undefined,
    }));
    const accepted = compared.filter((one) => one.server === undefined);
    ok(accepted.length > 400 && compared.length - accepted.length > 2000, `${accepted.length} of ${compared.length}`);
    deepStrictEqual(accepted.filter(({ lint, place }) => lint !== undefined && !REFUSED_LATER.test(place)), []);
    deepStrictEqual(compared.filter((one) => one.server !== undefined && one.lint === undefined), []);
  });
}
