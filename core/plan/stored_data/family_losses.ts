/** The data of a server that a server of another version does not find. */
import { CATALOGUES } from "../../config/servers/catalogue.ts";
import { type Server, SERVER_FAMILIES } from "../../config/servers/families/families.ts";

/** Where data outlives a pod; in a claim it is in files of sqlite. */
export type Place = "a volume claim" | "PostgreSQL" | "Redis";

/**
 * Source: seen on real servers, the last releases of 0.2, 0.3, 0.6, 0.7, 0.8, 1.1 and 1.5; steps up that are not named here keep
 * everything. Up to 0.2 the config names other sqlite files, tables and namespaces than later ones. Servers from 0.4 on
 * exit if a vector store contains a chunk of a file that 0.3 stored. Up to 0.4 the table of responses has a name that no config
 * can change (read in 0.4.7 and 0.5.4). From 1.0 on, prompts and batches have tables of their own, sqlite keeps namespaces
 * apart, there are no shields, and entries of files from 0.2 are not found.
 */
export const lossesOf = (from: Server, to: Server, stored: ReadonlyArray<Place>): ReadonlyArray<string> => {
  if (SERVER_FAMILIES.indexOf(to.family) < SERVER_FAMILIES.indexOf(from.family)) return [DOWN];
  const [before, after] = [CATALOGUES.indexOf(from.catalogue), CATALOGUES.indexOf(to.catalogue)];
  const enters = (minor: string): boolean => {
    const index = CATALOGUES.findIndex(({ server }) => server === minor);
    return before < index && index <= after;
  };
  const [legacy, pieces, responses, ogx] = [enters("0.3"), enters("0.4"), enters("0.5"), enters("1.0")];
  const isInSqlite = stored.includes("a volume claim");
  const isElsewhere = stored.some((place) => place !== "a volume claim");
  const losses: ReadonlyArray<readonly [boolean, string]> = [
    [legacy || ogx, "the prompts"],
    [legacy || ogx, "the batches"],
    [legacy, "the vector stores"],
    [!legacy && ogx && isInSqlite, "the vector stores in sqlite"],
    [!legacy && pieces && (isElsewhere || !ogx), PIECES],
    [legacy, "the shields, models and tools registered through the API"],
    [!legacy && ogx, "the shields"],
    [legacy, "the chat completions"],
    [responses, "the responses"],
    [legacy && !responses && isInSqlite, "the responses in sqlite"],
    [legacy && ogx, "the metadata of files"],
    [legacy && !ogx && isInSqlite, "the metadata of files in sqlite"],
  ];
  return losses.filter(([isLost]) => isLost).map(([, what]) => what);
};

const DOWN = "all data that the newer server stored in a format that the older server cannot read";
const PIECES = "the vector stores that are not empty: the new server fails to start unless they are deleted first";
