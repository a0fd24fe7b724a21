/** docs/compatibility.md: the stored results as tables. */
import { CATALOGUES, providerType } from "../../core/config/servers/catalogue.ts";
import { SERVER_FAMILIES, serverName, serverOf } from "../../core/config/servers/families/families.ts";
import { type Outcome, STORAGES } from "./cell.ts";
import type { BootedCell, BootedType, Boots } from "./results.ts";
import { SERVER_DEFECTS } from "./server_defects.ts";

export const compatibilityPage = ({ cells, types, shipped }: Boots): string => {
  const notes: string[] = [];
  const note = (text: string): string => {
    const known = notes.indexOf(text);
    return `[${known >= 0 ? known + 1 : notes.push(text)}]`;
  };
  const minors = CATALOGUES.map(({ server }) => server).filter((minor) => cells.some((cell) => cell.minor === minor));
  const dates = [...cells, ...types, ...shipped].map(({ date }) => date).sort();
  const distributions = [...new Set(cells.map(({ distribution }) => distribution))].sort();
  const typeNames = [...new Set(types.map(({ type }) => type))].sort();
  const tables = [
    "## Lines, distributions and storage",
    "",
    "Each cell is a resource with one vLLM: it **boots** when the server lists provider and model, a chat passes with the",
    "key, and tools and shields are there where the line has them. `redis` stands for Redis beside sqlite, `postgres` for both stores",
    "in PostgreSQL; their passwords hold letters that need encoding.",
    "",
    `| line | server | distribution | ${STORAGES.join(" | ")} |`,
    `| --- | --- | --- | ${STORAGES.map(() => "---").join(" | ")} |`,
    ...minors.flatMap((minor) =>
      distributions.filter((name) => cells.some((cell) => cell.minor === minor && cell.distribution === name))
        .map((name) => {
          const found = STORAGES.map((storage) =>
            cells.find((cell) => cell.minor === minor && cell.distribution === name && cell.storage === storage)
          );
          const server = found.find((cell) => cell !== undefined)?.server ?? "";
          return `| ${familyNameOf(minor)} | ${server} | \`${name}\` | ${
            found.map((cell) => cellWord(cell, note)).join(" | ")
          } |`;
        })
    ),
    "",
    "## Distributions that have no name here",
    "",
    "The published packages ship them, but nobody publishes an image of them. The last release of each line that has them, with",
    "the same vLLM on sqlite; what was mended in the shipped file stands behind it.",
    "",
    "| server | distribution | outcome | mended |",
    "| --- | --- | --- | --- |",
    ...shipped.map((row) =>
      `| ${row.server} | \`${row.distribution}\` | ${outcomeWord(row.outcome, note)} | ${row.mends.join("; ")} |`
    ),
    "",
    "## Remote inference providers",
    "",
    "All types of a server at once on its `starter`, each with endpoint, key and settings under the names that it reads on",
    "that server. **chat**: a chat reached the endpoint with the key. **starts**: listed as asked, but its address is not ours to choose",
    "or a chat does not get that far. **not run**: nobody has looked yet. –: the server has no such type.",
    "",
    `| type | ${minors.join(" | ")} |`,
    `| --- | ${minors.map(() => "---").join(" | ")} |`,
    ...typeNames.map((type) => {
      const words = minors.map((minor) =>
        typeWord(
          types.find((bootedType) => bootedType.minor === minor && bootedType.type === type),
          offers(minor, type),
          note,
        )
      );
      return `| \`${type}\` | ${words.join(" | ")} |`;
    }),
    "",
  ];
  return [
    "<!-- Made by deno task boots from configs/boots.json; do not edit. -->",
    "",
    "# Compatibility",
    "",
    `Seen on real servers, installed from their published packages, ${
      dates[0] === dates.at(-1) ? `on ${dates[0]}` : `between ${dates[0]} and ${dates.at(-1)}`
    }. The container images`,
    "themselves were not run.",
    "",
    ...processTable(),
    ...tables,
    ...defectsTable(),
    ...(notes.length === 0 ? [] : ["## Notes", "", ...notes.map((text, index) => `${index + 1}. ${text}`), ""]),
  ].join("\n");
};

const familyNameOf = (minor: string): string => serverOf(minor)?.family.name ?? "";

const cellWord = (cell: BootedCell | undefined, note: (text: string) => string): string =>
  cell === undefined ? "" : outcomeWord(cell.outcome, note);

const outcomeWord = (outcome: Outcome, note: (text: string) => string): string => {
  switch (outcome.kind) {
    case "boots":
      return "boots";
    case "needs hardware":
      return `needs hardware ${note(oneLine(outcome.reason))}`;
    case "refused":
      return `refused ${note(oneLine(outcome.reason))}`;
    case "ends":
      return `ends ${note(oneLine(outcome.reason))}`;
  }
};

const offers = (minor: string, type: string): boolean =>
  CATALOGUES.some((catalogue) =>
    catalogue.server === minor && providerType(catalogue, "inference", type) !== undefined
  );

const typeWord = (row: BootedType | undefined, isOffered: boolean, note: (text: string) => string): string => {
  switch (row?.outcome.kind) {
    case undefined:
      return isOffered ? "not run" : "–";
    case "reached":
      return "chat";
    case "boots":
      return `starts ${note(oneLine(row.outcome.reason))}`;
    case "needs service":
      return `needs its service ${note(oneLine(row.outcome.reason))}`;
    case "refused":
      return `refused ${note(oneLine(row.outcome.reason))}`;
    case "ends":
      return `ends ${note(oneLine(row.outcome.reason))}`;
  }
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const defectsTable = (): readonly string[] => [
  "## Defects of the servers",
  "",
  "What a resource cannot keep them from, seen on the servers named.",
  "",
  "| servers | what happens | way out |",
  "| --- | --- | --- |",
  ...SERVER_DEFECTS.map(({ servers, happens, wayOut }) => `| ${servers} | ${happens} | ${wayOut} |`),
  "",
];

/** How servers of each family are started and configured, from its definition. */
const processTable = (): readonly string[] => [
  "## Lines",
  "",
  "| line | servers | catalogues | start | config | port | TLS | workers | log levels | health | failed start |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  ...SERVER_FAMILIES.map(({ name, servers, process }) => {
    const catalogues = CATALOGUES.filter(({ server }) => serverOf(server)?.family.name === name)
      .map(({ server }) => serverName(server).split(" ").at(-1));
    const byFactory = process.start.kind === "factory";
    return `| ${
      [
        name,
        servers,
        catalogues.join(", "),
        `\`${
          process.start.kind === "factory" ? process.start.factory : `${process.start.module} ${process.start.words}`
        }\``,
        byFactory ? `\`${process.configVariable}\`` : "argument",
        `\`--port\`, \`${process.portVariable}\``,
        byFactory ? "flags" : "from the file",
        byFactory ? "flag" : "one only",
        `\`${process.loggingVariable}\``,
        `\`${process.healthPath}\``,
        `exit code ${process.failedStart}`,
      ].join(" | ")
    } |`;
  }),
  "",
];
