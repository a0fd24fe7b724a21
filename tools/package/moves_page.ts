/** docs/moves.md: what a move to newer servers loses, as the operator says it when it holds such a move. */
import { CATALOGUES } from "../../core/config/servers/catalogue.ts";
import { type Server, serverName, serverOf } from "../../core/config/servers/families/families.ts";
import { lossesOf, type Place } from "../../core/plan/stored_data/family_losses.ts";
import { ACCEPT_LINE_CHANGE_ANNOTATION } from "../../core/plan/stored_data/stored_data.ts";
import { lines } from "../../core/command/outcome.ts";

export const movesPage = (): string =>
  lines([
    "<!-- Made by deno task gen from core/plan/stored_data/family_losses.ts; do not edit. -->",
    "",
    "# Moves between servers",
    "",
    "An edit of a resource from one distribution or `serverVersion` to another takes the data along: a claim, PostgreSQL and",
    "Redis stay where they are. Where the new servers would not find all of it, and there is data, the edit waits with",
    "`ConfigGenerated=False`, reason `LineChangeLosesData`, and what runs goes on. The annotation",
    `\`${ACCEPT_LINE_CHANGE_ANNOTATION}\` with the name of the new line, which the message tells, lets it through. Without`,
    "stored data it goes through at once. With data, a step down to an older line always waits.",
    "",
    "What is not in a cell is kept. sqlite means both stores on a claim, Redis key-value state beside a claim.",
    "",
    "| from | to | sqlite | PostgreSQL | Redis |",
    "| --- | --- | --- | --- | --- |",
    ...groups().flatMap((from, index, all) => all.slice(index + 1).map((to) => row(from, to))),
  ]);

/** Neighbours between which nothing is lost. */
type Group = readonly [Server, ...ReadonlyArray<Server>];

const groups = (): ReadonlyArray<Group> =>
  CATALOGUES.flatMap(({ server }) => serverOf(server) ?? []).reduce<ReadonlyArray<Group>>((made, server) => {
    const last = made.at(-1);
    return last !== undefined && lossesOf(last[0], server, ["a volume claim", "PostgreSQL", "Redis"]).length === 0
      ? [...made.slice(0, -1), [...last, server]]
      : [...made, [server]];
  }, []);

const PLACES: ReadonlyArray<ReadonlyArray<Place>> = [["a volume claim"], ["PostgreSQL"], ["a volume claim", "Redis"]];

const row = (from: Group, to: Group): string => {
  const cells = PLACES.map((places) => lossesOf(from[0], to[0], places).map(short).join("; ") || "nothing");
  return `| ${[named(from), named(to), ...cells].join(" | ")} |`;
};

const short = (loss: string): string => loss.replace(/^the /, "");

const named = (group: Group): string => {
  const last = group.at(-1) ?? group[0];
  return last === group[0] ? serverName(last.version) : `${serverName(group[0].version)} – ${serverName(last.version)}`;
};
