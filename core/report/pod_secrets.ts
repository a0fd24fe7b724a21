/** Which secret values the pods of a resource hold, and whether the operator knows all of them. */
import * as Redacted from "effect/Redacted";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { kvSecretName, sqlSecretName } from "../config/stages/storage.ts";
import { type Prepared, SECRETS_ANNOTATION } from "../plan/prepare.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import { templateSpec } from "../resources/pod_spec.ts";

/** Every value that was read for the resource, to be looked for in texts. */
export const knownValues = ({ secrets }: Pick<ClusterSnapshot, "secrets">): ReadonlyArray<string> =>
  [...secrets.values()].flatMap((values) => Object.values(values).map(Redacted.value));

/**
 * True only if the operator has read the current content of every Secret that the pod was started with. A Secret may
 * have been changed or removed from the resource since, and the user's own volumes are not read at all.
 */
export const knowsSecretsOf = (pod: JsonObject, snapshot: ClusterSnapshot, prepared: Prepared | undefined): boolean => {
  const name = stringAt(snapshot.resource, "metadata", "name") ?? "";
  const deployment = snapshot.live.get(liveKey("Deployment", name));
  if (deployment === undefined) return false;
  return !listAt(pod, "spec", "volumes").some(isUnread) && isCurrent(deployment, prepared) &&
    isOfNewestTemplate(pod, deployment, snapshot) &&
    secretsInEnvironment(deployment, name).every(({ secret, key }) => {
      const values = snapshot.secrets.get(secret);
      return values !== undefined && (key === undefined || Object.hasOwn(values, key));
    });
};

/** A volume whose content the operator does not know; the certificate of the server it does. */
const isUnread = (volume: Json): boolean =>
  stringAt(volume, "name") !== "tls" && isObject(volume) &&
  (Object.hasOwn(volume, "secret") || Object.hasOwn(volume, "csi") ||
    listAt(volume, "projected", "sources").some((source) => isObject(source) && Object.hasOwn(source, "secret")));

/** The pods were started with the values that the Secrets have now. */
const isCurrent = (deployment: JsonObject, prepared: Prepared | undefined): boolean => {
  if (prepared === undefined) return false;
  if (prepared.secretReferences === 0) return true;
  const now = prepared.blueprint.podAnnotations[SECRETS_ANNOTATION];
  const started = stringAt(deployment, "spec", "template", "metadata", "annotations", SECRETS_ANNOTATION);
  return now !== undefined && now === started;
};

const HASH_LABEL = "pod-template-hash";
const REVISION = "deployment.kubernetes.io/revision";

const isOfNewestTemplate = (pod: JsonObject, deployment: JsonObject, { replicaSets }: ClusterSnapshot): boolean => {
  const revision = stringAt(deployment, "metadata", "annotations", REVISION);
  const newest = replicaSets.find((replicaSet) =>
    stringAt(replicaSet, "metadata", "annotations", REVISION) === revision
  );
  const hash = stringAt(newest, "metadata", "labels", HASH_LABEL);
  return hash === undefined || hash === stringAt(pod, "metadata", "labels", HASH_LABEL);
};

interface Used {
  readonly secret: string;
  /** Undefined: all keys. */
  readonly key: string | undefined;
}

/** The Secrets that we make hold parts of others that were read. */
const secretsInEnvironment = (deployment: JsonObject, resource: string): ReadonlyArray<Used> => {
  const made = [sqlSecretName(resource), kvSecretName(resource)];
  return listAt(templateSpec(deployment), "containers").flatMap((container): ReadonlyArray<Used> => [
    ...listAt(container, "env").flatMap((entry) => {
      const { name, key } = objectAt(entry, "valueFrom", "secretKeyRef");
      return typeof name === "string" ? [{ secret: name, key: typeof key === "string" ? key : undefined }] : [];
    }),
    ...listAt(container, "envFrom").flatMap((entry) => {
      const name = stringAt(entry, "secretRef", "name");
      return name === undefined ? [] : [{ secret: name, key: undefined }];
    }),
  ]).filter(({ secret }) => !made.includes(secret));
};
