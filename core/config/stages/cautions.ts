/** Warnings about allowed combinations that cause problems: in the resource, or in the resource with its config. */
import { type JsonObject, stringAt } from "../../data/json.ts";
import { formatPath } from "../../data/field_path.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { EnvVar } from "../../api/embedded.ts";
import { isExposed } from "../../api/exposed.ts";
import { PORT_DEFAULT, type Spec } from "../../api/v1alpha2.ts";
import { imageName, namesRegistry, repositoryOf } from "../../data/image_reference.ts";
import { CA_BUNDLE_FILE, CA_VARIABLES, CONFIG_FOLDER } from "../environment.ts";
import { externalProviders } from "../external_providers.ts";
import { type Draft, entriesOf, type EnvEntry, type Facts, noted } from "../draft.ts";
import { knownEnvironment, knownValues } from "../known_environment.ts";
import { authenticationOf } from "./authentication.ts";
import { clientsWithoutCredentials } from "./aws_credentials.ts";
import { declaredPodAddresses } from "./pod_places.ts";
import { SERVER_FAMILIES } from "../servers/families/families.ts";
import { soundStage, type Stage } from "../stage.ts";
import { unmadeFoldersOfResource } from "./unmade_folders.ts";
import { isScaledOutside, mostPods, workloadCautions } from "./workload_cautions.ts";

export const addCautions: Stage<never> = soundStage((draft, facts) =>
  noted(draft, {
    warnings: [
      ...configCautions(draft.config, facts, draft.env),
      ...clientCautions(draft, facts),
      ...podCautions(draft, facts),
      ...unmadeFoldersOfResource(draft, facts),
      ...egressCautions(draft, facts),
      ...specCautions(facts.spec),
    ],
  })
);

const clientCautions = ({ config, declared, env, basePath }: Draft, facts: Facts): ReadonlyArray<Warning> =>
  clientsWithoutCredentials(config, facts.spec, knownEnvironment(facts, env)).map(({ api, id, message }) => {
    const path = declared.find((provider) => provider.api === api && provider.id === id)?.path;
    return warning(
      "CredentialsMissing",
      path ?? basePath,
      `${message} in ${path === undefined ? "the base config" : "secretRefs"}`,
    );
  });

const podCautions = ({ declared, env }: Draft, facts: Facts): ReadonlyArray<Warning> => {
  const environment = knownEnvironment(facts, env);
  return declaredPodAddresses(declared, facts, { environment, valueOf: knownValues(environment, facts) });
};

/** Of a server that may connect to nothing but DNS, and has to. */
const egressCautions = (
  { declared }: Draft,
  { spec: { networking, storage, auth } }: Facts,
): ReadonlyArray<Warning> => {
  const { enabled, egress } = networking?.policy ?? {};
  if (enabled === false || egress === undefined || egress.length > 0) return [];
  const connecting = [
    ...declared.filter(({ type }) => type.startsWith("remote::")).map(({ path }) => formatPath(path)),
    ...(storage?.sql?.type === "postgres" ? ["spec.storage.sql"] : []),
    ...(storage?.kv?.type === "redis" || storage?.kv?.type === "postgres" ? ["spec.storage.kv"] : []),
    ...(auth?.oidc === undefined ? [] : ["spec.auth.oidc"]),
  ];
  return connecting.length === 0 ? [] : [
    warning(
      "EgressNotAllowed",
      ["spec", "networking", "policy", "egress"],
      `an empty list allows the server to connect to DNS alone, and these connect elsewhere: ${
        connecting.slice(0, NAMES_MAX).join(", ")
      }; add rules for them`,
    ),
  ];
};

const NAMES_MAX = 5;

/** For any config, generated, built into the image, or the author's. */
export const configCautions = (
  config: JsonObject,
  { spec, server, folders }: Pick<Facts, "spec" | "server" | "folders">,
  /** What the config refers to by variables. */
  env: ReadonlyArray<EnvEntry> = [],
): ReadonlyArray<Warning> => {
  const { family } = server;
  const environment = knownEnvironment({ spec, server, folders }, env);
  const onFile = family.stores.backends(config).filter(([, type]) => /sqlite/.test(type)).map(([name]) => name);
  const most = mostPods(spec.workload);
  const files = onFile.join(" and ");
  const faiss = entriesOf(config, "vector_io").filter((entry) => stringAt(entry, "provider_type") === "inline::faiss");
  // If spec.auth cannot be written, that is said, and nothing is applied.
  const exposed = isExposed(spec) && spec.auth === undefined &&
    authenticationOf(config, environment, server) !== "On";
  return [
    ...(most > 1 && onFile.length > 0
      ? [
        warning(
          "SharedSqlite",
          ["spec", "workload", ...numberOfPods(spec.workload)],
          "use storage.sql of type postgres and storage.kv of type redis or postgres: " +
            sharedSqlite(spec.workload, `${most}`, files),
        ),
      ]
      : []),
    ...(family.sqliteSharesKeys && faiss.length > 1 && onFile.includes("kv_default")
      ? [
        warning(
          "SharedSqlite",
          ["spec", "providers", "vectorIo"],
          "two inline::faiss providers would overwrite each other's keys in the same sqlite file on this server; use one of them, or another type of storage.kv",
        ),
      ]
      : []),
    ...(exposed
      ? [
        warning(
          "Exposed",
          ["spec", "networking", "expose"],
          "the server has no authentication: anyone who can reach the host can use its models and read stored responses",
        ),
      ]
      : []),
  ];
};

/** The field from which more than one pod follows. */
const numberOfPods = (workload: Spec["workload"]): ReadonlyArray<string> =>
  isScaledOutside(workload)
    ? ["scaling"]
    : (workload?.replicas ?? 1) > 1
    ? ["replicas"]
    : ["autoscaling", "maxReplicas"];

const sharedSqlite = (workload: Spec["workload"], most: string, files: string): string => {
  const [each, pods] = isScaledOutside(workload)
    ? ["with more than one pod, each", "several pods"]
    : [`each of the ${most} pods`, `${most} pods`];
  return workload?.storage === undefined
    ? `${each} would have its own ${files} in sqlite`
    : `${pods} would write to the same sqlite files of ${files} on the claim, which damages them`;
};

export const specCautions = (spec: Spec): ReadonlyArray<Warning> => [
  ...shortImages(spec),
  ...autoscalerCautions(spec),
  ...commandCautions(spec),
  ...workloadCautions(spec),
  ...(spec.workload?.overrides?.env ?? []).flatMap((env, index) =>
    variableCautions(env, index, spec.networking?.tls?.caBundle !== undefined)
  ),
];

/** Docker Hub is meant on most nodes, and nothing at all where short names are enforced. */
const shortImages = (spec: Spec): ReadonlyArray<Warning> =>
  [
    { path: ["spec", "distribution", "image"], image: spec.distribution.image },
    ...externalProviders(spec).map(({ path, provider: { image } }) => ({ path: [...path, "image"], image })),
  ].flatMap(({ path, image }) =>
    image === undefined || namesRegistry(image) ? [] : [
      warning(
        "ImageWithoutRegistry",
        path,
        `"${image}" names no registry, and nodes that require one, such as those of OpenShift, do not pull it; write ${
          repositoryOf(imageName(image))
        } if it is on Docker Hub`,
      ),
    ]
  );

const autoscalerCautions = ({ workload }: Spec): ReadonlyArray<Warning> => {
  const { minReplicas, maxReplicas = 0 } = workload?.autoscaling ?? {};
  const replicas = workload?.replicas ?? 1;
  return minReplicas === undefined || maxReplicas < 1 || replicas <= minReplicas ? [] : [
    warning(
      "AutoscalerMinimum",
      ["spec", "workload", "autoscaling", "minReplicas"],
      `spec.workload.replicas is ${replicas}, so the autoscaler keeps at least ${
        Math.min(replicas, maxReplicas)
      } pods; lower replicas to scale down to ${minReplicas}`,
    ),
  ];
};

/** What only a config file tells the server. */
const CONFIGURED = [
  ...["overrideConfig", "baseConfig", "providers", "resources", "connectors", "vectorStores"] as const,
  ...["storage", "disabled", "auth"] as const,
];

/** The command of the operator passes these to the server; another one has to. */
const commandCautions = (spec: Spec): ReadonlyArray<Warning> => {
  const { command = [], args = [] } = spec.workload?.overrides ?? {};
  const field = command.length > 0 ? "command" : "args";
  const written = CONFIGURED.filter((block) => spec[block] !== undefined);
  // The file that the operator mounts contains them; an own config has its own server section, or none.
  const isRead = READS_CONFIG.test([...command, ...args].join(" ")) && written.length > 0;
  const isGenerated = isRead && spec.overrideConfig === undefined;
  const unapplied = [
    ...(isRead || (spec.networking?.port ?? PORT_DEFAULT) === PORT_DEFAULT ? [] : ["networking.port"]),
    ...(isGenerated || spec.networking?.tls?.enabled !== true ? [] : ["networking.tls"]),
    ...(isGenerated || spec.workload?.workers === undefined ? [] : ["workload.workers"]),
    ...(isRead ? [] : written),
    ...(spec.externalProviders === undefined ? [] : ["externalProviders"]),
  ];
  return command.length + args.length === 0 || unapplied.length === 0 ? [] : [
    warning(
      "OverriddenCommand",
      ["spec", "workload", "overrides", field],
      `replaces the command of the operator: ${
        unapplied.map((name) => `spec.${name}`).join(", ")
      } are applied by that command, and have to be applied by yours`,
    ),
  ];
};

/** The file or a variable that names it; the servers read the port from the environment too. */
const READS_CONFIG = new RegExp(
  [`${CONFIG_FOLDER}/`, ...SERVER_FAMILIES.map(({ process }) => `\\$\\{?${process.configVariable}\\b`)].join("|"),
);

const variableCautions = (
  { name, value = "" }: EnvVar,
  index: number,
  hasBundle: boolean,
): ReadonlyArray<Warning> => {
  const path = ["spec", "workload", "overrides", "env", index];
  const instead = OPERATOR_VARIABLES.get(name) ??
    (hasBundle && CA_VARIABLES.includes(name) && value !== CA_BUNDLE_FILE ? BESIDE_BUNDLE : undefined);
  return [
    ...(instead === undefined ? [] : [warning("OperatorVariable", [...path, "name"], `${name} ${instead}`)]),
    ...(mayBeSecret(name, value)
      ? [
        warning(
          "CredentialInEnvironment",
          [...path, "value"],
          `the value of ${name} is readable for everyone who may read the resource or the Deployment; ` +
            "use valueFrom.secretKeyRef",
        ),
      ]
      : []),
  ];
};

/** Variables that every server family reads, and what replacing the value of the operator does. */
const OPERATOR_VARIABLES: ReadonlyMap<string, string> = new Map(
  SERVER_FAMILIES.flatMap(({ process: { portVariable, configVariable } }) => [
    [portVariable, "is set by the operator; set spec.networking.port, to which probes and Service refer as well"],
    [configVariable, "is set by the operator; with another value, the server does not read the generated config"],
  ]),
);

const BESIDE_BUNDLE =
  "is set by the operator; remove it, because with another value clients in the server do not trust spec.networking.tls.caBundle";

/** Also used for the variables of OpenTelemetry, whose headers carry tokens. */
export const mayBeSecret = (name: string, value: string): boolean =>
  value !== "" && !/\$[({]/.test(value) &&
  (SECRET_NAME.test(name) || PASSWORD_IN_URL.test(value) ||
    /_HEADERS$/.test(name) && /(authorization|api-?key|token)\s*=/i.test(value));

/** Also with a number, as base configs name the key of a second provider, and as clients of databases and clouds do. */
const SECRET_NAME =
  /((^|_)(API_?KEY|(ACCESS|SECRET|PRIVATE)_KEY|CONNECTION_STRING|PASSPHRASE|SECRET|TOKEN)|PASSWORD|PASSWD|BEARER_TOKEN_[A-Z]+)(_?\d+)?$/i;

/** User and password of a connection, whatever the variable is called. */
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:[^/@\s]+@/i;
