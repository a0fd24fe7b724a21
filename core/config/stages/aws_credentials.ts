/** Providers that ask AWS for credentials when the server starts, and to which nothing gives any. */
import type { Spec } from "../../api/v1alpha2.ts";
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { entriesOf } from "../draft.ts";
import { type KnownEnvironment, knownValues, mayBeSet, stateOf } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import { AWS_CLIENTS } from "./aws_variables.ts";

const KEYS = ["aws_access_key_id", "aws_secret_access_key"] as const;

/** What the client of AWS reads by itself, apart from the instance that it runs on. */
const VARIABLES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_SHARED_CREDENTIALS_FILE",
];

/** Webhooks of a cloud add variables to the pods of their ServiceAccounts. */
export const clientsWithoutCredentials = (
  config: JsonObject,
  spec: Spec,
  environment: KnownEnvironment,
): ReadonlyArray<{ readonly api: string; readonly id: string }> => {
  if (spec.workload?.overrides?.serviceAccountName !== undefined) return [];
  if (VARIABLES.some((name) => environment(name) !== "Unset")) return [];
  const valueOf = knownValues(environment, { spec });
  return AWS_CLIENTS.map((client) => client.split(" ")).flatMap(([api = "", type]) =>
    entriesOf(config, api)
      .filter((entry) => stringAt(entry, "provider_type") === type && stateOf(entry, environment) === "On")
      // One of the two alone is not used.
      .filter((entry) => !KEYS.every((key) => mayBeSet(objectAt(entry, "config")[key], valueOf)))
      .map((entry) => ({ api, id: baseId(entry) ?? "" }))
  );
};

export const WITHOUT_CREDENTIALS =
  "has no credentials of AWS, and the server does not start unless the node or its ServiceAccount provides them; " +
  "set aws_access_key_id and aws_secret_access_key";
