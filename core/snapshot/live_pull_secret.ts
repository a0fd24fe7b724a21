/** Pull Secrets, and the ServiceAccounts that name them. */
import { type JsonObject, listAt, stringAt } from "../data/json.ts";

/** Names of the pull Secrets of a ServiceAccount. */
export const accountPullSecrets = (account: JsonObject | undefined): ReadonlyArray<string> =>
  listAt(account, "imagePullSecrets").flatMap((reference) => stringAt(reference, "name") ?? []);

export interface LivePullSecret {
  readonly format: "dockerconfigjson" | "dockercfg";
  /** In base64. */
  readonly data: string;
}

/** Undefined: it is none, or it is empty. */
export const livePullSecret = (secret: JsonObject | undefined): LivePullSecret | undefined => {
  const format = FORMATS.find((name) => stringAt(secret, "type") === `kubernetes.io/${name}`);
  const data = format === undefined ? undefined : stringAt(secret, "data", `.${format}`);
  return format === undefined || data === undefined ? undefined : { format, data };
};

const FORMATS = ["dockerconfigjson", "dockercfg"] as const;
