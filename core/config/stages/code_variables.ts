/**
 * Variables that the code of a provider reads itself, beside its config, and that end the server if their value is not of the right type.
 * Source: os.getenv and os.environ in config.py of the types, Llama Stack 0.7.3 and OGX 1.5.0.
 */
import { SettingInvalid } from "../../failure/failures.ts";
import { stringAt } from "../../data/json.ts";
import { type Draft, entriesOf, type Facts } from "../draft.ts";
import { knownEnvironment, stateOf, writtenValue } from "../known_environment.ts";
import { isStartedByAuthor } from "../source.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { expectedInstead } from "../servers/field_types.ts";
import type { Stage } from "../stage.ts";

interface Read {
  /** `<api> <type>`. */
  readonly of: string;
  /** First minor version; unset: every server that has the type. */
  readonly since?: string;
  readonly variables: Readonly<Record<string, "url" | "integer" | "number">>;
}

const READ: ReadonlyArray<Read> = [
  { of: "inference remote::cerebras", variables: { CEREBRAS_BASE_URL: "url" } },
  { of: "inference remote::mistral", variables: { MISTRAL_BASE_URL: "url" } },
  { of: "inference remote::deepseek", variables: { DEEPSEEK_BASE_URL: "url", DEEPSEEK_ANTHROPIC_BASE_URL: "url" } },
  { of: "inference remote::nvidia", since: "1.5", variables: { NVIDIA_BASE_URL: "url" } },
  {
    of: "inference remote::bedrock",
    since: "1.5",
    variables: {
      AWS_MAX_ATTEMPTS: "integer",
      AWS_CONNECT_TIMEOUT: "number",
      AWS_READ_TIMEOUT: "number",
      AWS_SESSION_TTL: "integer",
    },
  },
];

export const rejectUnfitCodeVariables: Stage<SettingInvalid> = (draft, facts) => ({
  draft,
  failures: unfitCodeVariables(draft, facts),
});

const unfitCodeVariables = (draft: Draft, facts: Facts): ReadonlyArray<SettingInvalid> => {
  const variables = facts.spec.workload?.overrides?.env ?? [];
  if (variables.length === 0) return [];
  const environment = knownEnvironment(facts, draft.env);
  return [
    ...emptyFolders(facts),
    ...READ.flatMap(({ of, since, variables: read }) => {
      const [api = "", type = ""] = of.split(" ");
      const isRead = since === undefined || !isOlderMinor(facts.server.version, since);
      const isUsed = isRead && entriesOf(draft.config, api).some((entry) => {
        return stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On";
      });
      return !isUsed ? [] : Object.entries(read).flatMap(([variable, kind]) => {
        const value = writtenValue(facts, variable);
        const expected = value === undefined || value === "" ? undefined : expectedInstead(FIELDS[kind], value);
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

const FIELDS = {
  url: { type: "url", schemes: ["http", "https"] },
  integer: { type: "integer" },
  number: { type: "number" },
} as const;
