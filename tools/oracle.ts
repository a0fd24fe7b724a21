/**
 * `deno task oracle`: draws resources from the catalogue of each server, and asks the server's own code whether it starts with what the
 * operator generates. A resource without a finding that does not start is a defect of the operator; each is shown as small as it gets.
 */
import fc from "fast-check";
import { serverOf } from "../core/config/servers/families/families.ts";
import { at } from "../core/data/json.ts";
import { writeYaml } from "../core/data/yaml.ts";
import { type ArbitraryConfig, arbitraryConfig } from "../tests/arbitrary_configs.ts";
import { SERVER_VERSIONS, type ServerVersion } from "./install/python_server.ts";
import { causeOf, type Compared, compared, isSurprise, shrunk } from "./oracle/compared.ts";
import { startOracle } from "./oracle/oracle.ts";
import { boot } from "./server/boot.ts";
import { secretsOf } from "../tests/snapshots.ts";
import { taskOptions } from "./task_options.ts";

const USAGE = `Usage: deno task oracle [OPTION…]

Draws random resources and asks each server's own code whether it starts with the config that the operator generates.
Ends with code 1 if a resource without a finding does not start.

  --minor 1.5    Only the server of this minor version; can be repeated
  --count 1000   Resources of each server (default 1000)
  --seed 1       Draw the same resources again (default: the day)
  --boots 40     Start as many of those of which the server's code says that it starts, by the command of the Deployment
  --refused      Also ask about resources that the operator rejects, and show rules without which the server starts
  --warned       Also show resources that do not start in spite of nothing but warnings`;

const values = taskOptions(Deno.args, {
  minor: { type: "string", multiple: true },
  count: { type: "string", default: "1000" },
  seed: { type: "string", default: `${Math.floor(Date.now() / 86_400_000)}` },
  boots: { type: "string", default: "0" },
  refused: { type: "boolean" },
  warned: { type: "boolean" },
}, USAGE);

interface Tally {
  readonly drawn: number;
  readonly clean: number;
  readonly warned: number;
  readonly refused: number;
  readonly unknown: number;
  /** Why resources were refused, or nothing is known of them; the most frequent first. */
  readonly reasons: ReadonlyArray<readonly [string, number]>;
  /** By the rules that reject resources with which the server starts: how many, and some of their messages. */
  readonly needless: ReadonlyArray<
    readonly [string, { readonly count: number; readonly messages: ReadonlyArray<string> }]
  >;
  readonly surprises: ReadonlyMap<string, { readonly count: number; readonly smallest: ArbitraryConfig }>;
  /** How many were started. */
  readonly booted: number;
}

const tallied = async (version: ServerVersion, count: number, seed: number): Promise<Tally | undefined> => {
  const release = version.split(" ")[1] ?? "";
  const catalogue = serverOf(release)?.catalogue;
  if (catalogue === undefined) return undefined;
  await using oracle = await startOracle(version);
  const found: Array<readonly [ArbitraryConfig, Compared]> = [];
  for (const config of fc.sample(arbitraryConfig(catalogue), { numRuns: count, seed })) {
    found.push([config, await compared(oracle, config, values.refused === true)]);
    if (found.length % 100 === 0) console.error(`${version}: ${found.length} of ${count}`);
  }
  const wanted = found.filter(([, of]) =>
    isSurprise(of) || values.warned === true && of.lint === "warned" && of.server?.outcome === "fails"
  );
  const surprises = new Map<string, { count: number; smallest: ArbitraryConfig }>();
  const surprised = async (cause: string, smallest: () => ArbitraryConfig | Promise<ArbitraryConfig>) => {
    const known = surprises.get(cause);
    surprises.set(cause, { count: (known?.count ?? 0) + 1, smallest: known?.smallest ?? await smallest() });
  };
  for (const [config, of] of wanted) {
    const cause = causeOf(of);
    await surprised(cause, () => isSurprise(of) ? shrunk(oracle, config, cause) : config);
  }
  let booted = 0;
  const starting = found.filter(([{ manifest }, { lint, server }]) =>
    lint === "clean" && server?.outcome === "starts" && at(manifest, "spec", "overrideConfig") === undefined
  );
  for (const [config] of starting.slice(0, Number(values.boots))) {
    const cause = await bootFailure(config);
    booted++;
    console.error(`${version}: ${booted} started, ${cause ?? "ready"}`);
    if (cause !== undefined) await surprised(cause, () => config);
  }
  const share = (is: (of: Compared) => boolean) => found.filter(([, of]) => is(of)).length;
  return {
    drawn: found.length,
    clean: share(({ lint }) => lint === "clean"),
    warned: share(({ lint }) => lint === "warned"),
    refused: share(({ lint }) => lint === "refused"),
    unknown: share(({ lint, server }) => lint === "clean" && server?.outcome === "unknown"),
    reasons: counted(
      found.flatMap(([, { lint, findings, server }]) =>
        lint === "refused"
          ? [`refused: ${findings.join(", ")}`]
          : server?.outcome === "unknown"
          ? [`unknown: ${server.error?.replaceAll(/\s+/g, " ").slice(0, 100)}`]
          : []
      ),
    ),
    needless: Object.entries(
      Object.groupBy(
        found.map(([, of]) => of).filter(({ lint, server }) => lint === "refused" && server?.outcome === "starts"),
        ({ findings }) => findings.join(", "),
      ),
    ).map(([rule, all = []]) => [
      rule,
      { count: all.length, messages: all.slice(0, MESSAGES_SHOWN).flatMap(({ reasons = "" }) => reasons.split("\n")) },
    ]),
    surprises,
    booted,
  };
};

/** Why the server is not ready; undefined if it is. */
const bootFailure = async ({ manifest, secrets, configMaps }: ArbitraryConfig): Promise<string | undefined> => {
  const surroundings = { secrets: secretsOf(secrets), ...(configMaps === undefined ? {} : { configMaps }) };
  try {
    await using _ = await boot(manifest, { secrets, surroundings });
    return undefined;
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    return `boot: ${cause.message.split("\n").slice(-3).join(" ").slice(0, 300)}`;
  }
};

const MESSAGES_SHOWN = 12;

const counted = (texts: ReadonlyArray<string>): ReadonlyArray<readonly [string, number]> =>
  Object.entries(Object.groupBy(texts, (text) => text))
    .map(([text, all = []]) => [text, all.length] as const)
    .sort(([, a], [, b]) => b - a);

let isRight = true;
for (const version of SERVER_VERSIONS) {
  const release = version.split(" ")[1] ?? "";
  if (values.minor !== undefined && !values.minor.some((minor) => release.startsWith(`${minor}.`))) continue;
  const tally = await tallied(version, Number(values.count), Number(values.seed));
  if (tally === undefined) continue;
  const { drawn, clean, warned, refused, unknown, surprises, reasons, needless, booted } = tally;
  const failed = [...surprises.values()].reduce((sum, { count }) => sum + count, 0);
  console.log(
    `${version}: ${drawn} drawn, ${clean} clean (${unknown} of them unknown), ${warned} warned, ${refused} refused; ` +
      `${failed} do not start${booted === 0 ? "" : `; ${booted} started`}`,
  );
  for (const [why, count] of reasons) console.log(`  ${count} times: ${why}`);
  for (const [rule, { count, messages }] of needless) {
    console.log(`\n# ${count} times rejected, and the server starts: ${rule}`);
    for (const message of messages) console.log(`  ${message}`);
  }
  for (const [cause, { count, smallest }] of surprises) {
    isRight = false;
    const secrets = `# Secrets: ${JSON.stringify(smallest.secrets)}`;
    const edits = smallest.edits === undefined ? "" : `# Edits of the base: ${JSON.stringify(smallest.edits)}\n`;
    console.log(`\n# ${count} times: ${cause}\n${secrets}\n${edits}${writeYaml(smallest.manifest)}`);
  }
}
Deno.exit(isRight ? 0 : 1);
