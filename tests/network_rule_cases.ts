/** Rules of NetworkPolicies that the API server accepts, and rules that it rejects, for the unit test and for a real one. */
import type { JsonObject } from "../core/data/json.ts";

export interface NetworkRuleCase {
  readonly what: string;
  readonly rule: JsonObject;
  /** The place that is named; undefined: the API server accepts the rule. */
  readonly wrong?: string;
}

const peer = (from: JsonObject): JsonObject => ({ from: [from] });
const port = (entry: JsonObject): JsonObject => ({ ports: [entry] });
const block = (cidr: string, ...except: ReadonlyArray<string>): JsonObject =>
  peer({ ipBlock: { cidr, ...(except.length === 0 ? {} : { except: [...except] }) } });
const expression = (entry: JsonObject): JsonObject => peer({ podSelector: { matchExpressions: [entry] } });
const label = (key: string, value: string): JsonObject =>
  peer({ namespaceSelector: { matchLabels: { [key]: value } } });

export const NETWORK_RULE_CASES: ReadonlyArray<NetworkRuleCase> = [
  { what: "nothing", rule: {} },
  { what: "no peers and no ports", rule: { from: [], ports: [] } },
  { what: "every pod", rule: peer({ podSelector: {} }) },
  { what: "both selectors", rule: peer({ podSelector: { matchLabels: { a: "b" } }, namespaceSelector: {} }) },
  { what: "expressions", rule: expression({ key: "example.com/a", operator: "In", values: ["b", ""] }) },
  { what: "an expression without values", rule: expression({ key: "a", operator: "Exists" }) },
  { what: "a network", rule: block("10.0.0.0/8", "10.1.0.0/16") },
  { what: "everything", rule: block("0.0.0.0/0", "10.0.0.1/32") },
  { what: "a network of IPv6", rule: block("fd00::/8", "fd00:1::/32") },
  { what: "one address", rule: block("192.168.0.1/32") },
  { what: "a port", rule: port({ port: 80 }) },
  { what: "a protocol", rule: port({ protocol: "SCTP" }) },
  { what: "a range of ports", rule: port({ port: 8000, endPort: 8080, protocol: "UDP" }) },
  { what: "a range of one port", rule: port({ port: 80, endPort: 80 }) },
  { what: "a named port", rule: port({ port: "https-1" }) },
  { what: "a range up to the last port", rule: port({ port: 1, endPort: 65535 }) },

  { what: "an empty peer", rule: peer({}), wrong: "from.0" },
  {
    what: "a network beside a selector",
    rule: peer({ ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} }),
    wrong: "from.0.ipBlock",
  },
  { what: "bits of a host", rule: block("10.0.0.1/8"), wrong: "from.0.ipBlock.cidr" },
  { what: "bits of a host of IPv6", rule: block("fd00::1/64"), wrong: "from.0.ipBlock.cidr" },
  { what: "an address alone", rule: block("10.0.0.1"), wrong: "from.0.ipBlock.cidr" },
  { what: "too many bits", rule: block("10.0.0.0/33"), wrong: "from.0.ipBlock.cidr" },
  { what: "leading zeros", rule: block("010.0.0.0/8"), wrong: "from.0.ipBlock.cidr" },
  { what: "bits with a leading zero", rule: block("10.0.0.0/08"), wrong: "from.0.ipBlock.cidr" },
  { what: "IPv4 within IPv6", rule: block("::ffff:10.0.0.0/104"), wrong: "from.0.ipBlock.cidr" },
  { what: "no network", rule: block("internal"), wrong: "from.0.ipBlock.cidr" },
  { what: "an exception elsewhere", rule: block("10.0.0.0/8", "11.0.0.0/16"), wrong: "from.0.ipBlock.except.0" },
  { what: "an exception of everything", rule: block("10.0.0.0/8", "10.0.0.0/8"), wrong: "from.0.ipBlock.except.0" },
  {
    what: "an exception with bits of a host",
    rule: block("10.0.0.0/8", "10.1.0.1/16"),
    wrong: "from.0.ipBlock.except.0",
  },
  {
    what: "an exception of the other family",
    rule: block("10.0.0.0/8", "fd00::/16"),
    wrong: "from.0.ipBlock.except.0",
  },
  { what: "an unusable key", rule: label("a b", "c"), wrong: "from.0.namespaceSelector.matchLabels.a b" },
  { what: "an unusable value", rule: label("a", "b c"), wrong: "from.0.namespaceSelector.matchLabels.a" },
  {
    what: "no values",
    rule: expression({ key: "a", operator: "In" }),
    wrong: "from.0.podSelector.matchExpressions.0.values",
  },
  {
    what: "values that are not asked for",
    rule: expression({ key: "a", operator: "Exists", values: ["b"] }),
    wrong: "from.0.podSelector.matchExpressions.0.values",
  },
  {
    what: "an unusable value of an expression",
    rule: expression({ key: "a", operator: "NotIn", values: ["b c"] }),
    wrong: "from.0.podSelector.matchExpressions.0.values.0",
  },
  {
    what: "an unknown operator",
    rule: expression({ key: "a", operator: "Is" }),
    wrong: "from.0.podSelector.matchExpressions.0.operator",
  },
  { what: "a range without a port", rule: port({ endPort: 80 }), wrong: "ports.0.endPort" },
  { what: "a range beside a name", rule: port({ port: "http", endPort: 80 }), wrong: "ports.0.endPort" },
  { what: "a range that ends before it begins", rule: port({ port: 80, endPort: 79 }), wrong: "ports.0.endPort" },
  { what: "a range beyond the last port", rule: port({ port: 80, endPort: 65536 }), wrong: "ports.0.endPort" },
  { what: "port 0", rule: port({ port: 0 }), wrong: "ports.0.port" },
  { what: "a port in quotes", rule: port({ port: "80" }), wrong: "ports.0.port" },
  { what: "a long name of a port", rule: port({ port: "a-name-of-a-port" }), wrong: "ports.0.port" },
  { what: "two dashes in the name of a port", rule: port({ port: "a--b" }), wrong: "ports.0.port" },
  { what: "an unknown protocol", rule: port({ protocol: "ICMP" }), wrong: "ports.0.protocol" },
  { what: "a field that is not known", rule: { form: [] }, wrong: "form" },
  { what: "a list that is none", rule: { from: {} }, wrong: "from" },
];
