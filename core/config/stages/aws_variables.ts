/**
 * What the client of AWS reads from the environment, and what ends it when it is made or sends its first request.
 * Source: credentials.py, configprovider.py, args.py, endpoint.py and utils.py of botocore; seen with 1.44.5.
 */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import {
  givenValue,
  type KnownEnvironment,
  knownEnvironment,
  knownValues,
  mayBeSet,
  readValue,
  stateOf,
} from "../known_environment.ts";
import { mayExist } from "../mounted_files.ts";
import { baseId } from "../servers/base.ts";
import { isAwsEndpoint, isAwsRegion } from "./provider_rules.ts";
import { oneOf, oneOfExactly, placesOf, type ReadVariable, wholeNumber } from "./read_variable.ts";

export const AWS_KEYS = ["aws_access_key_id", "aws_secret_access_key"] as const;

/** Types that make a client of AWS when they start. */
const CLIENTS = ["files remote::s3", "safety remote::bedrock"];

type Condition = NonNullable<ReadVariable["when"]>;

/** The client looks for credentials where the config has no keys. */
const looksForCredentials: Condition = ({ config, environment }) =>
  !AWS_KEYS.every((key) => mayBeSet(config[key], (name) => environment(name) === "Unset" ? "" : undefined));

const hasKeys = (environment: KnownEnvironment): boolean =>
  AWS_KEYS.every((key) => environment(key.toUpperCase()) !== "Unset");

/** Places where it looks first. */
const BEFORE_CONTAINER = [
  "AWS_PROFILE",
  "AWS_DEFAULT_PROFILE",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
];

const asksContainer: Condition = (input) =>
  looksForCredentials(input) && !hasKeys(input.environment) &&
  BEFORE_CONTAINER.every((name) => input.environment(name) === "Unset");

const address: ReadVariable["expected"] = (value) =>
  isAwsEndpoint(value) ? undefined : "a URL such as http://minio:9000, with a host name without underscores";

/** Hosts without TLS that it asks for credentials; all other addresses need https. */
const HOSTS =
  /^http:\/\/(?:[^/?#]*@)?(169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\]|localhost|127(\.[0-9]+){3}|\[::1\])(?![^:/?#])/i;

/** `service`: of the name of the variable for its address. */
export const awsVariables = (...services: ReadonlyArray<string>): Readonly<Record<string, ReadVariable>> => {
  const isAddressed: Condition = ({ config, environment }) =>
    (config.endpoint_url ?? null) === null && environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") === "Unset";
  const own = services.map((service) => `AWS_ENDPOINT_URL_${service}`);
  return {
    AWS_RETRY_MODE: { expected: oneOfExactly("legacy", "standard", "adaptive"), isReadEmpty: true },
    AWS_DEFAULTS_MODE: {
      expected: oneOf("legacy", "auto", "standard", "in-region", "cross-region", "mobile"),
      isReadEmpty: true,
    },
    AWS_STS_REGIONAL_ENDPOINTS: { expected: oneOf("legacy", "regional") },
    AWS_S3_US_EAST_1_REGIONAL_ENDPOINT: { expected: oneOf("legacy", "regional"), isReadEmpty: true },
    AWS_REQUEST_CHECKSUM_CALCULATION: { expected: oneOf("when_supported", "when_required"), isReadEmpty: true },
    AWS_RESPONSE_CHECKSUM_VALIDATION: { expected: oneOf("when_supported", "when_required"), isReadEmpty: true },
    AWS_ACCOUNT_ID_ENDPOINT_MODE: { expected: oneOf("preferred", "disabled", "required"), isReadEmpty: true },
    AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES: {
      expected: wholeNumber({ minimum: 1, maximum: 1_048_576 }),
      isReadEmpty: true,
    },
    ...Object.fromEntries(own.map((name) => [name, { expected: address, when: isAddressed }])),
    AWS_ENDPOINT_URL: {
      expected: address,
      when: (input) => isAddressed(input) && own.some((name) => input.environment(name) === "Unset"),
    },
    AWS_METADATA_SERVICE_TIMEOUT: { expected: wholeNumber(), isReadEmpty: true, when: looksForCredentials },
    AWS_METADATA_SERVICE_NUM_ATTEMPTS: { expected: wholeNumber(), isReadEmpty: true, when: looksForCredentials },
    AWS_EC2_METADATA_SERVICE_ENDPOINT: { expected: address, when: looksForCredentials },
    AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: {
      expected: oneOf("ipv4", "ipv6"),
      isReadEmpty: true,
      when: looksForCredentials,
    },
    AWS_CREDENTIAL_EXPIRATION: {
      expected: (value) =>
        /[0-9]{4}.*(Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2})\s*$/i.test(value)
          ? undefined
          : "a time with its zone, such as 2030-01-31T12:00:00Z",
      when: (input) => looksForCredentials(input) && hasKeys(input.environment),
    },
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: {
      expected: (value) => /^[/?#:]/.test(value) ? undefined : "a path that begins with /",
      when: asksContainer,
    },
    AWS_CONTAINER_CREDENTIALS_FULL_URI: {
      expected: (value) =>
        /^https:/i.test(value) || HOSTS.test(value)
          ? undefined
          : "a URL of https, or of this pod (localhost) or the agent of the node (169.254.170.23)",
      isReadEmpty: true,
      when: (input) => asksContainer(input) && input.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") === "Unset",
    },
    AWS_CONTAINER_AUTHORIZATION_TOKEN: {
      expected: (value) => /[\r\n]/.test(value) ? "a token of one line" : undefined,
      when: (input) =>
        asksContainer(input) && input.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") === "Unset" &&
        /Set/.test(input.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI")),
    },
  };
};

/** Where no field of the config names the region. */
export const REGION_VARIABLE: ReadVariable = {
  expected: (value) => isAwsRegion(value) ? undefined : "the name of a region",
  when: ({ config }) => (config.region_name ?? "") === "",
};

/** The providers that make a client, each with its config. */
export const awsClients = (
  config: JsonObject,
  environment: KnownEnvironment,
): ReadonlyArray<{ readonly api: string; readonly id: string; readonly settings: JsonObject }> =>
  CLIENTS.flatMap((client) => {
    const [api = "", type = ""] = client.split(" ");
    return entriesOf(config, api).filter((entry) =>
      stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On"
    ).map((entry) => ({ api, id: baseId(entry) ?? "", settings: objectAt(entry, "config") }));
  });

const settingsOfClients = (config: JsonObject, environment: KnownEnvironment): ReadonlyArray<JsonObject> =>
  awsClients(config, environment).map(({ settings }) => settings);

/** Variables of which the client demands another one, and profiles that no file has. */
export const unfitCredentials = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  const environment = knownEnvironment(facts, draft.env);
  const clients = settingsOfClients(draft.config, environment);
  return [
    ...(isOfAccount(facts) || !clients.some((config) => looksForCredentials({ config, environment }))
      ? []
      : halfCredentials(facts, environment)),
    ...(clients.length === 0 ? [] : lostProfiles(facts, environment)),
  ];
};

/** Webhooks of a cloud add variables and volumes to the pods of their ServiceAccounts. */
const isOfAccount = ({ spec }: Facts): boolean => spec.workload?.overrides?.serviceAccountName !== undefined;

/** Files with a token of which the client reads one. */
const TOKEN_FILES: Readonly<Record<string, Condition>> = {
  AWS_WEB_IDENTITY_TOKEN_FILE: (input) => looksForCredentials(input) && !hasKeys(input.environment),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: (input) =>
    asksContainer(input) &&
    ["FULL", "RELATIVE"].some((kind) => input.environment(`AWS_CONTAINER_CREDENTIALS_${kind}_URI`) === "Set"),
};

export const lostTokens = ({ config, env }: Pick<Draft, "config" | "env">, facts: Facts): ReadonlyArray<Warning> => {
  const environment = knownEnvironment(facts, env);
  const clients = isOfAccount(facts) ? [] : settingsOfClients(config, environment);
  return Object.entries(TOKEN_FILES).flatMap(([name, isRead]) => {
    const { value: file = "", path = [] } = givenValue(facts, name) ?? {};
    return file === "" || mayExist(file, facts) || !clients.some((client) => isRead({ config: client, environment }))
      ? []
      : [
        warning(
          "FileNotMounted",
          path,
          "no volume of the pod contains this file, and the client of AWS, which reads it, does not start without it; mount " +
            "it with spec.workload.overrides.volumes and volumeMounts, unless the image has it",
        ),
      ];
  });
};

const halfCredentials = ({ spec }: Facts, environment: KnownEnvironment): ReadonlyArray<SettingInvalid> => {
  const half = ([name, other]: readonly [string, string]) =>
    environment(name) === "Set" && environment(other) === "Unset" ? [[name, other] as const] : [];
  const found = [
    ...half(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]),
    // The keys come first.
    ...(hasKeys(environment) ? [] : half(["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"])),
  ];
  return found.flatMap(([name, other]) =>
    placesOf(spec, name).map((path) =>
      new SettingInvalid({
        path,
        detail: `the client of AWS reads this variable itself, and does not start without ${other}; set both`,
      })
    )
  );
};

/** A file with profiles may be there. */
const mayHaveProfiles = ({ spec }: Facts, environment: KnownEnvironment): boolean =>
  (spec.workload?.overrides?.volumeMounts ?? []).length > 0 ||
  ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"].some((name) => environment(name) !== "Unset");

/** Profiles that the config of a provider names, and that no file has. */
export const lostProfilesOfConfig = (
  { config, declared, env, basePath }: Draft,
  facts: Facts,
): ReadonlyArray<SettingInvalid> => {
  const environment = knownEnvironment(facts, env);
  if (mayHaveProfiles(facts, environment)) return [];
  const valueOf = knownValues(environment, facts);
  return awsClients(config, environment).flatMap(({ api, id, settings }) => {
    if (typeof readValue(settings.profile_name, valueOf) !== "string") return [];
    const of = declared.find((provider) => provider.api === api && provider.id === id);
    return [
      new SettingInvalid({
        path: of === undefined ? basePath : [...of.path, "settings", "profile_name"],
        detail:
          `${of === undefined ? `profile_name of ${api} provider "${id}": ` : ""}the client of AWS does not start ` +
          "without that profile, whatever its name; mount a file with it and set AWS_CONFIG_FILE, or remove the setting",
      }),
    ];
  });
};

/** Whatever else gives it credentials, the client looks for the profile; one with an empty name, too. */
const lostProfiles = (facts: Facts, environment: KnownEnvironment): ReadonlyArray<SettingInvalid> => {
  const [path] = ["AWS_DEFAULT_PROFILE", "AWS_PROFILE"].flatMap((name) => placesOf(facts.spec, name));
  return path === undefined || mayHaveProfiles(facts, environment) ? [] : [
    new SettingInvalid({
      path,
      detail: "the client of AWS reads this variable itself, and does not start without that profile, whatever its " +
        "name; mount a file with it and set AWS_CONFIG_FILE, or remove the variable",
    }),
  ];
};
