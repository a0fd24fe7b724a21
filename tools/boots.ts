/**
 * `deno task boots`: boots every server family on every distribution and storage, and every remote inference type, on
 * real servers; stores the results in configs/boots.json and generates docs/compatibility.md from them.
 *
 * Its options (`--help`) select a part; the results of the rest are kept.
 */
import { EMBEDDED_DISTRIBUTIONS } from "../core/config/servers/distributions.ts";
import { CATALOGUES } from "../core/config/servers/catalogue.ts";
import { serverOf } from "../core/config/servers/families/families.ts";
import { startBackends } from "./boot_matrix/backends.ts";
import { bootCell, type Cell, STORAGES } from "./boot_matrix/cell.ts";
import { bootProviderTypes } from "./boot_matrix/provider_types.ts";
import { compatibilityPage } from "./boot_matrix/page.ts";
import { type Boots, merged, readBoots } from "./boot_matrix/results.ts";
import { bootShipped, newestOfFamilies } from "./boot_matrix/shipped.ts";
import { installServer, SERVER_VERSIONS } from "./install/python_server.ts";
import { inParallel } from "./in_parallel.ts";
import { jsonRows } from "./json_rows.ts";
import { besideOthers } from "./server/server_slots.ts";
import { taskOptions } from "./task_options.ts";

const RESULTS = new URL("../configs/boots.json", import.meta.url);
const PAGE = new URL("../docs/compatibility.md", import.meta.url);

/** Names of distributions that have a release for this server, each with the first name that means it. */
const distributionsOf = (minor: string): readonly string[] => {
  const catalogue = serverOf(minor)?.catalogue;
  return [...EMBEDDED_DISTRIBUTIONS].filter(([, named]) =>
    named.aliasOf === undefined &&
    [named, ...named.releases].some(({ serverVersion }) => serverOf(serverVersion ?? "")?.catalogue === catalogue)
  ).map(([name]) => name);
};

/** As many at once as servers may run; in order, so that the log reads well. */
const AT_ONCE = 2;

const USAGE = `Usage: deno task boots [OPTION…]

Starts every server family on every distribution and storage, and every remote inference type; hours in all. Stores the
results in configs/boots.json and writes docs/compatibility.md. The results of what is not selected are kept.

  --family 0.4            Only the servers of this family
  --minor 0.5             Only the server of this minor version
  --distribution starter  Only this distribution
  --provider vllm         Only this provider type; all for every type, without the distributions
  --shipped               Only distributions that the server ships without a name here`;

const main = async (args: readonly string[]): Promise<number> => {
  const values = taskOptions(args, {
    family: { type: "string" },
    minor: { type: "string" },
    distribution: { type: "string" },
    provider: { type: "string" },
    shipped: { type: "boolean" },
  }, USAGE);
  const minors = CATALOGUES.map(({ server }) => server)
    .filter((minor) => values.minor === undefined || minor === values.minor)
    .filter((minor) => values.family === undefined || serverOf(minor)?.family.name === values.family);
  const cells = values.provider !== undefined || values.shipped === true
    ? []
    : minors.flatMap((minor) =>
      distributionsOf(minor).filter((name) => values.distribution === undefined || name === values.distribution)
        .flatMap((distribution) => STORAGES.map((storage): Cell => ({ minor, distribution, storage })))
    );
  // A server that cannot be installed says nothing about its providers.
  for (const minor of minors) {
    const server = SERVER_VERSIONS.find((name) => name === serverName(minor));
    if (server !== undefined) await installServer(server);
  }
  const fresh: Boots = { cells: [], types: [], shipped: [] };
  const today = new Date().toISOString().slice(0, 10);
  await using backends = await startBackends();
  await inParallel(cells.length, AT_ONCE, async (index) => {
    const cell = cells[index];
    if (cell === undefined) return;
    const outcome = await besideOthers(() => bootCell(cell, backends));
    fresh.cells.push({ ...cell, server: serverName(cell.minor), date: today, outcome });
    console.log(`${cell.minor} ${cell.distribution} ${cell.storage}: ${words(outcome)}`);
  });
  const others = values.provider !== undefined || values.distribution !== undefined
    ? []
    : newestOfFamilies(SERVER_VERSIONS);
  for (const server of others.filter((name) => minors.some((minor) => serverName(minor) === name))) {
    for (const row of await bootShipped(server, backends, values.distribution)) {
      fresh.shipped.push({ ...row, date: today });
      console.log(`${row.minor} ${row.distribution}: ${words(row.outcome)}`);
    }
  }
  for (const minor of values.distribution === undefined && !values.shipped ? minors : []) {
    await keep(fresh);
    for (
      const [type, outcome] of await bootProviderTypes(minor, values.provider === "all" ? undefined : values.provider)
    ) {
      fresh.types.push({ minor, type, server: serverName(minor), date: today, outcome });
      console.log(`${minor} ${type}: ${words(outcome)}`);
    }
  }
  await keep(fresh);
  const ended =
    [...fresh.cells, ...fresh.types, ...fresh.shipped].filter(({ outcome }) => outcome.kind === "ends").length;
  console.log(
    `${
      fresh.cells.length + fresh.types.length + fresh.shipped.length
    } rows, ${ended} of them ended; wrote docs/compatibility.md`,
  );
  return 0;
};

/** After every step: a run takes long and may be stopped. */
const keep = async (fresh: Boots): Promise<void> => {
  const all = merged(await readBoots(RESULTS), fresh);
  await Deno.writeTextFile(RESULTS, jsonRows(all, ({ length }) => length === 2));
  await Deno.writeTextFile(PAGE, compatibilityPage(all));
};

const serverName = (minor: string): string =>
  SERVER_VERSIONS.find((name) => name.split(" ")[1]?.startsWith(`${minor}.`)) ?? minor;

const words = (outcome: { readonly kind: string; readonly reason?: string }): string =>
  outcome.reason === undefined ? outcome.kind : `${outcome.kind}: ${outcome.reason.slice(0, 160)}`;

if (import.meta.main) Deno.exit(await main(Deno.args));
