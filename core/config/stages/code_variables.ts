/**
 * Variables that the code of a provider reads itself, beside its config, and that end the server if their value is not of the right type.
 * Source: os.getenv and os.environ in config.py of the types, Llama Stack 0.7.3 and OGX 1.5.0.
 */
import { SettingInvalid } from "../../failure/failures.ts";
import { type Json, objectAt, stringAt } from "../../data/json.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import { expandedText, type KnownEnvironment, knownEnvironment, stateOf, writtenValue } from "../known_environment.ts";
import { isStartedByAuthor } from "../source.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import type { CatalogueField } from "../servers/catalogue.ts";
import { expectedInstead } from "../servers/field_types.ts";
import type { Stage } from "../stage.ts";

interface Read {
  /** `<api> <type>`. */
  readonly of: string;
  /** Minor versions that do not read them. */
  readonly except?: ReadonlyArray<string>;
  /** First minor version; unset: every server that has the type. */
  readonly since?: string;
  readonly variables: Readonly<Record<string, ReadVariable>>;
}

interface ReadVariable extends CatalogueField {
  /** An empty value is read as it is, and does not fit. */
  readonly isReadEmpty?: boolean;
}

const URL: ReadVariable = { type: "url", schemes: ["http", "https"] };
const oneOf = (...words: ReadonlyArray<string>): ReadVariable => ({ type: "string", enum: words });

/** Source: BedrockBaseConfig in providers/utils/bedrock/config.py. */
const OF_BEDROCK: Read["variables"] = {
  AWS_MAX_ATTEMPTS: { type: "integer" },
  AWS_CONNECT_TIMEOUT: { type: "number", isReadEmpty: true },
  AWS_READ_TIMEOUT: { type: "number", isReadEmpty: true },
  AWS_SESSION_TTL: { type: "integer", isReadEmpty: true },
};

/** What every client of AWS reads when it is made. Source: seen with botocore 1.44.5. */
const OF_CLIENTS: Read["variables"] = {
  AWS_RETRY_MODE: oneOf("legacy", "standard", "adaptive"),
  AWS_DEFAULTS_MODE: oneOf("legacy", "auto", "standard", "in-region", "cross-region", "mobile"),
  AWS_STS_REGIONAL_ENDPOINTS: oneOf("legacy", "regional"),
  AWS_S3_US_EAST_1_REGIONAL_ENDPOINT: oneOf("legacy", "regional"),
  AWS_REQUEST_CHECKSUM_CALCULATION: oneOf("when_supported", "when_required"),
  AWS_RESPONSE_CHECKSUM_VALIDATION: oneOf("when_supported", "when_required"),
  AWS_ACCOUNT_ID_ENDPOINT_MODE: oneOf("preferred", "disabled", "required"),
  AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES: { type: "integer" },
};

const READ: ReadonlyArray<Read> = [
  { of: "inference remote::cerebras", variables: { CEREBRAS_BASE_URL: URL } },
  { of: "inference remote::mistral", variables: { MISTRAL_BASE_URL: URL } },
  { of: "inference remote::deepseek", variables: { DEEPSEEK_BASE_URL: URL, DEEPSEEK_ANTHROPIC_BASE_URL: URL } },
  { of: "inference remote::nvidia", since: "1.5", variables: { NVIDIA_BASE_URL: URL } },
  { of: "inference remote::bedrock", except: ["0.4", "0.5", "0.6", "0.7"], variables: OF_BEDROCK },
  { of: "safety remote::bedrock", variables: { ...OF_CLIENTS, ...OF_BEDROCK } },
  {
    of: "files remote::s3",
    variables: { ...OF_CLIENTS, AWS_MAX_ATTEMPTS: { type: "integer", minimum: 1, isReadEmpty: true } },
  },
];

export const rejectUnfitCodeVariables: Stage<SettingInvalid> = (draft, facts) => ({
  draft,
  failures: unfitCodeVariables(draft, facts),
});

const unfitCodeVariables = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  const variables = facts.spec.workload?.overrides?.env ?? [];
  if (variables.length === 0) return bothKeys(draft, facts);
  const environment = knownEnvironment(facts, draft.env);
  return [
    ...emptyFolders(facts),
    ...bothKeys(draft, facts),
    ...halfCredentials(draft, facts),
    ...READ.flatMap(({ of, since, except = [], variables: read }) => {
      const [api = "", type = ""] = of.split(" ");
      const { version, catalogue } = facts.server;
      const isRead = !except.includes(catalogue.server) && (since === undefined || !isOlderMinor(version, since));
      const isUsed = isRead && entriesOf(draft.config, api).some((entry) => {
        return stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On";
      });
      return !isUsed ? [] : Object.entries(read).flatMap(([variable, kind]) => {
        const value = writtenValue(facts, variable);
        const isSkipped = value === undefined || value === "" && kind.isReadEmpty !== true;
        const expected = isSkipped
          ? undefined
          : expectedInstead(kind, kind.enum === undefined ? value : value.toLowerCase());
        return expected === undefined ? [] : [
          new SettingInvalid({
            path: [
              ...["spec", "workload", "overrides", "env"],
              variables.findLastIndex(({ name }) => name === variable),
              "value",
            ],
            detail: `providers of type ${type} read this variable themselves; expected ${expected}`,
          }),
        ];
      });
    }),
  ];
};

/** Folders that the start command makes: it ends at a name that is empty. */
const FOLDERS = ["SQLITE_STORE_DIR", "FILES_STORAGE_DIR"];

const emptyFolders = ({ spec }: Facts): ReadonlyArray<SettingInvalid> =>
  isStartedByAuthor(spec) ? [] : FOLDERS.flatMap((folder) => {
    const variables = spec.workload?.overrides?.env ?? [];
    const index = variables.findLastIndex(({ name }) => name === folder);
    const { value, valueFrom } = variables[index] ?? { value: "unset" };
    return valueFrom !== undefined || (value ?? "") !== "" ? [] : [
      new SettingInvalid({
        path: ["spec", "workload", "overrides", "env", index, "value"],
        detail: "the pod makes this folder before the server starts; expected an absolute path, or remove the variable",
      }),
    ];
  });

/** Types that make a client of AWS when they start, and their fields for its keys. */
const CLIENTS = ["files remote::s3", "safety remote::bedrock"];
const KEYS = ["aws_access_key_id", "aws_secret_access_key"];

/** Variables of which the client of AWS demands another one, where the config has no keys. Source: botocore/credentials.py. */
const halfCredentials = (draft: Draft, { spec, ...facts }: Facts): ReadonlyArray<SettingInvalid> => {
  const environment = knownEnvironment({ spec, ...facts }, draft.env);
  const isUsed = CLIENTS.some((client) => {
    const [api = "", type = ""] = client.split(" ");
    return entriesOf(draft.config, api).some((entry) =>
      stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On" &&
      !KEYS.every((key) => mayBeSet(objectAt(entry, "config")[key], environment))
    );
  });
  // Webhooks of a cloud add variables to the pods of their ServiceAccounts.
  if (!isUsed || spec.workload?.overrides?.serviceAccountName !== undefined) return [];
  const half = ([name, other]: readonly [string, string]) =>
    environment(name) === "Set" && environment(other) === "Unset" ? [[name, other] as const] : [];
  const [id, secret] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
  // The keys come first.
  const isIdentified = [id, secret].every((name) => environment(name) !== "Unset");
  const isMounted = (spec.workload?.overrides?.volumeMounts ?? []).length > 0;
  const found = [
    ...half([id, secret]),
    ...(isIdentified ? [] : half(["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"])),
    ...(isMounted || environment("AWS_SHARED_CREDENTIALS_FILE") !== "Unset"
      ? []
      : half(["AWS_PROFILE", "AWS_CONFIG_FILE"])),
  ];
  return found.flatMap(([name, other]) => {
    const index = (spec.workload?.overrides?.env ?? []).findLastIndex((env) => env.name === name);
    return index < 0 ? [] : [
      new SettingInvalid({
        path: ["spec", "workload", "overrides", "env", index],
        detail: `the client of AWS reads this variable itself, and does not start without ${other}; set both`,
      }),
    ];
  });
};

/**
 * Before 0.8, the session of a client with keys gets an argument that it does not know. Source: create_bedrock_client in
 * providers/utils/bedrock/client.py, seen on 0.7.3; the class reads both variables in place of the fields.
 */
const bothKeys = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  if (!isOlderMinor(facts.server.version, "0.8")) return [];
  const environment = knownEnvironment(facts, draft.env);
  return draft.declared.filter(({ api, type, config }) =>
    `${api} ${type}` === "safety remote::bedrock" &&
    KEYS.every((key) => isWritten(config[key]) || environment(key.toUpperCase()) === "Set")
  ).map(({ path }) =>
    new SettingInvalid({
      path,
      detail:
        "with both keys of AWS this server does not start; remove them here and from the variables of the pod, and let its " +
        "ServiceAccount provide the credentials",
    })
  );
};

const isWritten = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== "";

const mayBeSet = (value: Json | undefined, environment: KnownEnvironment): boolean =>
  typeof value !== "string" || !value.includes("${env.")
    ? isWritten(value)
    : expandedText(value, (name) => environment(name) === "Unset" ? "" : undefined) !== null;
