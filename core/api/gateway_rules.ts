/** Rules of the Gateway API for an exposed server. The API server would reject the HTTPRoute, long after the edit. */
import * as Schema from "effect/Schema";
import { type Json, listAt, member, stringAt } from "../data/json.ts";
import type { Rule } from "./rule.ts";
import { PARENT_REFS_MAX, ParentRef } from "./v1alpha2.ts";

const GATEWAY_OR_INGRESS = "gateway cannot be combined with ingressClassName or tlsSecretName, which are of an Ingress";
const NO_HOST = "hostname must be a DNS name in lower case beside gateway, with a wildcard only as in *.example.com";
const REPEATED = "parentRefs with the same Gateway must each name another sectionName";

/** Source: `Hostname` of gateway.networking.k8s.io/v1, which also rules out addresses. */
const HOST = String.raw`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`;
const ADDRESS = "^[0-9.]+$";

const cel = (pattern: string): string => `self.hostname.matches('${pattern.replaceAll("\\", "\\\\")}')`;

/** Of an Ingress, as of a Route and an HTTPRoute. */
export const isHostName = (host: string): boolean => new RegExp(HOST).test(host) && !new RegExp(ADDRESS).test(host);

export const GATEWAY_RULES: ReadonlyArray<Rule> = [
  {
    at: "spec.networking.expose",
    cel: "!has(self.gateway) || !has(self.ingressClassName) && !has(self.tlsSecretName)",
    message: GATEWAY_OR_INGRESS,
    reason: "FieldValueForbidden",
    fieldPath: ".gateway",
    broken: (self) =>
      Object.hasOwn(self, "gateway") &&
        (Object.hasOwn(self, "ingressClassName") || Object.hasOwn(self, "tlsSecretName"))
        ? GATEWAY_OR_INGRESS
        : undefined,
  },
  {
    at: "spec.networking.expose",
    // An empty one has a rule of its own.
    cel: `!has(self.gateway) || !has(self.hostname) || self.hostname == '' || ${cel(HOST)} && !${cel(ADDRESS)}`,
    message: NO_HOST,
    reason: "FieldValueInvalid",
    fieldPath: ".hostname",
    broken: (self) => {
      const host = stringAt(self, "hostname") ?? "";
      return Object.hasOwn(self, "gateway") && host !== "" && !isHostName(host) ? NO_HOST : undefined;
    },
  },
  {
    at: "spec.networking.expose.gateway",
    cel: "!has(self.parentRefs) || self.parentRefs.all(a, self.parentRefs.exists_one(b, a.name == b.name && " +
      "has(a.__namespace__) == has(b.__namespace__) && (!has(a.__namespace__) || a.__namespace__ == b.__namespace__) && " +
      "(!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",
    message: REPEATED,
    reason: "FieldValueInvalid",
    fieldPath: ".parentRefs",
    broken: (self) => hasRepeatedParent(listAt(self, "parentRefs")) ? REPEATED : undefined,
  },
];

/** Gateways as the operator's setting has them. */
export const decodeParentRefs = Schema.decodeUnknownResult(
  Schema.Array(ParentRef).check(
    Schema.isBetweenLength(0, PARENT_REFS_MAX),
    Schema.makeFilter((refs) => !hasRepeatedParent(refs as ReadonlyArray<Json>)),
  ),
  { onExcessProperty: "error" },
);

/** Also where only one of two names a listener. */
const hasRepeatedParent = (parents: ReadonlyArray<Json>): boolean =>
  parents.some((one, index) => parents.slice(index + 1).some((other) => isSameParent(one, other)));

const isSameParent = (one: Json, other: Json): boolean => {
  const sections = [one, other].map((parent) => member(parent, "sectionName"));
  return ["name", "namespace"].every((field) => member(one, field) === member(other, field)) &&
    (sections.includes(undefined) || sections[0] === sections[1]);
};
