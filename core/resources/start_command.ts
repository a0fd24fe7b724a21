/** How the container starts: explicitly, so that a wrong path can never start the config built into the image. */
import type { V1Container } from "@kubernetes/client-node";
import { CONFIG_FILE, PACKAGES_FOLDER } from "../config/environment.ts";
import { hasExternalProviders } from "../config/external_providers.ts";
import type { ServerFamily } from "../config/servers/families/family.ts";
import { SERVER_FAMILIES } from "../config/servers/families/families.ts";
import { TLS_CERTIFICATE, TLS_KEY } from "../config/stages/server.ts";
import { type Blueprint, portOf, servesTls } from "./blueprint.ts";
import type { AsJson } from "./kubernetes_objects.ts";

/** `command` and `args` of the container; empty when the image's own entrypoint starts its own config. */
export const startCommand = (blueprint: Blueprint): AsJson<Pick<V1Container, "command" | "args">> => {
  const { command, args } = blueprint.spec.workload?.overrides ?? {};
  const own = {
    ...(command === undefined || command.length === 0 ? {} : { command }),
    ...(args === undefined || args.length === 0 ? {} : { args }),
  };
  const isOwn = Object.keys(own).length > 0;
  if (isOwn || blueprint.configFile === undefined) return own;
  return { command: ["/bin/sh", "-c", startScript(blueprint)], args: [] };
};

/**
 * One `exec`, so that the server is process 1 and receives SIGTERM. The directories are created first, because the
 * server creates only those of its key-value file. `opentelemetry-instrument` is prepended if OTEL_* is set and the
 * image has a working one: a broken one disables traces, never the server.
 */
export const startScript = (blueprint: Blueprint): string => {
  const { family, env, spec } = blueprint;
  const server = family === undefined ? probedServer(blueprint) : `set -- ${serverWords(family, blueprint)}`;
  const traced = env.some(({ name }) => name.startsWith("OTEL_"))
    ? ['if opentelemetry-instrument --version >/dev/null 2>&1; then set -- opentelemetry-instrument "$@"; fi']
    : [];
  return [
    "set -e",
    'mkdir -p "$SQLITE_STORE_DIR" "$FILES_STORAGE_DIR"',
    // Before those of the image and of the resource, wherever these set the variable.
    ...(hasExternalProviders(spec) ? [`export PYTHONPATH="${PACKAGES_FOLDER}\${PYTHONPATH:+:$PYTHONPATH}"`] : []),
    ...(hasSeveralWorkers(blueprint) ? [PATIENCE] : []),
    server,
    ...traced,
    'exec "$@"',
  ].join("\n");
};

const hasSeveralWorkers = ({ spec }: Blueprint): boolean => (spec.workload?.workers ?? 1) > 1;

/**
 * Uvicorn kills a worker that does not answer within five seconds. On a busy node, one that loads the server's packages takes longer,
 * and would be killed again and again. An image's uvicorn that lacks the option ignores the variable.
 */
const PATIENCE = "export UVICORN_TIMEOUT_WORKER_HEALTHCHECK=${UVICORN_TIMEOUT_WORKER_HEALTHCHECK:-60}";

const serverWords = ({ process: { start } }: ServerFamily, blueprint: Blueprint): string =>
  start.kind === "factory"
    ? `python3 -m uvicorn --factory ${start.factory} ${flags(blueprint)}`
    : `python3 -m ${start.module} ${start.words} ${CONFIG_FILE} --port ${portOf(blueprint.spec)}`;

/** The server reads none of these from its file when it is started this way. An empty host binds IPv4 and IPv6. */
const flags = ({ spec }: Blueprint): string =>
  [
    "--host ''",
    `--port ${portOf(spec)}`,
    `--workers ${spec.workload?.workers ?? 1}`,
    "--lifespan on",
    ...(servesTls(spec) ? [`--ssl-certfile ${TLS_CERTIFICATE}`, `--ssl-keyfile ${TLS_KEY}`] : []),
  ].join(" ");

/**
 * For a user-provided config on an image whose server is unknown: the installed package decides, newest name first.
 * Servers that share a package with newer ones but start in another way are recognized by the version of the package; a
 * package without a version, such as a source tree, counts as new.
 */
const probedServer = (blueprint: Blueprint): string => {
  const ways = SERVER_FAMILIES.filter((family, index) => startOf(family) !== startOf(SERVER_FAMILIES[index + 1]))
    .reverse();
  const tries = packages(ways).flatMap((name) => {
    const [newest, ...older] = ways.filter((family) => packageOf(family) === name);
    return [
      ...older.reverse().map((family) => ({ family, test: isAtMost(name, family.to) })),
      ...(newest === undefined ? [] : [{ family: newest, test: `import ${name}` }]),
    ];
  });
  return [
    ...tries.map(({ family, test }, index) =>
      `${index === 0 ? "if" : "elif"} python3 -c '${test}' 2>/dev/null; then set -- ${serverWords(family, blueprint)}`
    ),
    `else echo 'no Llama Stack or OGX server in this image for ${CONFIG_FILE}' >&2; exit 1; fi`,
  ].join("\n");
};

const startOf = (family: ServerFamily | undefined): string =>
  family === undefined ? "" : JSON.stringify(family.process.start);

const packageOf = ({ process: { start } }: ServerFamily): string =>
  (start.kind === "factory" ? start.factory : start.module).split(".")[0] ?? "";

const packages = (
  families: ReadonlyArray<ServerFamily>,
): ReadonlyArray<string> => [...new Set(families.map(packageOf))];

/** Python that ends well where the package is of this minor or an older one; by its metadata, which is read at once. */
const isAtMost = (name: string, minor: ServerFamily["to"]): string =>
  `import sys; from importlib.metadata import version; ` +
  `sys.exit([int(n) for n in version("${name}").split(".")[:2]] > [${minor?.join(", ")}])`;
