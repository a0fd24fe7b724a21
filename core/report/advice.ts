/** How to fix a failure: one sentence, and a command to paste. */
import * as Result from "effect/Result";
import { decodeResource } from "../api/decode.ts";
import { type JsonObject } from "../data/json.ts";
import { referencesOf } from "../snapshot/references.ts";
import { shell, shellWord } from "../data/printable.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

export interface Advice {
  readonly action: string;
  /** Ready to be pasted; `…` marks values to fill in. */
  readonly command?: string;
}

export type Advise<F> = (failure: F, resource: JsonObject) => Advice;

const GOES_ON = "the operator continues automatically";

/** Wherever the operator is installed. */
export const SHOW_SETTINGS =
  "kubectl get configmap -A --field-selector metadata.name=llama-stack-operator-config -o yaml";

const namespaceOf = (resource: JsonObject): string => liveObject(resource).namespace;
const nameOf = (resource: JsonObject): string => liveObject(resource).name;

interface Named {
  readonly name: string;
  readonly namespace: string;
}
interface NamedKey extends Named {
  readonly key: string;
}
interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

export const adviceForEdit: Advise<unknown> = (_failure, resource) => ({
  action:
    "Edit the field that the message names. `llama-stack-operator lint -f FILE` reports such errors before you apply a file",
  command: shell`kubectl edit llsd ${nameOf(resource)} -n ${namespaceOf(resource)}`,
});

export const adviceOnLabels: Advise<{ readonly image: string }> = ({ image }) => ({
  action: `Wait for the answer of the registry, at most a few minutes; ${GOES_ON}. What the labels say:`,
  command: shell`llama-stack-operator image ${image}`,
});

export const adviceOnUnreadLabels: Advise<{ readonly image: string }> = ({ image }) => ({
  action:
    `Make the image readable for the operator; it tries again, at the latest after 10 minutes. What the labels say:`,
  command: shell`llama-stack-operator image ${image}`,
});

export const adviceOnProvider: Advise<{ readonly image: string; readonly serverVersion: string }> = (
  { image, serverVersion },
) => ({
  action: "Correct the entry or the image, as the message says. What the labels say:",
  command: shell`llama-stack-operator provider check ${image} --server-version ${serverVersion}`,
});

export const adviceOnOverride: Advise<unknown> = () => ({
  action:
    `Correct image-overrides in the settings of the operator, the ConfigMap llama-stack-operator-config; ${GOES_ON}`,
  command: SHOW_SETTINGS,
});

/** `setting` is the key of the operator's ConfigMap that forbids it. */
export const adviceOnAllowance: Advise<{ readonly setting: string; readonly isUnset?: boolean }> = (
  { setting, isUnset },
  resource,
) => ({
  action:
    `${
      isUnset === true ? "Set" : "Remove"
    } the field that the message names, or ask the administrator to allow it with the key ` +
    `${setting} of the ConfigMap llama-stack-operator-config, in the namespace of the operator; ${GOES_ON}`,
  command: shell`kubectl edit llsd ${nameOf(resource)} -n ${namespaceOf(resource)}`,
});

/** The command is the one that loses nothing. `accept` is the annotation as a line of YAML. */
export const adviceOnFamilyChange: Advise<{ readonly accept: string }> = ({ accept }, resource) => ({
  action:
    "To keep the data, set spec.distribution back to the former server, and create another resource for the new one. " +
    `To accept the loss, set the annotation ${accept} on the resource`,
  command: shell`kubectl edit llsd ${nameOf(resource)} -n ${namespaceOf(resource)}`,
});

export const adviceOnSecret: Advise<Named> = ({ name, namespace }, resource) => ({
  action: `Create the Secret; ${GOES_ON}`,
  command: isCertificate(resource, name)
    ? createCertificate(name, namespace)
    : `${shell`kubectl create secret generic ${name} -n ${namespace}`}${
      keysOf(resource, "Secret", name).map((key) => ` --from-literal=${shellWord(key)}=…`).join("")
    }`,
});

/** The Secret of the server's own certificate has the keys that Kubernetes gives to its type. */
const isCertificate = (resource: JsonObject, name: string): boolean => liveResource(resource).tlsSecret === name;

const createCertificate = (name: string, namespace: string): string =>
  `${shell`kubectl create secret tls ${name} -n ${namespace}`} --cert=… --key=…`;

export const adviceOnSecretKey: Advise<NamedKey> = ({ name, namespace, key }, resource) => ({
  action: isCertificate(resource, name)
    ? `Create the Secret again with the type kubernetes.io/tls, which has this key; ${GOES_ON}`
    : `Add the key to the Secret, or reference another key in the resource; ${GOES_ON}`,
  command: isCertificate(resource, name)
    ? createCertificate(name, namespace)
    : shell`kubectl patch secret ${name} -n ${namespace} -p ${JSON.stringify({ stringData: { [key]: "…" } })}`,
});

export const adviceOnConfigMap: Advise<Named> = ({ name, namespace }, resource) => ({
  action: `Create the ConfigMap; ${GOES_ON}`,
  command: `${shell`kubectl create configmap ${name} -n ${namespace}`}${
    keysOf(resource, "ConfigMap", name).map((key) => ` --from-file=${shellWord(key)}=…`).join("")
  }`,
});

export const adviceOnConfigMapKey: Advise<NamedKey> = ({ name, namespace, key }) => ({
  action: `Add the key ${key} to the ConfigMap, or reference another key in the resource; ${GOES_ON}`,
  command: shell`kubectl edit configmap ${name} -n ${namespace}`,
});

/** `key` is the object and its key, `name/key`. */
export const adviceForContent =
  (kind: "secret" | "configmap"): Advise<{ readonly key: string }> => ({ key }, resource) => ({
    action: `Correct the content of ${key}; ${GOES_ON}`,
    command: shell`kubectl edit ${kind} ${key.split("/")[0] ?? ""} -n ${namespaceOf(resource)}`,
  });

export const adviceOnUpgrade: Advise<unknown> = (_failure, resource) => ({
  action:
    "Install the previous version of the operator, restore its previous settings, or adapt the resource to the new ones. " +
    "The server keeps running meanwhile",
  command: shell`kubectl edit llsd ${nameOf(resource)} -n ${namespaceOf(resource)}`,
});

export const adviceOnConflict: Advise<NamedObject> = ({ kind, name }, resource) => ({
  action:
    `Check which controller manages the ${kind}, then rename this resource or remove the ${kind} if it is unused; the operator retries automatically`,
  command: shell`kubectl get ${kind.toLowerCase()} ${name} -n ${namespaceOf(resource)} -o yaml`,
});

export const adviceOnDeletion: Advise<NamedObject> = ({ kind, name }, resource) => ({
  action: "Wait until Kubernetes has removed the object. If it is not removed, check its finalizers",
  command: shell`kubectl get ${kind.toLowerCase()} ${name} -n ${namespaceOf(resource)} -o yaml`,
});

export const adviceOnWrite: Advise<unknown> = () => ({
  action:
    "Check that the API server, or the webhook that the message names, is running; the operator retries automatically",
  command: "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
});

export const ALLOW_DELETION =
  "Change the policy or webhook that the message names, give the operator the right to delete the object, or delete it " +
  "yourself; the operator retries automatically";

export const adviceOnRefusedDeletion: Advise<NamedObject> = ({ kind, name }, resource) => ({
  action: ALLOW_DELETION,
  command: shell`kubectl delete ${kind} ${name} -n ${namespaceOf(resource)}`,
});

/** `blocks`: the claim does not exist yet. */
export const adviceOnRefusal: Advise<NamedObject & { readonly blocks: boolean }> = ({ kind, name, blocks }, resource) =>
  kind === "PersistentVolumeClaim" && !blocks ? adviceOnClaim(name, namespaceOf(resource)) : {
    action:
      "Fix the field, quota, policy or webhook that the message names, or revert the change to an immutable field; " +
      "the operator retries automatically",
    command: shell`kubectl get events -n ${namespaceOf(resource)} --sort-by=.lastTimestamp`,
  };

export const adviceOnClaim = (name: string, namespace: string): Advice => ({
  action: "Set spec.workload.storage.size back to that of the claim, or let its StorageClass expand volumes " +
    "(allowVolumeExpansion: true), if its driver can; the operator retries automatically",
  command: shell`kubectl get pvc ${name} -n ${namespace} -o yaml`,
});

/** Keys that the resource reads of a Secret or ConfigMap, for a command that creates them all at once. */
const keysOf = (resource: JsonObject, kind: "Secret" | "ConfigMap", name: string): ReadonlyArray<string> => {
  const decoded = decodeResource(resource, "lenient");
  if (Result.isFailure(decoded)) return [];
  const keys = referencesOf(decoded.success.spec).filter((reference) =>
    reference.kind === kind && reference.name === name
  )
    .flatMap(({ key }) => key ?? []);
  return [...new Set(keys)];
};

/** Of a resource that is ready; none if its config is generated. */
export const adviceOnOwnConfig = (resource: JsonObject): ReadonlyArray<Advice> => {
  const configMap = liveResource(resource).overrideConfig;
  return configMap === undefined ? [] : [{
    action: "The config is your own. To see which short resource means the same",
    command: shell`kubectl get configmap ${configMap} -n ${
      namespaceOf(resource)
    } -o yaml | llama-stack-operator import -f - --name ${nameOf(resource)}`,
  }];
};
