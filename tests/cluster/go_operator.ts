/** What the Go operator 0.9 leaves in a cluster: its definition, its own Deployment, and the recorded objects of its resources. */
import { ok } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { V1ALPHA1 } from "../../core/api/v1alpha1.ts";
import { isObject, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";

const FIXTURES = new URL("../fixtures/go-operator-0.9/", import.meta.url);

/** The resources that were recorded. */
export const GO_NAMES = ["custom-config", "plain", "scaled", "stored"];

/** Recorded from its main branch, with floating tags; the release pins the tag that we pin. */
const FLOATING = "distribution-starter:latest";
const PINNED = "distribution-starter:0.7.1";

/** Its CRD as far as it matters here: v1alpha1 alone, stored. */
export const goDefinition = (): JsonObject => {
  const ours = customResourceDefinition();
  const versions = listAt(ours, "spec", "versions").filter(isObject)
    .filter((version) => `llamastack.io/${stringAt(version, "name")}` === V1ALPHA1)
    .map((version) => ({ ...omit(version, "deprecated", "deprecationWarning"), storage: true }))
    .map((version) => put(version, STATUS_SCHEMA, statusOfGo(objectAt(version, ...STATUS_SCHEMA))))
    .map((version) => put(version, RULES, undefined));
  return put(put(ours, ["spec", "versions"], versions), ["spec", "conversion"], { strategy: "None" }) as JsonObject;
};

const STATUS_SCHEMA = ["schema", "openAPIV3Schema", "properties", "status"] as const;
/** It has none for what cannot be converted, as it converts nothing. */
const RULES = ["schema", "openAPIV3Schema", "x-kubernetes-validations"] as const;

/** It has no observedGeneration, so no default either. */
const statusOfGo = (ours: JsonObject): JsonObject => ({
  ...omit(ours, "default"),
  properties: omit(objectAt(ours, "properties"), "observedGeneration"),
});

/** Where its own release puts it. */
export const goOperator = (): ReadonlyArray<JsonObject> => {
  const [name, namespace] = ["llama-stack-k8s-operator-controller-manager", "llama-stack-k8s-operator-system"];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "manager", image: "x" }] } },
      },
    },
  ];
};

/** In the order of owners; every object by the managers that it was recorded with. */
const FILES = [
  ...["llamastackdistributions", "configmaps", "persistentvolumeclaims", "serviceaccounts", "deployments", "services"],
  ...["networkpolicies", "horizontalpodautoscalers", "poddisruptionbudgets", "ingresses"],
];

/** As it runs there; existing objects are applied again, as in each of its reconciliations. */
export const loadGoObjects = async (
  cluster: ControlPlane,
  namespace: string,
  images: "floating" | "pinned",
  files: ReadonlyArray<string> = FILES,
  names: ReadonlyArray<string> = GO_NAMES,
): Promise<void> => {
  const owners = new Map<string, string>();
  for (const file of ["llamastackdistributions", ...files.filter((text) => text !== "llamastackdistributions")]) {
    for (const recorded of await recordedIn(file, namespace, images)) {
      const object = fresh(recorded, owners);
      const owner = ownerOf(recorded);
      if (owner !== undefined && !names.includes(owner)) continue;
      const group = String(object.apiVersion).includes("/")
        ? `/apis/${object.apiVersion}`
        : `/api/${object.apiVersion}`;
      const path = `${group}/namespaces/${namespace}/${file}`;
      const name = stringAt(object, "metadata", "name");
      const there = await cluster.fetch(`${path}/${name}`);
      const found = await there.json() as JsonObject;
      const made = there.ok
        ? found
        : await send(cluster, "POST", `${path}?fieldManager=go-operator`, "application/json", object);
      if (object.kind === "LlamaStackDistribution") {
        owners.set(stringAt(recorded, "metadata", "uid") ?? "", stringAt(made, "metadata", "uid") ?? "");
        continue;
      }
      for (const entry of listAt(recorded, "metadata", "managedFields")) {
        if (stringAt(entry, "operation") !== "Apply") continue;
        const as = new URLSearchParams({ fieldManager: stringAt(entry, "manager") ?? "", force: "true" });
        // Only the first write names the owner.
        const applied = there.ok
          ? put(object, ["metadata"], omit(objectAt(object, "metadata"), "ownerReferences"))
          : object;
        await send(cluster, "PATCH", `${path}/${name}?${as}`, "application/apply-patch+yaml", applied as JsonObject);
      }
    }
  }
};

/** Objects of one kind, as they were recorded, in `namespace` and with the images of a release or of its main branch. */
export const recordedIn = async (
  file: string,
  namespace: string,
  images: "floating" | "pinned",
): Promise<ReadonlyArray<JsonObject>> => {
  const text = (await Deno.readTextFile(new URL(`${file}.json`, FIXTURES))).replaceAll("team-a", namespace);
  return listAt(JSON.parse(images === "pinned" ? text.replaceAll(FLOATING, PINNED) : text), "items").filter(isObject);
};

/** Undefined for what users made. */
const ownerOf = (recorded: JsonObject): string | undefined =>
  recorded.kind === "LlamaStackDistribution"
    ? stringAt(recorded, "metadata", "name")
    : stringAt(listAt(recorded, "metadata", "ownerReferences")[0], "name");

const fresh = (recorded: JsonObject, owners: ReadonlyMap<string, string>): JsonObject => {
  const kept = omit(recorded, "status");
  const metadata = omit(
    objectAt(kept, "metadata"),
    ...["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "ownerReferences"],
  );
  const references = listAt(recorded, "metadata", "ownerReferences").filter(isObject)
    .map((ownerReference) => ({ ...ownerReference, uid: owners.get(String(ownerReference.uid)) ?? "" }));
  const spec = omit(objectAt(kept, "spec"), "clusterIP", "clusterIPs", "volumeName");
  return {
    ...kept,
    metadata: references.length === 0 ? metadata : { ...metadata, ownerReferences: references },
    ...(Object.hasOwn(kept, "spec") ? { spec } : {}),
  };
};

const send = async (
  cluster: ControlPlane,
  method: string,
  path: string,
  type: string,
  body: JsonObject,
): Promise<JsonObject> => {
  const answer = await cluster.fetch(path, { method, headers: { "content-type": type }, body: JSON.stringify(body) });
  const said = await answer.json();
  ok(answer.ok, `${method} ${path}: ${said.message}`);
  return said;
};
