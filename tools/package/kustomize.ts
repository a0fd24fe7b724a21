/**
 * `deploy/kustomize`: the default installation as a base, every other one as an overlay of it. An overlay contains
 * additions, deletions and changes; it is computed from the two installations and never written by hand.
 */
import { isList, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { writeYaml } from "../../core/data/yaml.ts";
import { type Choices, DEFAULT } from "./choices.ts";
import { prometheusRule } from "./alerts.ts";
import { dashboard, serviceMonitor } from "./extras.ts";
import { serverDashboard } from "./server_dashboard.ts";
import { installation } from "./installation.ts";
import { NAMESPACE } from "./names.ts";
import { strictNetworkPolicy } from "./network_policy.ts";
import { writeGuard } from "./write_guard.ts";

/** The namespaces of the overlay are an example: whoever uses it names their own. */
const overlaysOf = (common: Choices): Readonly<Record<string, Choices>> => ({
  "cert-manager": { ...common, certificates: "cert-manager" },
  openshift: { ...common, certificates: "service-ca" },
  namespaced: { ...common, watched: ["llama-stack"] },
  "no-webhooks": { ...common, webhooks: false },
  "secret-polling": { ...common, secretPolling: true },
});

export const OVERLAYS = overlaysOf(DEFAULT);

interface Component {
  readonly added?: ReadonlyArray<JsonObject>;
  /** Objects of every installation whose spec is another one with the component. */
  readonly changed?: ReadonlyArray<JsonObject>;
}

const COMPONENTS: Readonly<Record<string, Component>> = {
  "network-policy": { changed: [strictNetworkPolicy()] },
  "write-guard": { added: writeGuard() },
  monitoring: { added: [serviceMonitor(), prometheusRule(), dashboard(), serverDashboard()] },
};

/** Texts by path below `deploy/kustomize`; a release passes its images by digest. */
export const kustomizeFiles = (header: string, common = DEFAULT): Readonly<Record<string, string>> => {
  const base = installation(common);
  return Object.fromEntries([
    ["base/kustomization.yaml", header + writeYaml(kustomization({ resources: base.map(fileOf) }))],
    ...base.map((object) => [`base/${fileOf(object)}`, header + writeYaml(object)]),
    ...Object.entries(overlaysOf(common)).flatMap(([name, choices]) =>
      overlay(header, `overlays/${name}`, base, choices)
    ),
    ...Object.entries(COMPONENTS).flatMap(([name, parts]) => component(header, `components/${name}`, parts)),
  ]);
};

/** Several documents as one file, in order. */
export const oneFile = (header: string, objects: ReadonlyArray<JsonObject>): string =>
  header + objects.map((object) => `---\n${writeYaml(object)}`).join("");

const overlay = (
  header: string,
  folder: string,
  base: ReadonlyArray<JsonObject>,
  choices: Choices,
): ReadonlyArray<readonly [string, string]> => {
  const wanted = installation(choices);
  const before = new Map(base.map((object) => [identity(object), object]));
  const after = new Map(wanted.map((object) => [identity(object), object]));
  const added = wanted.filter((object) => !before.has(identity(object)));
  const patches = [
    ...base.filter((object) => !after.has(identity(object)))
      .map((object) => ({ of: object, entry: {}, content: { $patch: "delete", ...named(object) } })),
    ...wanted.flatMap((object) => {
      const changes = changesOf(before.get(identity(object)) ?? object, object);
      return changes.length === 0 ? [] : [{ of: object, entry: { target: targetOf(object) }, content: changes }];
    }),
  ];
  return [
    [
      `${folder}/kustomization.yaml`,
      header + writeYaml(kustomization({
        resources: ["../../base", ...added.map(fileOf)],
        patches: patches.map(({ of, entry }) => ({ ...entry, path: `patch-${fileOf(of)}` })),
      })),
    ],
    ...added.map((object) => [`${folder}/${fileOf(object)}`, header + writeYaml(object)] as const),
    ...patches.map(({ of, content }) => [`${folder}/patch-${fileOf(of)}`, header + writeYaml(content)] as const),
  ];
};

const component = (
  header: string,
  folder: string,
  { added = [], changed = [] }: Component,
): ReadonlyArray<readonly [string, string]> => [
  [
    `${folder}/kustomization.yaml`,
    header + writeYaml({
      apiVersion: "kustomize.config.k8s.io/v1alpha1",
      kind: "Component",
      ...(added.length === 0 ? {} : { resources: added.map(fileOf) }),
      ...(changed.length === 0
        ? {}
        : { patches: changed.map((object) => ({ target: targetOf(object), path: `patch-${fileOf(object)}` })) }),
    }),
  ],
  ...added.map((object) => [`${folder}/${fileOf(object)}`, header + writeYaml(object)] as const),
  ...changed.map((object) =>
    [
      `${folder}/patch-${fileOf(object)}`,
      header + writeYaml([{ op: "replace", path: "/spec", value: objectAt(object, "spec") }]),
    ] as const
  ),
];

/** As JSON Patch (RFC 6902), one operation for each field that differs; a list of another length is replaced as a whole. */
const changesOf = (before: Json, after: Json, path = ""): ReadonlyArray<Json> => {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isObject(before) && isObject(after)) {
    const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
      .map((key): Json => ({ op: "remove", path: `${path}/${pointer(key)}` }));
    const changed = Object.entries(after).flatMap(([key, value]): ReadonlyArray<Json> => {
      const place = `${path}/${pointer(key)}`;
      return Object.hasOwn(before, key)
        ? changesOf(before[key] ?? null, value, place)
        : [{ op: "add", path: place, value }];
    });
    return [...removed, ...changed];
  }
  if (isList(before) && isList(after) && before.length === after.length) {
    return after.flatMap((value, index) => changesOf(before[index] ?? null, value, `${path}/${index}`));
  }
  return [{ op: "replace", path, value: after }];
};

const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

const targetOf = (object: JsonObject): JsonObject => ({
  kind: object.kind ?? "",
  name: stringAt(object, "metadata", "name") ?? "",
});

const kustomization = (more: JsonObject): JsonObject => ({
  apiVersion: "kustomize.config.k8s.io/v1beta1",
  kind: "Kustomization",
  ...more,
});

const named = (object: JsonObject): JsonObject => ({
  apiVersion: object.apiVersion ?? "",
  kind: object.kind ?? "",
  metadata: Object.fromEntries(
    Object.entries(objectAt(object, "metadata")).filter(([key]) => key === "name" || key === "namespace"),
  ),
});

const identity = (object: JsonObject): string =>
  [
    stringAt(object, "apiVersion"),
    stringAt(object, "kind"),
    stringAt(object, "metadata", "namespace"),
    stringAt(object, "metadata", "name"),
  ].join(" ");

/** `cluster_role_llama-stack-operator.yaml`; a namespace other than the operator's is part of it. */
const fileOf = (object: JsonObject): string => {
  const kind = (stringAt(object, "kind") ?? "").replace(/(?<!^)(?=[A-Z])/g, "_").toLowerCase();
  const namespace = stringAt(object, "metadata", "namespace") ?? NAMESPACE;
  const place = namespace === NAMESPACE ? "" : `${namespace}_`;
  return `${kind}_${place}${stringAt(object, "metadata", "name")}.yaml`;
};
