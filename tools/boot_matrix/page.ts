/** docs/compatibility.md: the recorded results as tables. */
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
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
    "## Server families, distributions and storage",
    "",
    "Each cell is one resource with a vLLM provider, started on a real server. It **boots** if the server lists the provider",
    "and the model, answers a chat completion that reaches vLLM with the API key, and offers a tool and a shield where server",
    "and distribution support them. It **needs hardware** if its models run inside the server, on a GPU. In the column `postgres` both stores are in PostgreSQL; in the column `redis` the key-value",
    "store is in Redis and the relational store in sqlite. All passwords contain characters that must be percent-encoded in URLs.",
    "",
    `| server family | server | distribution | ${STORAGES.join(" | ")} |`,
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
    "## Images",
    "",
    "Images that a name means, by the version of the server. `serverVersion` chooses one; an image that nobody publishes",
    "needs a copy ([upgrade.md](upgrade.md#images-that-are-no-longer-published)).",
    "",
    "| distribution | server | image | published |",
    "| --- | --- | --- | --- |",
    ...[...EMBEDDED_DISTRIBUTIONS].filter(([, { aliasOf }]) => aliasOf === undefined).flatMap(([name, named]) =>
      named.releases.map(({ image, serverVersion = "", unpublishedSince }) =>
        `| \`${name}\` | ${serverName(serverVersion)}${image === named.image ? " (default)" : ""} | \`${image}\` | ${
          unpublishedSince === undefined ? "yes" : `until ${unpublishedSince}`
        } |`
      )
    ),
    "",
    "## Distributions without a published image",
    "",
    "The server packages contain the config of these distributions, but nobody publishes an image of them, so",
    "`spec.distribution.name` does not accept them. The table shows the newest tested release of each server family, with the",
    "same vLLM provider and sqlite. The last column lists what had to be changed in the config for the server to start. Those",
    "that **fail** exit when they start, with the error in the note.",
    "",
    "| server | distribution | result | changes to the config |",
    "| --- | --- | --- | --- |",
    ...shipped.map((row) =>
      `| ${row.server} | \`${row.distribution}\` | ${outcomeWord(row.outcome, note)} | ${row.fixes.join("; ")} |`
    ),
    "",
    "## Remote inference providers",
    "",
    "One resource per server declares all types together on the distribution `starter`, each with the endpoint, the API key",
    "and the settings that the type reads on that server.",
    "",
    "| result | meaning |",
    "| --- | --- |",
    "| chat | a chat completion reached the endpoint, with the API key |",
    "| starts | the server starts and lists the provider as configured, but no chat completion reached the endpoint with the key |",
    "| needs its service | the server starts only if it can reach a service on the internet |",
    "| refused | the operator rejects the type on this server |",
    "| fails | the server exits when it starts |",
    "| not run | not tested yet |",
    "| – | the server does not have the type |",
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
    "<!-- Generated by deno task boots and deno task gen from configs/boots.json; do not edit. -->",
    "",
    "# Compatibility",
    "",
    "These servers, distributions, storage and inference providers work together.",
    `Every result was observed on a real server, installed from its published package, ${
      dates[0] === dates.at(-1) ? `on ${dates[0]}` : `between ${dates[0]} and ${dates.at(-1)}`
    }.`,
    "The published container images were not part of these tests. A number in brackets refers to the [notes](#notes).",
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
      return `fails ${note(oneLine(outcome.reason))}`;
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
      return `fails ${note(oneLine(row.outcome.reason))}`;
  }
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const defectsTable = (): readonly string[] => [
  "## Defects of the servers",
  "",
  "Defects that were observed on these servers, and that no setting of a resource prevents.",
  "",
  "| servers | what happens | what to do |",
  "| --- | --- | --- |",
  ...SERVER_DEFECTS.map(({ servers, happens, wayOut }) => `| ${servers} | ${happens} | ${wayOut} |`),
  "",
];

/** How servers of each family are started and configured, from its definition. */
const processTable = (): readonly string[] => [
  "## Server families",
  "",
  "A server family is a group of server versions that read the same config. The operator starts its servers like this:",
  "",
  "| server family | servers | catalogues | start | path of config.yaml | port | TLS | workers | log levels | health | failed start |",
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
        byFactory ? "flags" : "config.yaml",
        byFactory ? "flag" : "one only",
        `\`${process.loggingVariable}\``,
        `\`${process.healthPath}\``,
        `exit code ${process.failedStart}`,
      ].join(" | ")
    } |`;
  }),
  "",
];
