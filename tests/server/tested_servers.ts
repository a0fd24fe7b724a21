import { CATALOGUES } from "../../core/config/servers/catalogue.ts";
import { COMMON_VERSIONS, SERVER_VERSIONS } from "../../tools/install/python_server.ts";
import type { BootOptions } from "../../tools/server/boot.ts";
import { sideBySide } from "./side_by_side.ts";

/** A published server, and the distribution by which a resource asks for it. */
export interface TestedServer {
  readonly name: string;
  readonly distribution: string;
  readonly options: BootOptions;
  /** Minor version, as the catalogues are named. */
  readonly minor: string;
  readonly isOgx: boolean;
  readonly loggingVariable: string;
  /** Its family has a newer server here, so that it is started in `deno task test:all`, and elsewhere where it is pinned. */
  readonly onlyInTestAll?: true;
}

/** Set by `deno task test:all`: also servers and versions that differ little from those of `deno task test`. */
const IS_EVERY_VERSION = Deno.env.has("TEST_EVERY_VERSION");

/** Servers whose Python is asked for what it accepts. */
export const COMPARED_VERSIONS = IS_EVERY_VERSION ? SERVER_VERSIONS : COMMON_VERSIONS;

const OGX = { distribution: "starter", isOgx: true, loggingVariable: "OGX_LOGGING" };

export const TESTED_SERVERS: readonly TestedServer[] = [
  {
    name: "Llama Stack 0.7.3",
    distribution: "starter",
    options: { surroundings: { serverVersion: "0.7.3" } },
    minor: "0.7",
    isOgx: false,
    loggingVariable: "LLAMA_STACK_LOGGING",
  },
  { ...OGX, name: "OGX 1.4.1", options: {}, minor: "1.4", onlyInTestAll: true },
  { ...OGX, name: "OGX 1.5.0", options: { surroundings: { serverVersion: "1.5.0" } }, minor: "1.5" },
];

/**
 * Runs a test on all servers, as many at once as may run (server_slots.ts). All come to their end before it fails, so
 * that none is still running afterwards; a failure names its server.
 */
export const onEveryServer = (check: (server: TestedServer) => Promise<void>): Promise<void> => {
  const started = TESTED_SERVERS.filter(({ onlyInTestAll }) => IS_EVERY_VERSION || onlyInTestAll === undefined);
  return sideBySide(started, async (server) => {
    try {
      await check(server);
    } catch (cause) {
      throw new Error(`${server.name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  });
};

/** The provider types that the operator knows of one API on a server. */
export const knownTypes = ({ minor }: TestedServer, api: string): string[] =>
  Object.keys(CATALOGUES.find(({ server }) => server === minor)?.providers[api] ?? {}).sort();
