/** Whether a server is reached by way of Gateways: what is missing, else what their controllers say about its objects. */
import type { ParentRef } from "../api/v1alpha2.ts";
import type { JsonObject } from "../data/json.ts";
import { warningLine } from "../failure/warning.ts";
import { type Blueprint, type OptionalKind, servesTls } from "../resources/blueprint.ts";
import { exposureOf } from "../resources/exposure.ts";
import { backendTlsPolicy, GATEWAY_GROUP, gatewayWarnings } from "../resources/http_route.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import type { LiveCondition } from "../snapshot/live_condition.ts";
import { type ControllerAnswer, policyAnswers, routeAnswers } from "../snapshot/live_route.ts";

export type Routing =
  | { readonly kind: "unavailable" | "refused" | "unanswered"; readonly why: string }
  /** Not every controller that uses a BackendTLSPolicy answers for it, and one that does not know the kind never does. */
  | { readonly kind: "accepted"; readonly parents: ReadonlyArray<string>; readonly isPolicyUnanswered: boolean };

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
  const hasPolicy = backendTlsPolicy(blueprint) !== undefined;
  const policy = hasPolicy ? policyAnswers(live.get(liveKey("BackendTLSPolicy", name))) : [];
  const [refused] = [
    ...answers.flatMap(({ rejections }) => rejections),
    ...policy.flatMap(rejectionsIn).map((rejection) => `BackendTLSPolicy: ${rejection}`),
  ];
  if (refused !== undefined) return { kind: "refused", why: refused };
  const waiting = answers.find(({ lacks }) => lacks !== undefined);
  return waiting?.lacks === undefined
    ? {
      kind: "accepted",
      parents: answers.map(({ parent }) => parent),
      isPolicyUnanswered: hasPolicy && !policy.some(({ conditions }) => isTrue(conditions, "Accepted")),
    }
    : { kind: "unanswered", why: waiting.lacks };
};

const NEEDED: ReadonlyArray<OptionalKind> = ["HTTPRoute", "BackendTLSPolicy"];

interface Answer {
  readonly parent: string;
  /** What a controller has still to say; undefined if one has accepted the route. */
  readonly lacks: string | undefined;
  readonly rejections: ReadonlyArray<string>;
}

/** Of each controller that answers for the parent. */
const answerOf = (route: JsonObject | undefined, wanted: ParentRef, own: string): Answer => {
  const parent = nameOf(wanted, own);
  const answers = routeAnswers(route).filter((answer) => nameOf(answer.parent, own) === parent);
  const missing = answers.map(({ conditions }) => NEEDED_ANSWERS.find((type) => !isTrue(conditions, type)));
  const [first] = missing;
  return {
    parent,
    lacks: missing.includes(undefined)
      ? undefined
      : first === undefined
      ? `No controller has answered for ${parent} yet: there is no such Gateway or listener, or nothing that implements it`
      : `${parent}: ${lackOf(first, answers[0]?.conditions ?? [], answers[0]?.all ?? [])}`,
    rejections: answers.flatMap(rejectionsIn).map((rejection) => `${parent}: ${rejection}`),
  };
};

const NEEDED_ANSWERS = ["Accepted", "ResolvedRefs"] as const;

type Conditions = ReadonlyArray<LiveCondition>;

const isTrue = (conditions: Conditions, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === "True");

/** `all`: with those for former generations. */
const lackOf = (type: string, current: Conditions, all: Conditions): string => {
  const answer = current.find((condition) => condition.type === type);
  if (answer !== undefined) return inWords(answer);
  return all.some((condition) => condition.type === type)
    ? "its controller has answered for an earlier version of the HTTPRoute only"
    : `its controller has not answered ${type} yet`;
};

const nameOf = (parent: ParentRef | JsonObject, own: string): string => {
  const { namespace = own, name, sectionName } = parent;
  return `Gateway ${namespace}/${name}${sectionName === undefined ? "" : ` (listener ${sectionName})`}`;
};

const rejectionsIn = ({ conditions }: ControllerAnswer): ReadonlyArray<string> =>
  conditions.filter(({ type, status }) => (type === "Accepted" || type === "ResolvedRefs") && status === "False")
    .map(inWords);

const inWords = ({ type, status, reason, message }: LiveCondition): string =>
  `${type} is ${status}, ${reason}: ${message}`;
