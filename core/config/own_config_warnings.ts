/** Warnings about a config that the author wrote: what the operator can read, it judges as it would judge its own. */
import { type DoubledKey, doubledSentence } from "../data/doubled_keys.ts";
import { formatPath } from "../data/field_path.ts";
import { isObject, type JsonObject, member, objectAt, put, stringAt } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { type Warning, warning, type WarningCode } from "../failure/warning.ts";
import { PORT_DEFAULT, type Spec } from "../api/v1alpha2.ts";
import { configProblems } from "./config_problems.ts";
import type { DataFolders } from "./data_folders.ts";
import { factsOf } from "./draft.ts";
import {
  type KnownEnvironment,
  knownEnvironment,
  type KnownVariables,
  mayBeSet,
  readWholeNumber,
  type ValueOf,
  valuesIn,
  variablesIn,
} from "./known_environment.ts";
import { isStartedByAuthor } from "./source.ts";
import { contradictionsIn } from "./servers/base.ts";
import { type Server, serverName } from "./servers/families/families.ts";
import { ignoredSections, misplacedAuthentication } from "./servers/ignored_sections.ts";
import { authenticationOf } from "./stages/authentication.ts";
import { configCautions } from "./stages/cautions.ts";
import { codeVariableWarnings } from "./stages/code_variables.ts";
import { clientsWithoutCredentials } from "./stages/aws_credentials.ts";
import { emptySecret, requiredVariables } from "./stages/variables.ts";

export interface OwnConfigFacts {
  readonly spec: Spec;
  /** Keys that the config has twice. */
  readonly doubled?: ReadonlyArray<DoubledKey>;
  /** Lines at which the server reads a date. */
  readonly dates?: ReadonlyArray<number>;
  /** Lines of keys that are no texts for it. */
  readonly keys?: ReadonlyArray<number>;
  /** Undefined if nothing says which server the image has. */
  readonly server: Server | undefined;
  readonly folders: DataFolders;
  /** The image is the one that the operator ships for the distribution. */
  readonly isShipped: boolean;
  /** The value of a key of a Secret; undefined where it is not known. */
  readonly secretValue: (name: string, key: string) => string | undefined;
  /** Other servers of the distribution that accept the config, oldest first. */
  readonly fitting: () => ReadonlyArray<string>;
}

const PATH = ["spec", "overrideConfig", "configMapName"];

/** `key` of the ConfigMap, which the messages name; undefined: whoever prints them names the config. */
export const ownConfigWarnings = (
  key: string | undefined,
  config: JsonObject,
  facts: OwnConfigFacts,
): ReadonlyArray<Warning> => {
  const { spec, server, folders } = facts;
  const placed = (message: string): string => key === undefined ? message : `in ${key}, ${message}`;
  const environment = knownEnvironment({ spec, server, folders }, []);
  const known: KnownVariables = {
    environment,
    valueOf: valuesIn(environment, (variable) => {
      const { value, valueFrom } = spec.workload?.overrides?.env?.findLast((env) => env.name === variable) ?? {};
      if (value !== undefined) return value.includes("$(") ? undefined : value;
      const secret = valueFrom?.secretKeyRef;
      return secret?.name === undefined ? undefined : facts.secretValue(secret.name, secret.key);
    }),
  };
  const found = [
    // First, since only so many are shown.
    ...authenticationWarnings(config, environment, server),
    ...(facts.doubled ?? []).map((key): Said => ({ code: "SettingOverruled", message: doubledSentence(key) })),
    ...(facts.dates ?? []).map((line): Said => ({
      code: "ConfigUnfit",
      message: `line ${line}: without quotes this is a date for the server, which does not start where it expects a ` +
        "text; quote it",
    })),
    ...(facts.keys ?? []).map((line): Said => ({
      code: "ConfigUnfit",
      message: `line ${line}: without quotes this key is no text for the server, which does not start; quote it`,
    })),
    ...unset(config, environment, facts),
    ...(server === undefined ? [] : ofServer(config, server, known, facts)),
    ...unusedServerSection(config, spec, server, known.valueOf),
  ].map(({ code, message }) => warning(code, PATH, onOneLine(placed(message), OWN_CONFIG_MESSAGE_CHARACTERS_MAX)));
  const shown = found.slice(0, OWN_CONFIG_WARNINGS_MAX);
  const more = found.length - shown.length;
  return [
    ...shown,
    ...(more === 0 ? [] : [warning("ConfigUnfit", PATH, placed(`there are ${more} more findings`))]),
    ...(server === undefined ? [] : [
      ...configCautions(config, { spec, server, folders }),
      ...codeVariableWarnings(config, factsOf("", spec, server, folders)),
    ]),
  ];
};

interface Said {
  readonly code: WarningCode;
  readonly message: string;
}

const unset = (config: JsonObject, environment: KnownEnvironment, facts: OwnConfigFacts): ReadonlyArray<Said> =>
  [...new Set(requiredVariables(config, environment, facts.server))].flatMap((variable): ReadonlyArray<Said> => {
    const way = `set it in spec.workload.overrides.env, or write a default as in \${env.${variable}:=default}`;
    const { key } = emptySecret(variable, facts) ?? {};
    switch (environment(variable)) {
      case "Set":
        return key === undefined ? [] : [{
          code: "VariableNotSet",
          message: `\${env.${variable}} is empty, so the server does not start; write a value to ${key} of its Secret`,
        }];
      case "Unset":
        return [{
          code: "VariableNotSet",
          message: `\${env.${variable}} has no value, so the server does not start; ${way}`,
        }];
      case "Unknown":
        return [{
          code: "VariableNotKnown",
          message:
            `the server does not start unless ${variable} is set, and spec.workload.overrides.env does not set it`,
        }];
    }
  });

const ofServer = (
  config: JsonObject,
  server: Server,
  { environment, valueOf }: KnownVariables,
  { spec, folders, fitting, isShipped }: OwnConfigFacts,
): ReadonlyArray<Said> => {
  const name = serverName(server.version);
  const contradictions = contradictionsIn(config, server, false);
  // Of those is said that authentication is off.
  const misplaced = authenticationOf(config, environment, server) === "None" ? misplacedAuthentication(config) : [];
  const dead = [
    ...ignoredSections(misplaced.reduce((rest, path) => put(rest, path, undefined), config), server),
    ...server.family.droppedKeys.filter((path) => hasContent(config, path) && !isListed(server, path))
      .map((path) => `${name} ignores ${path.join(".")}`),
  ];
  const version = contradictions.length === 0 ? undefined : fitting().at(-1);
  if (version !== undefined) {
    const way = spec.distribution.name === undefined
      ? `use an image with the server that it was written for, such as ${version}`
      : `set spec.distribution.serverVersion to ${version}, or write it for this server`;
    return [
      {
        code: "OtherServer",
        message: `the config is for another server, and the server does not start with it: ${
          contradictions.join("; ")
        }; ${way}`,
      },
      ...dead.map((message): Said => ({ code: "SectionIgnored", message })),
    ];
  }
  return [
    // That no server has.
    ...contradictions.map((message): Said => ({
      code: "ConfigUnfit",
      message: `${message}; the server does not start`,
    })),
    ...configProblems(
      { written: config, tree: config, generated: config, image: { isShipped } },
      factsOf("", spec, server, folders),
      { environment, valueOf },
    ).map(({ path, message, isFatal, code = isFatal ? "ConfigUnfit" : "UnknownSetting" }): Said => ({
      code,
      message: `${formatPath(path)}: ${message}${isFatal ? "; the server does not start" : ""}`,
    })),
    ...dead.map((message): Said => ({ code: "SectionIgnored", message })),
    ...clientsWithoutCredentials(config, spec, environment)
      .map(({ message }): Said => ({ code: "CredentialsMissing", message })),
  ];
};

const isListed = ({ family }: Server, path: ReadonlyArray<string>): boolean =>
  family.ignoredKeys.some((other) => other.join(".") === path.join("."));

const hasContent = (config: JsonObject, path: ReadonlyArray<string>): boolean => {
  const value = path.reduce<unknown>(
    (inner, key) => isObject(inner as JsonObject) ? (inner as JsonObject)[key] : undefined,
    config,
  );
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
};

/** Also of the base config, which the resource does not change. */
export const authenticationWarnings = (
  config: JsonObject,
  environment: KnownEnvironment,
  server: Server | undefined,
): ReadonlyArray<Said> => {
  const state = authenticationOf(config, environment, server);
  if (state === "None") {
    return misplacedAuthentication(config).map((path) => ({
      code: "AuthenticationOff",
      message: `no server reads ${path.join(".")}${path.length === 1 ? " at top level" : ""}, so authentication is ` +
        `off, and the server accepts every request; move it to server.auth${
          path.at(-1) === "provider_config" ? ".provider_config" : ""
        }`,
    }));
  }
  if (state !== "Off") return [];
  const type = stringAt(config, "server", "auth", "provider_config", "type") ?? "";
  const names = variablesIn(type).filter((name) => environment(name) === "Unset");
  const [what, way] = names.length === 0
    ? ["missing or empty", "set it"]
    : [`empty unless ${names.join(" and ")} is set`, `set ${names.join(" and ")} in spec.workload.overrides.env`];
  return [{
    code: "AuthenticationOff",
    message:
      `server.auth.provider_config.type is ${what}, so the server accepts every request; ${way}, or remove server.auth`,
  }];
};

/** The start command of the operator passes these as flags, and the server reads no others. */
const unusedServerSection = (
  config: JsonObject,
  spec: Spec,
  server: Server | undefined,
  valueOf: ValueOf,
): ReadonlyArray<Said> => {
  if (isStartedByAuthor(spec)) return [];
  const section = objectAt(config, "server");
  const port = spec.networking?.port ?? PORT_DEFAULT;
  const own = readWholeNumber(member(section, "port"), valueOf);
  const workers = readWholeNumber(member(section, "workers"), valueOf);
  const isSecure = spec.networking?.tls?.enabled === true || server?.family.process.start.kind !== "factory";
  return [
    ...(own !== undefined && own !== port
      ? [{
        code: "SectionIgnored" as const,
        message: `server.port has no effect: the server listens on ${port}; set spec.networking.port`,
      }]
      : []),
    ...(workers !== undefined && workers !== (spec.workload?.workers ?? 1) &&
        server?.family.process.start.kind === "factory"
      ? [{
        code: "SectionIgnored" as const,
        message: `server.workers has no effect: the server runs with ${
          spec.workload?.workers ?? 1
        }; set spec.workload.workers`,
      }]
      : []),
    ...(stringAt(section, "tls_certfile") !== undefined && mayBeSet(section.tls_certfile, valueOf) && !isSecure
      ? [{
        code: "SectionIgnored" as const,
        message: "server.tls_certfile has no effect, and the server answers without TLS; set spec.networking.tls",
      }]
      : []),
  ];
};
