/** The permissions as RBAC objects, for an operator that watches the whole cluster or some namespaces. */
import type { Json, JsonObject } from "../../core/data/json.ts";
import { metadata, NAME, NAMESPACE } from "./names.ts";
import type { Permission } from "./permissions.ts";

const RBAC = "rbac.authorization.k8s.io";
const API_VERSION = `${RBAC}/v1`;

/** `watched` are the namespaces; empty: all of them. `permissions` are those of the chosen parts. */
export const roles = (
  watched: ReadonlyArray<string>,
  permissions: ReadonlyArray<Permission>,
): ReadonlyArray<JsonObject> => {
  const at = (where: Permission["where"]) => rulesOf(permissions.filter((permission) => permission.where === where));
  const [everywhere, own, cluster] = [at("watched"), at("own"), at("cluster")];
  return [
    ...(watched.length === 0 ? bound("ClusterRole", NAME, [...everywhere, ...cluster]) : [
      ...(cluster.length === 0 ? [] : bound("ClusterRole", NAME, cluster)),
      ...watched.flatMap((namespace) => bound("Role", `${NAME}-resources`, everywhere, namespace)),
    ]),
    ...bound("Role", NAME, own, NAMESPACE),
    ...people(),
  ];
};

/** One rule for each set of resources with the same group, verbs and names. */
export const rulesOf = (permissions: ReadonlyArray<Permission>): ReadonlyArray<JsonObject> => {
  const rules = new Map<string, { readonly of: Permission; readonly resources: Array<string> }>();
  for (const permission of permissions) {
    const key = JSON.stringify([permission.apiGroup, permission.verbs, permission.names]);
    const rule = rules.get(key);
    if (rule === undefined) rules.set(key, { of: permission, resources: [permission.resource] });
    else if (!rule.resources.includes(permission.resource)) rule.resources.push(permission.resource);
  }
  return [...rules.values()].map(({ of, resources }) => ({
    apiGroups: [of.apiGroup],
    resources,
    ...(of.names === undefined ? {} : { resourceNames: [...of.names] }),
    verbs: [...of.verbs],
  }));
};

const bound = (
  kind: "ClusterRole" | "Role",
  name: string,
  rules: ReadonlyArray<Json>,
  namespace?: string,
): ReadonlyArray<JsonObject> => [
  { apiVersion: API_VERSION, kind, metadata: metadata(name, "rbac", namespace), rules: [...rules] },
  {
    apiVersion: API_VERSION,
    kind: `${kind}Binding`,
    metadata: metadata(name, "rbac", namespace),
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }],
  },
];

/** Who may view, edit or administer a namespace may do so with our resources as well; Prometheus is bound to the last role. */
export const people = (): ReadonlyArray<JsonObject> => [
  aggregated("view", ["view", "edit", "admin"], ["get", "list", "watch"], { [`${AGGREGATE}cluster-reader`]: "true" }),
  aggregated("edit", ["edit", "admin"], ["create", "update", "patch", "delete", "deletecollection"], {}),
  {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: metadata(`${NAME}-metrics-reader`, "rbac"),
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  },
];

const AGGREGATE = `${RBAC}/aggregate-to-`;

const aggregated = (
  name: string,
  to: ReadonlyArray<string>,
  verbs: ReadonlyArray<string>,
  more: JsonObject,
): JsonObject => {
  const { labels, ...meta } = metadata(`${NAME}-${name}`, "rbac");
  const aggregation = Object.fromEntries(to.map((text) => [`${AGGREGATE}${text}`, "true"]));
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { ...meta, labels: { ...labels as JsonObject, ...aggregation, ...more } },
    rules: [
      { apiGroups: ["llamastack.io"], resources: ["llamastackdistributions"], verbs: [...verbs] },
      ...(name === "view"
        ? [{ apiGroups: ["llamastack.io"], resources: ["llamastackdistributions/status"], verbs: ["get"] }]
        : []),
    ],
  };
};
