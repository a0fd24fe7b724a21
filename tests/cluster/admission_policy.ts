/** A mutating policy of the cluster, as a platform team installs one. */
import { ok } from "node:assert/strict";
import type { Json, JsonObject } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { eventually } from "../waiting.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

export interface PolicyRule {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly resources: ReadonlyArray<string>;
  /** A mutation of a MutatingAdmissionPolicy. */
  readonly mutation: JsonObject;
}

export const jsonPatch = (expression: string): JsonObject => ({ patchType: "JSONPatch", jsonPatch: { expression } });

/** Sets or removes a label of the objects that have it. */
export const labelMutation = (label: string, value: string | undefined): JsonObject => {
  const path = `/metadata/labels/${label.replaceAll("/", "~1")}`;
  const change = value === undefined ? `op: "remove"` : `op: "replace", value: "${value}"`;
  return jsonPatch(
    `has(object.metadata.labels) && '${label}' in object.metadata.labels ? [JSONPatch{path: "${path}", ${change}}] : []`,
  );
};

const post = async (cluster: ControlPlane, path: string, body: Json): Promise<Response> =>
  await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Policies for the namespace `default`; they are in force when this ends. */
export const installPolicies = async (cluster: ControlPlane, rules: ReadonlyArray<PolicyRule>): Promise<void> => {
  for (const { name, group, version, resources, mutation } of [...rules, PROBE]) {
    const made = await post(cluster, `${ADMISSION}/mutatingadmissionpolicies`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        matchConstraints: {
          resourceRules: [{
            apiGroups: [group],
            apiVersions: [version],
            operations: ["CREATE", "UPDATE"],
            resources: [...resources],
          }],
        },
        matchConditions: [{ name: "tenant", expression: "request.namespace == 'default'" }],
        mutations: [mutation],
      },
    });
    ok(made.ok, await made.text());
    const bound = await post(cluster, `${ADMISSION}/mutatingadmissionpolicybindings`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name },
    });
    ok(bound.ok, await bound.text());
  }
  await eventually("the policies are in force", async () => {
    const answer = await post(cluster, "/api/v1/namespaces/default/limitranges?dryRun=All", {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "probe", labels: { "example.com/probe": "yes" } },
      spec: { limits: [] },
    });
    const text = await answer.text();
    return answer.status === 201 && text.includes('"example.com/probe":"seen"') || undefined;
  });
};

const GUARD = "guard";

/** Refuses what the expression rejects, until it is taken back; in force when this ends. `isRefused` tries it. */
const refusing = async (
  cluster: ControlPlane,
  { group, resource, operation, expression, message, isRefused }: {
    readonly group: string;
    readonly resource: string;
    readonly operation: string;
    readonly expression: string;
    readonly message: string;
    readonly isRefused: () => Promise<Response>;
  },
): Promise<() => Promise<void>> => {
  const policies = `${ADMISSION}/validatingadmissionpolicies`;
  const made = await post(cluster, policies, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: GUARD },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ["v1"], operations: [operation], resources: [resource] }],
      },
      validations: [{ expression, message }],
    },
  });
  ok(made.ok, await made.text());
  const bound = await post(cluster, `${ADMISSION}/validatingadmissionpolicybindings`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: GUARD },
    spec: { policyName: GUARD, validationActions: ["Deny"] },
  });
  ok(bound.ok, await bound.text());
  await eventually("the policy is in force", async () => {
    const answer = await isRefused();
    await answer.text();
    return answer.status === 422 || undefined;
  });
  return async () => {
    for (const one of [`${ADMISSION}/validatingadmissionpolicybindings`, policies]) {
      await (await cluster.fetch(`${one}/${GUARD}`, { method: "DELETE" })).text();
    }
  };
};

/** Made last: an API server that has this one has the others. */
const PROBE: PolicyRule = {
  name: "zz-probe",
  group: "",
  version: "v1",
  resources: ["limitranges"],
  mutation: labelMutation("example.com/probe", "seen"),
};

/** Refuses to create or delete NetworkPolicies. */
export const refuseNetworkPolicies = async (
  cluster: ControlPlane,
  operation: "CREATE" | "DELETE",
): Promise<() => Promise<void>> => {
  const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
  const probe = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "probe" },
    spec: { podSelector: { matchLabels: { probe: "yes" } } },
  };
  if (operation === "DELETE") await (await post(cluster, path, probe)).text();
  return await refusing(cluster, {
    group: "networking.k8s.io",
    resource: "networkpolicies",
    operation,
    expression: "false",
    message: "network rules are kept for the audit",
    isRefused: () =>
      operation === "CREATE"
        ? post(cluster, `${path}?dryRun=All`, probe)
        : cluster.fetch(`${path}/probe?dryRun=All`, { method: "DELETE" }),
  });
};

/** Refuses another number of pods of Deployments, of which `name` is one. */
export const refuseScaling = (cluster: ControlPlane, name: string): Promise<() => Promise<void>> =>
  refusing(cluster, {
    group: "apps",
    resource: "deployments",
    operation: "UPDATE",
    expression: "object.spec.replicas == oldObject.spec.replicas",
    message: "the number of pods is frozen",
    isRefused: () =>
      cluster.fetch(`/apis/apps/v1/namespaces/default/deployments/${name}?dryRun=All`, {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ spec: { replicas: 77 } }),
      }),
  });
