/** Buckets that a server opens when it starts, and for which nothing gives it credentials. */
import type { Spec } from "../../api/v1alpha2.ts";
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { entriesOf } from "../draft.ts";
import { type KnownEnvironment, knownValues, mayBeSet, stateOf } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";

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

/** Ids of the `files` providers of type remote::s3. Webhooks of a cloud add variables to the pods of their ServiceAccounts. */
export const bucketsWithoutCredentials = (
  config: JsonObject,
  spec: Spec,
  environment: KnownEnvironment,
): ReadonlyArray<string> => {
  if (spec.workload?.overrides?.serviceAccountName !== undefined) return [];
  if (VARIABLES.some((name) => environment(name) !== "Unset")) return [];
  const valueOf = knownValues(environment, { spec });
  return entriesOf(config, "files")
    .filter((entry) => stringAt(entry, "provider_type") === "remote::s3" && stateOf(entry, environment) === "On")
    // One of the two alone is not used.
    .filter((entry) => !KEYS.every((key) => mayBeSet(objectAt(entry, "config")[key], valueOf)))
    .map((entry) => baseId(entry) ?? "");
};

export const WITHOUT_CREDENTIALS =
  "has no credentials for its bucket, and the server does not start unless the node or its ServiceAccount provides them; " +
  "set aws_access_key_id and aws_secret_access_key";
