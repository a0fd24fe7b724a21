/** Whether a server is reached by way of Gateways: what is missing, else what their controllers say about its objects. */
import type { ParentRef } from "../api/v1alpha2.ts";
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { warningLine } from "../failure/warning.ts";
import { type Blueprint, type OptionalKind, servesTls } from "../resources/blueprint.ts";
import { exposureOf } from "../resources/exposure.ts";
import { backendTlsPolicy, GATEWAY_GROUP, gatewayWarnings } from "../resources/http_route.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";

export type Routing =
  | { readonly kind: "unavailable" | "refused"; readonly why: string }
  | { readonly kind: "unanswered"; readonly parent: string }
  | { readonly kind: "accepted"; readonly parents: ReadonlyArray<string> };

/** Undefined for a server that is not to be reached by way of Gateways. */
export const routingOf = ({ live }: Pick<ClusterSnapshot, "live">, blueprint: Blueprint): Routing | undefined => {
  const { spec, platform, name, namespace } = blueprint;
  const exposure = exposureOf(spec, platform);
  if (exposure.kind !== "Gateway") return undefined;
  const [obstacle] = [
    ...gatewayWarnings(blueprint).map(warningLine),
    ...NEEDED.filter((kind) => !platform.served.includes(kind) && (kind === "HTTPRoute" || servesTls(spec)))
      .map((kind) => `The API server has no kind ${kind} (${GATEWAY_GROUP}/v1)`),
  ];
  if (obstacle !== undefined) return { kind: "unavailable", why: obstacle };
  const route = live.get(liveKey("HTTPRoute", name));
  const answers = exposure.parentRefs.map((parent) => answerOf(route, parent, namespace));
  const policy = backendTlsPolicy(blueprint) === undefined
    ? []
    : policyAnswers(live.get(liveKey("BackendTLSPolicy", name)));
  const [refused] = [...answers.flatMap(({ rejections }) => rejections), ...policy];
  if (refused !== undefined) return { kind: "refused", why: refused };
  const waiting = answers.find(({ isAnswered }) => !isAnswered);
  return waiting === undefined
    ? { kind: "accepted", parents: answers.map(({ parent }) => parent) }
    : { kind: "unanswered", parent: waiting.parent };
};

const NEEDED: ReadonlyArray<OptionalKind> = ["HTTPRoute", "BackendTLSPolicy"];

interface Answer {
  readonly parent: string;
  /** False for an answer to a former generation as well. */
  readonly isAnswered: boolean;
  readonly rejections: ReadonlyArray<string>;
}

/** Of each controller that answers for the parent. */
const answerOf = (route: JsonObject | undefined, wanted: ParentRef, own: string): Answer => {
  const parent = nameOf(wanted, own);
  const current = listAt(route, "status", "parents").filter((status) =>
    nameOf(objectAt(status, "parentRef"), own) === parent
  ).map((status) => currentConditions(status, route));
  const isTrue = (conditions: ReadonlyArray<JsonObject>, type: string) =>
    conditions.some((condition) => condition.type === type && condition.status === "True");
  return {
    parent,
    isAnswered: current.some((conditions) => isTrue(conditions, "Accepted") && isTrue(conditions, "ResolvedRefs")),
    rejections: current.flatMap(rejectionsIn).map((rejection) => `${parent}: ${rejection}`),
  };
};

const nameOf = (parent: ParentRef | JsonObject, own: string): string => {
  const { namespace = own, name, sectionName } = parent;
  return `Gateway ${namespace}/${name}${sectionName === undefined ? "" : ` (listener ${sectionName})`}`;
};

/** Those of controllers that judge the policy at all. */
const policyAnswers = (policy: JsonObject | undefined): ReadonlyArray<string> =>
  listAt(policy, "status", "ancestors").flatMap((ancestor) => rejectionsIn(currentConditions(ancestor, policy)))
    .map((rejection) => `BackendTLSPolicy: ${rejection}`);

/** An answer to another generation is about what was. */
const currentConditions = (status: Json, object: JsonObject | undefined): ReadonlyArray<JsonObject> => {
  const generation = member(objectAt(object, "metadata"), "generation");
  return listAt(status, "conditions").filter(isObject).filter(({ observedGeneration = generation }) =>
    observedGeneration === generation
  );
};

const rejectionsIn = (conditions: ReadonlyArray<JsonObject>): ReadonlyArray<string> =>
  conditions.filter(({ type, status }) => (type === "Accepted" || type === "ResolvedRefs") && status === "False")
    .map((condition) =>
      `${stringAt(condition, "type")} is False, ${stringAt(condition, "reason")}: ${stringAt(condition, "message")}`
    );
