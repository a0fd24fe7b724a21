/** Providers that ask AWS for credentials when the server starts, and to which nothing gives any. */
import type { Spec } from "../../api/v1alpha2.ts";
import type { JsonObject } from "../../data/json.ts";
import { type KnownEnvironment, knownValues, mayBeSet } from "../known_environment.ts";
import { AWS_KEYS, awsClients } from "./aws_variables.ts";

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
): ReadonlyArray<{ readonly api: string; readonly id: string; readonly message: string }> => {
  if (spec.workload?.overrides?.serviceAccountName !== undefined) return [];
  if (VARIABLES.some((name) => environment(name) !== "Unset")) return [];
  const valueOf = knownValues(environment, { spec });
  // One of the two alone is not used.
  return awsClients(config, environment).flatMap(({ api, id, settings }) => {
    const lacking = AWS_KEYS.filter((key) => !mayBeSet(settings[key], valueOf));
    const [alone] = AWS_KEYS.filter((key) => !lacking.includes(key));
    const what = alone === undefined ? "has no credentials of AWS" : `has ${alone} alone, which is not used`;
    const message = `${api} provider "${id}" ${what}, and the server does not start unless the node or its ` +
      `ServiceAccount provides credentials; set ${lacking.join(" and ")}`;
    return lacking.length === 0 ? [] : [{ api, id, message }];
  });
};
