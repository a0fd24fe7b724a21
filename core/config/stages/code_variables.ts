/**
 * Variables that the code of a provider reads itself, beside its config, and that end the server if their value is not of the right type.
 * Source: os.getenv and os.environ in config.py of the types, Llama Stack 0.7.3 and OGX 1.5.0.
 */
import { SecretValueUnusable, SettingInvalid } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { type Draft, entriesOf, type Facts, noted } from "../draft.ts";
import { type GivenValue, givenValue, knownEnvironment, stateOf } from "../known_environment.ts";
import { isStartedByAuthor } from "../source.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import type { Stage } from "../stage.ts";
import { awsVariables, lostProfilesOfConfig, lostTokens, REGION_VARIABLE, unfitCredentials } from "./aws_variables.ts";
import { PROCESS_VARIABLES, processWarnings } from "./process_variables.ts";
import { anyNumber, asField, type ReadVariable, wholeNumber } from "./read_variable.ts";

interface Read {
  /** `<api> <type>`. */
  readonly of: string;
  /** Minor versions that do not read them. */
  readonly except?: ReadonlyArray<string>;
  /** First minor version; unset: every server that has the type. */
  readonly since?: string;
  readonly variables: Readonly<Record<string, ReadVariable>>;
}

const URL: ReadVariable = { expected: asField({ type: "url", schemes: ["http", "https"] }) };

/** Source: BedrockBaseConfig in providers/utils/bedrock/config.py. */
const OF_BEDROCK: Read["variables"] = {
  AWS_MAX_ATTEMPTS: { expected: wholeNumber() },
  AWS_CONNECT_TIMEOUT: { expected: anyNumber, isReadEmpty: true },
  AWS_READ_TIMEOUT: { expected: anyNumber, isReadEmpty: true },
  AWS_SESSION_TTL: { expected: wholeNumber(), isReadEmpty: true },
};

const READ: ReadonlyArray<Read> = [
  { of: "inference remote::cerebras", variables: { CEREBRAS_BASE_URL: URL } },
  { of: "inference remote::mistral", variables: { MISTRAL_BASE_URL: URL } },
  { of: "inference remote::deepseek", variables: { DEEPSEEK_BASE_URL: URL, DEEPSEEK_ANTHROPIC_BASE_URL: URL } },
  { of: "inference remote::nvidia", since: "1.5", variables: { NVIDIA_BASE_URL: URL } },
  { of: "inference remote::bedrock", except: ["0.4", "0.5", "0.6", "0.7"], variables: OF_BEDROCK },
  {
    of: "safety remote::bedrock",
    variables: { ...awsVariables("BEDROCK_RUNTIME", "BEDROCK"), ...OF_BEDROCK, AWS_DEFAULT_REGION: REGION_VARIABLE },
  },
  {
    of: "files remote::s3",
    variables: {
      ...awsVariables("S3"),
      AWS_MAX_ATTEMPTS: { expected: wholeNumber({ minimum: 1 }), isReadEmpty: true },
    },
  },
];

type Unfit = SettingInvalid | SecretValueUnusable;

export const rejectUnfitCodeVariables: Stage<Unfit> = (draft, facts) => ({
  draft: noted(draft, { warnings: [...processWarnings(facts), ...lostTokens(draft, facts)] }),
  failures: [...unfitCodeVariables(draft, facts), ...lostProfilesOfConfig(draft, facts)],
});

/** For a config that the operator does not generate. */
export const codeVariableWarnings = (config: JsonObject, facts: Facts): ReadonlyArray<Warning> => {
  const draft: Draft = { config, basePath: [], declared: [], env: [], external: [], warnings: [] };
  return [
    ...unfitCodeVariables(draft, facts).map(({ path, detail }) => warning("VariableUnfit", path, detail)),
    ...lostProfilesOfConfig(draft, facts).map(({ path, detail }) => warning("ConfigUnfit", path, detail)),
    ...processWarnings(facts),
    ...lostTokens(draft, facts),
  ];
};

const unfitCodeVariables = (draft: Draft, facts: Facts): ReadonlyArray<Unfit> => {
  if ((facts.spec.workload?.overrides?.env ?? []).length === 0) return [];
  const environment = knownEnvironment(facts, draft.env);
  const { version, catalogue } = facts.server;
  return [
    ...emptyFolders(facts),
    ...unfitProcessVariables(facts),
    ...unfitCredentials(draft, facts),
    ...READ.flatMap(({ of, since, except = [], variables }) => {
      const [api = "", type = ""] = of.split(" ");
      const isRead = !except.includes(catalogue.server) && (since === undefined || !isOlderMinor(version, since));
      const used = !isRead ? [] : entriesOf(draft.config, api)
        .filter((entry) => stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On")
        .map((entry) => objectAt(entry, "config"));
      return Object.entries(variables).flatMap(([variable, read]) =>
        used.some((config) => read.when?.({ config, environment }) !== false)
          ? unfit(variable, read, facts, `providers of type ${type} read this variable themselves`)
          : []
      );
    }),
  ];
};

/** Of the server itself, whatever its config. */
const unfitProcessVariables = (facts: Facts): ReadonlyArray<Unfit> =>
  PROCESS_VARIABLES.flatMap(({ isOf, reader, variables }) =>
    !isOf(facts)
      ? []
      : Object.entries(variables(facts)).flatMap(([variable, read]) =>
        unfit(variable, read, facts, `${reader} reads this variable when it starts`)
      )
  );

const unfit = (
  variable: string,
  { expected, isReadEmpty = false }: ReadVariable,
  facts: Pick<Facts, "spec" | "secretValue">,
  who: string,
): ReadonlyArray<Unfit> => {
  const given = givenValue(facts, variable);
  const instead = given === undefined || given.value === "" && !isReadEmpty ? undefined : expected(given.value);
  return given === undefined || instead === undefined ? [] : [refused(given, `${who}; expected ${instead}`)];
};

const refused = ({ path, secret }: GivenValue, detail: string): Unfit =>
  secret === undefined ? new SettingInvalid({ path, detail }) : new SecretValueUnusable({ path, key: secret, detail });

/** Folders that the start command makes: it ends at a name that is empty. */
const FOLDERS = ["SQLITE_STORE_DIR", "FILES_STORAGE_DIR"];

const emptyFolders = (facts: Facts): ReadonlyArray<Unfit> =>
  isStartedByAuthor(facts.spec) ? [] : FOLDERS.flatMap((folder) => {
    const given = givenValue(facts, folder);
    return given?.value !== "" ? [] : [refused(
      given,
      "the pod makes this folder before the server starts; expected an absolute path, or remove the variable",
    )];
  });
