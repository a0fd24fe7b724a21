/**
 * Rules of a NetworkPolicy inside the API of the operator. The CRD keeps them as they are, because it has no room for their
 * schema; here they are checked as the API server checks a NetworkPolicy, so that it rejects none that the operator makes.
 *
 * Source: pkg/apis/networking/validation of Kubernetes 1.36; tests/cluster/network_policy_test.ts compares both.
 */
import type * as k8s from "@kubernetes/client-node";
import * as Schema from "effect/Schema";
import { firstAddress, isPartOf, networkOf } from "../data/ip_address.ts";
import { isObject, type Json, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { quoted } from "../data/printable.ts";
import type { Wire } from "./embedded.ts";
import { freeForm } from "./fields.ts";
import { isLabelKey, isLabelValue } from "./object_labels.ts";
import { type StructuralFinding, structuralFindings, type StructuralSchema } from "./structural_check.ts";

export type IngressRule = Wire<k8s.V1NetworkPolicyIngressRule>;
export type EgressRule = Wire<k8s.V1NetworkPolicyEgressRule>;

export const IngressRule = (doc: string): Schema.Codec<IngressRule> => rule<IngressRule>(doc, "from");
export const EgressRule = (doc: string): Schema.Codec<EgressRule> => rule<EgressRule>(doc, "to");

const rule = <Rule>(doc: string, peers: "from" | "to"): Schema.Codec<Rule> =>
  freeForm(doc).check(
    Schema.makeFilter((value) =>
      networkRuleFindings(value as Json, peers).map(({ path, detail }) => ({ path, issue: detail }))
    ),
    // The filter has just shown that the value has this shape.
  ) as unknown as Schema.Codec<Rule>;

/** Everything that the API server would reject in a rule; its form first, since the rest depends on it. */
export const networkRuleFindings = (value: Json, peers: "from" | "to"): ReadonlyArray<StructuralFinding> => {
  const form = structuralFindings(object({ [peers]: items(PEER), ports: items(PORT) }), value);
  return form.length > 0 ? form : [
    ...listAt(value, peers).flatMap((peer, index) => inside([peers, index], peerFindings(peer))),
    ...listAt(value, "ports").flatMap((port, index) => inside(["ports", index], portFindings(port))),
  ];
};

const object = (
  properties: Readonly<Record<string, StructuralSchema>>,
  required: ReadonlyArray<string> = [],
): StructuralSchema => ({ type: "object", properties, required });
const items = (schema: StructuralSchema): StructuralSchema => ({ type: "array", items: schema });
const text: StructuralSchema = { type: "string" };
const whole: StructuralSchema = { type: "integer" };

const SELECTOR = object({
  matchLabels: { type: "object", additionalProperties: text },
  matchExpressions: items(object({
    key: text,
    operator: { type: "string", enum: ["In", "NotIn", "Exists", "DoesNotExist"] },
    values: items(text),
  }, ["key", "operator"])),
});
const PEER = object({
  ipBlock: object({ cidr: text, except: items(text) }, ["cidr"]),
  namespaceSelector: SELECTOR,
  podSelector: SELECTOR,
});
const PORT = object({
  endPort: whole,
  port: { "x-kubernetes-int-or-string": true },
  protocol: { type: "string", enum: ["TCP", "UDP", "SCTP"] },
});

type Path = StructuralFinding["path"];

const found = (detail: string, ...path: Path): StructuralFinding => ({ path, detail });
const inside = (place: Path, findings: ReadonlyArray<StructuralFinding>): ReadonlyArray<StructuralFinding> =>
  findings.map(({ path, detail }) => ({ path: [...place, ...path], detail }));

const SELECTORS = ["namespaceSelector", "podSelector"];

const peerFindings = (peer: Json): ReadonlyArray<StructuralFinding> => {
  const selectors = SELECTORS.filter((name) => member(peer, name) !== undefined);
  const block = member(peer, "ipBlock");
  if (selectors.length === 0 && block === undefined) {
    return [
      found("Expected podSelector, namespaceSelector or ipBlock; a podSelector {} is every pod of this namespace"),
    ];
  }
  if (selectors.length > 0 && block !== undefined) {
    return [found("Cannot be combined with a selector; write two peers", "ipBlock")];
  }
  return [
    ...(block === undefined ? [] : inside(["ipBlock"], blockFindings(block))),
    ...selectors.flatMap((name) => inside([name], selectorFindings(objectAt(peer, name)))),
  ];
};

const blockFindings = (block: Json): ReadonlyArray<StructuralFinding> => {
  const cidr = stringAt(block, "cidr") ?? "";
  const network = networkOf(cidr);
  return [
    ...networkFindings(cidr, ["cidr"]),
    ...listAt(block, "except").flatMap((item, index) => {
      const except = networkOf(String(item));
      const place = ["except", index];
      if (except === undefined || network === undefined || isPartOf(except, network)) {
        return networkFindings(String(item), place);
      }
      return [found(`Expected a part of ${cidr}, got ${quoted(String(item))}`, ...place)];
    }),
  ];
};

const networkFindings = (cidr: string, place: Path): ReadonlyArray<StructuralFinding> => {
  const network = networkOf(cidr);
  if (network === undefined) {
    return [found(`Expected a network such as 10.0.0.0/8 or fd00::/8, got ${quoted(cidr)}`, ...place)];
  }
  return firstAddress(network).join() === network.bytes.join() ? [] : [
    found(
      `Expected a network, and ${quoted(cidr)} is an address in one: write its first address, or /${
        network.bytes.length * 8
      } for this one alone`,
      ...place,
    ),
  ];
};

const selectorFindings = (selector: Json): ReadonlyArray<StructuralFinding> => [
  ...Object.entries(objectAt(selector, "matchLabels")).flatMap(([key, value]) => [
    ...(isLabelKey(key) ? [] : [found(`Expected a label key, got ${quoted(key)}`, "matchLabels", key)]),
    ...(isLabelValue(String(value)) ? [] : [found("Expected the value of a label", "matchLabels", key)]),
  ]),
  ...listAt(selector, "matchExpressions").flatMap((expression, index) => {
    const place: Path = ["matchExpressions", index];
    const [key, operator] = [stringAt(expression, "key") ?? "", stringAt(expression, "operator") ?? ""];
    const values = listAt(expression, "values");
    const needsValues = operator === "In" || operator === "NotIn";
    return [
      ...(isLabelKey(key) ? [] : [found(`Expected a label key, got ${quoted(key)}`, ...place, "key")]),
      ...(needsValues === values.length > 0
        ? []
        : [found(needsValues ? `Needed for ${operator}` : `Not allowed for ${operator}`, ...place, "values")]),
      ...values.flatMap((value, at) =>
        isLabelValue(String(value)) ? [] : [found("Expected the value of a label", ...place, "values", at)]
      ),
    ];
  }),
];

const PORT_MAX = 65535;

const portFindings = (entry: Json): ReadonlyArray<StructuralFinding> => {
  const [port, endPort] = [member(entry, "port"), member(entry, "endPort")];
  if (!isObject(entry)) return [];
  return [
    ...(typeof port === "number" && (port < 1 || port > PORT_MAX)
      ? [found(`Expected a port from 1 to ${PORT_MAX}, or its name`, "port")]
      : []),
    ...(typeof port === "string" && !isPortName(port)
      ? [
        found(`Expected the name of a port, with a letter, got ${quoted(port)}; write a number without quotes`, "port"),
      ]
      : []),
    ...(endPort === undefined
      ? []
      : typeof port !== "number"
      ? [found("Needs a port that is a number", "endPort")]
      : Number(endPort) < port || Number(endPort) > PORT_MAX
      ? [found(`Expected a port from ${port} to ${PORT_MAX}`, "endPort")]
      : []),
  ];
};

/** IANA service name. */
const isPortName = (name: string): boolean =>
  name.length <= 15 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && /[a-z]/.test(name) && !name.includes("--");
