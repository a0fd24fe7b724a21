/** What exposes a server, as the API server has it: what its controllers say of it, and where it can be reached. */
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { conditionsIn, type LiveCondition } from "./live_condition.ts";
import { liveObject } from "./live_object.ts";

/** What one controller says. */
export interface ControllerAnswer {
  /** The Gateway that it answers for; empty where it answers for a policy. */
  readonly parent: JsonObject;
  /** Those about the object as it is now. */
  readonly conditions: ReadonlyArray<LiveCondition>;
  /** With those about former generations. */
  readonly all: ReadonlyArray<LiveCondition>;
}

/** Of an HTTPRoute. */
export const routeAnswers = (route: JsonObject | undefined): ReadonlyArray<ControllerAnswer> =>
  answersIn(route, "parents");

/** Of a BackendTLSPolicy, by the controllers that judge it at all. */
export const policyAnswers = (policy: JsonObject | undefined): ReadonlyArray<ControllerAnswer> =>
  answersIn(policy, "ancestors");

const answersIn = (object: JsonObject | undefined, list: string): ReadonlyArray<ControllerAnswer> =>
  object === undefined ? [] : listAt(object, "status", list).map((answer): ControllerAnswer => {
    const { generation } = liveObject(object);
    const all = conditionsIn(answer);
    return {
      parent: objectAt(answer, "parentRef"),
      conditions: all.filter(({ observedGeneration = generation }) => observedGeneration === generation),
      all,
    };
  });

/** Of an HTTPRoute; undefined until a controller has accepted it. */
export const acceptedHost = (route: JsonObject | undefined): Json | undefined => {
  const isAccepted = routeAnswers(route).some(({ all }) =>
    all.some(({ type, status }) => type === "Accepted" && status === "True")
  );
  return isAccepted ? listAt(route, "spec", "hostnames")[0] ?? "" : undefined;
};

/** Of a Route of OpenShift. */
export const routeHost = (route: JsonObject): string | undefined =>
  stringAt(route, "spec", "host") ?? stringAt(listAt(route, "status", "ingress")[0], "host");

/** Of an Ingress: its own, or that of its load balancer. */
export const ingressAddress = (
  ingress: JsonObject | undefined,
): { readonly host: string | undefined; readonly hasTls: boolean } => {
  const balancer = listAt(ingress, "status", "loadBalancer", "ingress")[0];
  return {
    host: stringAt(listAt(ingress, "spec", "rules")[0], "host") ?? stringAt(balancer, "hostname") ??
      stringAt(balancer, "ip"),
    hasTls: listAt(ingress, "spec", "tls").length > 0,
  };
};

/** Whether an Ingress names no host, and has no backend for all of them. */
export const isHostless = (ingress: JsonObject | undefined): boolean =>
  member(objectAt(ingress, "spec"), "defaultBackend") === undefined &&
  listAt(ingress, "spec", "rules").every((rule) => (stringAt(rule, "host") ?? "") === "");

/** Of a Service that stands for a host elsewhere. */
export const isExternalName = (service: JsonObject): boolean =>
  member(objectAt(service, "spec"), "type") === "ExternalName";
