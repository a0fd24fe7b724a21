/**
 * Variables that a server reads itself, whatever its config, and that end it before it serves if their value is not of the right kind.
 * What it reads with `int` and then only logs, such as OTEL_METRIC_EXPORT_INTERVAL, is not here.
 */
import type { Facts } from "../draft.ts";
import { SSL_MODES, usesPostgres } from "../connections/postgres_connection.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { givenValue } from "../known_environment.ts";
import { LOG_FILE, mayExist, missingFolder } from "../mounted_files.ts";
import { NOT_MOUNTED } from "./expanded_texts.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { isStartedByAuthor } from "../source.ts";
import { anyNumber, asField, oneOf, oneOfExactly, type ReadVariable, wholeNumber } from "./read_variable.ts";

type Start = Pick<Facts, "spec" | "server" | "secretValue">;

interface Process {
  readonly isOf: (start: Start) => boolean;
  /** As the message calls it. */
  readonly reader: string;
  readonly variables: (start: Start) => Readonly<Record<string, ReadVariable>>;
}

const since = (first: string) => ({ server }: Start): boolean => !isOlderMinor(server.version, first);

/** What the names of the variables of a server begin with: LLAMA_STACK or OGX. */
const prefix = ({ server }: Start): string => server.family.process.loggingVariable.replace(/_LOGGING$/, "");

const INTEGER: ReadVariable = { expected: wholeNumber() };
const READ_INTEGER: ReadVariable = { ...INTEGER, isReadEmpty: true };
const BOOLEAN: ReadVariable = { expected: (value) => asField({ type: "boolean" })(value.trim()) };
const NUMBER: ReadVariable = { expected: anyNumber };

/** Options of uvicorn that the start command does not set. Source: `auto_envvar_prefix` in uvicorn/main.py; seen with 0.40 and 0.54. */
const INTEGERS_OF_UVICORN = [
  ...["BACKLOG", "FD", "H11_MAX_INCOMPLETE_EVENT_SIZE", "LIMIT_CONCURRENCY", "LIMIT_MAX_REQUESTS"],
  ...["SSL_CERT_REQS", "SSL_VERSION", "TIMEOUT_GRACEFUL_SHUTDOWN", "TIMEOUT_KEEP_ALIVE", "WS_MAX_QUEUE", "WS_MAX_SIZE"],
];
const BOOLEANS_OF_UVICORN = [
  ...["ACCESS_LOG", "DATE_HEADER", "PROXY_HEADERS", "RELOAD", "SERVER_HEADER", "USE_COLORS", "WS_PER_MESSAGE_DEFLATE"],
];
const NUMBERS_OF_UVICORN = ["RELOAD_DELAY", "WS_PING_INTERVAL", "WS_PING_TIMEOUT"];

const TLS_VERSIONS = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

const hasPostgres = ({ spec }: Start): boolean => spec.distribution.name === "postgres-demo" || usesPostgres(spec);

/** Files that the drivers of PostgreSQL read for each connection. */
const POSTGRES_FILES = ["PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"];

export const PROCESS_VARIABLES: ReadonlyArray<Process> = [
  {
    // Source: CustomRichHandler in log.py. Logs in JSON, which servers write from 0.7 on, have no width.
    isOf: (start) =>
      since("0.3")(start) &&
      !(since("0.7")(start) && givenValue(start, `${prefix(start)}_LOG_FORMAT`)?.value.toLowerCase() === "json"),
    reader: "the server",
    variables: (start) => ({ [`${prefix(start)}_LOG_WIDTH`]: READ_INTEGER }),
  },
  {
    // Source: APIRecordingMode in testing/api_recorder.py, and InferenceMode in inference_recorder.py of 0.2.
    isOf: () => true,
    reader: "the server",
    variables: (start) => ({
      [`${prefix(start)}_TEST_INFERENCE_MODE`]: {
        expected: oneOf("live", "record", "replay", ...(since("0.3")(start) ? ["record-if-missing"] : [])),
        isReadEmpty: true,
      },
    }),
  },
  {
    // Source: cli/stack/run.py; its own option comes later.
    isOf: ({ server: { family } }) => family.process.start.kind === "command",
    reader: "the server",
    variables: ({ server: { family } }) => ({ [family.process.portVariable]: READ_INTEGER }),
  },
  {
    // Source: _metrics_port in telemetry/__init__.py.
    isOf: (start) =>
      start.server.family.process.metricsSwitch !== undefined &&
      /^\s*(1|true|yes|on)\s*$/i.test(givenValue(start, "OGX_METRICS_ENDPOINT_ENABLED")?.value ?? ""),
    reader: "the server",
    variables: () => ({ OGX_METRICS_PORT: { expected: wholeNumber({ minimum: 0, maximum: 65_535 }) } }),
  },
  {
    isOf: ({ spec, server: { family } }) => family.process.start.kind === "factory" && !isStartedByAuthor(spec),
    reader: "uvicorn, which runs the server,",
    variables: () => ({
      ...Object.fromEntries(INTEGERS_OF_UVICORN.map((name) => [`UVICORN_${name}`, INTEGER])),
      ...Object.fromEntries(NUMBERS_OF_UVICORN.map((name) => [`UVICORN_${name}`, NUMBER])),
      ...Object.fromEntries(BOOLEANS_OF_UVICORN.map((name) => [`UVICORN_${name}`, BOOLEAN])),
      UVICORN_INTERFACE: { expected: oneOfExactly("auto", "asgi3", "asgi2", "wsgi") },
      UVICORN_LOG_LEVEL: { expected: oneOfExactly("critical", "error", "warning", "info", "debug", "trace") },
    }),
  },
  {
    // Source: libpq, whose parameters these are; asyncpg knows the first three.
    isOf: hasPostgres,
    reader: "the driver of PostgreSQL",
    variables: () => ({
      PGSSLMODE: { expected: oneOfExactly(...SSL_MODES) },
      PGTARGETSESSIONATTRS: {
        expected: oneOfExactly("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
      },
      PGSSLMINPROTOCOLVERSION: { expected: oneOfExactly(...TLS_VERSIONS) },
      PGSSLMAXPROTOCOLVERSION: { expected: oneOfExactly(...TLS_VERSIONS) },
    }),
  },
  {
    // Source: seen with Python 3.12, which ends at once.
    isOf: () => true,
    reader: "Python",
    variables: () => ({
      PYTHONHASHSEED: {
        expected: (value) =>
          value === "random" || /^[0-9]+$/.test(value) && Number(value) <= 4_294_967_295
            ? undefined
            : "random, or a whole number of at least 0 and at most 4294967295",
      },
      PYTHONINTMAXSTRDIGITS: {
        expected: (value) => value === "0" ? undefined : wholeNumber({ minimum: 640 })(value),
      },
      PYTHONMALLOC: {
        expected: oneOfExactly("default", "malloc", "pymalloc", "debug", "malloc_debug", "pymalloc_debug"),
      },
      PYTHONTRACEMALLOC: { expected: wholeNumber({ minimum: 0, maximum: 65_535 }) },
      PYTHONUTF8: { expected: oneOfExactly("0", "1") },
    }),
  },
];

/** Values of which only some clients in the server end, and files and folders that the image may have. */
export const processWarnings = (start: Facts): ReadonlyArray<Warning> =>
  (start.spec.workload?.overrides?.env ?? []).flatMap(({ name }): ReadonlyArray<Warning> => {
    const given = givenValue(start, name);
    if (given === undefined || given.value === "") return [];
    const { value, secret, path } = given;
    if (PROXY.test(name) && !isProxy(value)) {
      return [
        warning(
          "VariableUnfit",
          path,
          "HTTP clients in the server accept no such proxy, and the server may not start; expected a URL such as http://proxy:3128",
        ),
      ];
    }
    if (
      /^no_proxy$/i.test(name) &&
      value.split(",").some((host) => /^\[|^[^:[\]]*:(?!\/\/|[0-9]*$)[^:]*$/.test(host.trim()))
    ) {
      const detail =
        "HTTP clients in the server cannot read one of these hosts, and the server may not start; expected names, " +
        "addresses or networks, separated by commas";
      return [warning("VariableUnfit", path, detail)];
    }
    // Said of one beside the file of the operator is that it is not used.
    const isRead = name === "SSL_CERT_FILE"
      ? start.spec.networking?.tls?.caBundle === undefined
      : POSTGRES_FILES.includes(name) && hasPostgres(start);
    if (isRead && !mayExist(value, start)) {
      return [
        warning(
          "FileNotMounted",
          path,
          "no volume of the pod contains this file, and the server may not start without it; mount it with " +
            "spec.workload.overrides.volumes and volumeMounts, unless the image has it" +
            (name === "SSL_CERT_FILE" ? ", or set spec.networking.tls.caBundle" : ""),
        ),
      ];
    }
    const folder = name === `${prefix(start)}_LOG_FILE` ? missingFolder(LOG_FILE, value, start) : undefined;
    return folder === undefined ? [] : [warning("FileNotMounted", path, secret === undefined ? folder : NOT_MOUNTED)];
  });

const PROXY = /^(https?|all)_proxy$/i;

/** Source: httpx/_config.py and _urlparse.py; a text without a scheme is one of http. */
const isProxy = (text: string): boolean =>
  /^((https?|socks5h?):\/\/|(?!.*:\/\/))([^/?#]*@)?(\[[0-9a-f:.%]+\]|[^/?#:[\]]*)(:[0-9]*)?([/?#]|$)/i.test(
    text.replace(/^\/\//, ""),
  );
