/**
 * Everything that the operator keeps for a resource, as text that is the same for another resource with the same spec: what an
 * object has of its own is left out, with the reason.
 */
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { decodeResource } from "../core/api/decode.ts";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, omit, stringAt } from "../core/data/json.ts";
import { HMAC_SECRET } from "../core/api/own_objects.ts";
import { keyId, secretsDigest } from "../core/plan/rollout/keyed_digests.ts";
import { usedValues } from "../core/plan/secret_values.ts";
import { groupPath, OWN_KINDS } from "../core/snapshot/kinds.ts";
import { referencesOf } from "../core/snapshot/references.ts";
import { secretsOf } from "./snapshots.ts";

/** Reads an object or a list at a path of the API server. */
export type Read = (path: string) => Promise<JsonObject>;

/** Collections of the operator's objects but claims, which outlive their resource; NS stands for the namespace. */
export const KINDS = OWN_KINDS.filter(({ kind }) => kind !== "PersistentVolumeClaim")
  .map(({ apiVersion, plural }) => `${groupPath(apiVersion)}/namespaces/NS/${plural}`);
export const OWN = "labelSelector=app.kubernetes.io/managed-by%3Dllama-stack-operator";

/** Annotations that tell the history of an object, each with its reason. */
const HISTORY: Readonly<Record<string, string>> = {
  "llamastack.io/manifest-digest": "a digest with the namespace in it",
  "llamastack.io/template-digest": "of a template with digests of Secrets, which each namespace makes with its own key",
  "llamastack.io/last-good-template": "the rollback target is a former template",
  "llamastack.io/last-good-proof": "proves it",
  "llamastack.io/rolled-back-template": "so is what was undone",
  "llamastack.io/rollout-cause": "who caused the last rollout",
  "llamastack.io/upgrade-started": "when an upgrade took its slot",
  "llamastack.io/generation": "counts edits",
  "deployment.kubernetes.io/revision": "counts rollouts",
};
/** Fields that every object has of its own. */
const OF_ITS_OWN = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "ownerReferences",
  "selfLink",
  "namespace",
];

/** What of an object is compared. */
const essence = (object: Json, namespace: string): Json => {
  const metadata = objectAt(object, "metadata");
  const annotations = Object.fromEntries(
    Object.entries(objectAt(metadata, "annotations")).filter(([name]) => !Object.hasOwn(HISTORY, name)),
  );
  const kept = Object.fromEntries(
    Object.entries({ ...metadata, annotations }).filter(([key]) => !OF_ITS_OWN.includes(key)),
  );
  const { status: _status, ...rest } = object as JsonObject;
  const owners = listAt(metadata, "ownerReferences").map((ownerReference) => stringAt(ownerReference, "name") ?? "");
  return neutral({ ...rest, metadata: { ...kept, owners } }, namespace);
};

/** Addresses hold the namespace; a Service's addresses and ports are the API server's choice. */
const neutral = (value: Json, namespace: string): Json => {
  if (isList(value)) return value.map((item) => neutral(item, namespace));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).filter(([key]) => !["clusterIP", "clusterIPs", "nodePort"].includes(key))
        .toSorted(([a], [b]) => a < b ? -1 : 1).map(([key, inner]) => [key, neutral(inner, namespace)]),
    );
  }
  return typeof value === "string" ? value.replaceAll(namespace, "NS") : value;
};

const TIMES = /"(lastTransitionTime|generatedAt|lastUpdated)":"[^"]*"/g;

/** NS stands for the namespace. */
export const RESOURCE = "/apis/llamastack.io/v1alpha2/namespaces/NS/llamastackdistributions/my";

/** Digests of Secret values are made with a key for each namespace: the right ones of this namespace, by neutral words. */
const digestsOf = async (read: Read, resource: JsonObject): Promise<ReadonlyMap<string, string>> => {
  const namespace = stringAt(resource, "metadata", "namespace") ?? "";
  const { spec } = Result.getOrThrow(decodeResource(resource, "lenient"));
  const references = referencesOf(spec);
  const names = new Set(references.filter(({ kind }) => kind === "Secret").map(({ name }) => name));
  const values = await Promise.all([...names].map(async (name) => {
    const data = objectAt(await read(`/api/v1/namespaces/${namespace}/secrets/${name}`), "data");
    return [name, Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(String(text))]))] as const;
  }));
  const kept = await read(`/api/v1/namespaces/default/secrets/${HMAC_SECRET}`);
  const key = Redacted.make(stringAt(kept, "data", "key") ?? "");
  const used = usedValues(references, { secrets: secretsOf(Object.fromEntries(values)) });
  return new Map([[keyId(key, namespace), "KEY"], [secretsDigest(key, namespace, used), "SECRETS"]]);
};

/** Everything of the resource in a namespace, by kind and name, as comparable text. */
export const picture = async (read: Read, namespace: string): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  const resource = await read(RESOURCE.replace("NS", namespace));
  const digests = await digestsOf(read, resource);
  const deployment = await read(`/apis/apps/v1/namespaces/${namespace}/deployments/my`);
  for (const kind of KINDS) {
    for (const object of listAt(await read(`${kind.replace("NS", namespace)}?${OWN}`), "items")) {
      const name = stringAt(object, "metadata", "name") ?? "";
      // Former configs are kept for a rollback (prune.ts); only the current one is compared.
      const isConfig = stringAt(object, "metadata", "labels", "app.kubernetes.io/component") === "generated-config";
      if (isConfig && !JSON.stringify(deployment.spec ?? null).includes(name)) continue;
      const text = [...digests].reduce(
        (told, [digest, word]) => told.replaceAll(digest, word),
        JSON.stringify(essence(object, namespace)),
      );
      found.set(`${kind.split("/").at(-1)}/${name}`, text);
    }
  }
  const status = objectAt(resource, "status");
  const conditions = listAt(status, "conditions").map((condition) =>
    omit(condition as JsonObject, "observedGeneration")
  );
  const told: Record<string, Json> = { ...omit(status, "observedGeneration"), conditions };
  // Under an autoscaler the number of pods is its own.
  if ([...found.keys()].some((key) => key.startsWith("horizontalpodautoscalers/"))) {
    const name = "deployments/my";
    found.set(name, found.get(name)?.replace(/"replicas":\d+,/, "") ?? "");
    for (const key of ["replicas", "availableReplicas"]) delete told[key];
    told.conditions = conditions.map((condition) => omit(condition, "message"));
  }
  found.set("status", JSON.stringify(neutral(told as JsonObject, namespace)).replaceAll(TIMES, '"$1":""'));
  return found;
};

/** What differs between two pictures, with what is around it. */
export const differencesOf = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key)).map((key) => {
    const [one = "absent", other = "absent"] = [a.get(key), b.get(key)];
    let start = 0;
    while (start < one.length && one[start] === other[start]) start++;
    const around = (text: string) => text.slice(Math.max(0, start - 80), start + 160);
    return `${key}:\n    walked  …${around(one)}…\n    fresh   …${around(other)}…`;
  });
