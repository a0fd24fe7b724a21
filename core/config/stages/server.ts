/** The server section of the config: port, TLS files or their absence, workers. */
import { PORT_DEFAULT } from "../../api/v1alpha2.ts";
import { RuleBroken } from "../../failure/failures.ts";
import { type JsonObject, objectAt, omit, put } from "../../data/json.ts";
import { warning } from "../../failure/warning.ts";
import { type Facts, noted, withConfig } from "../draft.ts";
import { givenValue } from "../known_environment.ts";
import type { Stage } from "../stage.ts";

/** Where the certificate Secret is mounted. */
export const TLS_FOLDER = "/etc/llama-stack/tls";
export const TLS_CERTIFICATE = `${TLS_FOLDER}/tls.crt`;
export const TLS_KEY = `${TLS_FOLDER}/tls.key`;

/** Lowest port that the schema of every server accepts. */
const SERVER_PORT_MIN = 1024;

export const setServer: Stage<RuleBroken> = (draft, facts) => {
  const { spec, server: { family }, serverName } = facts;
  const port = spec.networking?.port ?? PORT_DEFAULT;
  const server: JsonObject = {
    ...omit(objectAt(draft.config, "server"), "insecure"),
    port,
    ...(spec.workload?.workers === undefined ? {} : { workers: spec.workload.workers }),
    ...(spec.networking?.tls?.enabled === true ? { tls_certfile: TLS_CERTIFICATE, tls_keyfile: TLS_KEY } : {}),
  };
  const secured = Object.hasOwn(server, "tls_certfile") && Object.hasOwn(server, "tls_keyfile");
  const detail = `${serverName} rejects ports below ${SERVER_PORT_MIN}, got ${port}; use ${SERVER_PORT_MIN} to 65535`;
  const config = put(draft.config, ["server"], { ...server, ...(secured ? {} : family.serverWithoutTls) });
  return {
    draft: noted(withConfig(draft, config), {
      warnings: family.process.start.kind === "command" && (spec.workload?.workers ?? 1) > 1
        ? [
          warning(
            "FieldNotRead",
            ["spec", "workload", "workers"],
            `${serverName} supports only one process per pod; use spec.workload.replicas`,
          ),
        ]
        : [],
    }),
    failures: [
      ...(port < SERVER_PORT_MIN ? [new RuleBroken({ path: ["spec", "networking", "port"], detail })] : []),
      ...metricsPortConflict(facts),
    ],
  };
};

/** Each worker binds the same metrics port; the second one makes the server exit repeatedly, with exit code 0. */
const metricsPortConflict = (facts: Facts): ReadonlyArray<RuleBroken> => {
  const { spec, server: { family }, serverName } = facts;
  const { metricsSwitch } = family.process;
  if (metricsSwitch === undefined || (spec.workload?.workers ?? 1) < 2) return [];
  const value = givenValue(facts, metricsSwitch)?.value ?? "";
  if (!["1", "true", "yes", "on"].includes(value.trim().toLowerCase())) return [];
  const detail = `${serverName} serves metrics with one worker only; use spec.workload.replicas, or remove ` +
    `${metricsSwitch} from spec.workload.overrides.env`;
  return [new RuleBroken({ path: ["spec", "workload", "workers"], detail })];
};
