/** `affinity` of the pod. Source: validateAffinity of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { isNamespaceName, isObjectName } from "../../api/object_names.ts";
import { isObject, type Json, type JsonObject, member, stringAt } from "../../data/json.ts";
import { isLabelKey } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, itemsOf, part } from "./broken.ts";
import { isEmptyList, labelKeyLists, requirement, selector } from "./labels.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

export function* affinity(value: Json): Generator<Broken> {
  if (!isObject(value)) return;
  yield* part(value, "nodeAffinity", function* (node) {
    yield* part(node, REQUIRED, function* (required) {
      if (isEmptyList(member(required, "nodeSelectorTerms"))) {
        yield broken(`needs at least one term; add one, or remove ${REQUIRED}`, "nodeSelectorTerms");
      }
      yield* each(required, "nodeSelectorTerms", (term) => nodeTerm(term, false));
    });
    yield* each(node, PREFERRED, function* (preferred) {
      yield* weight(preferred);
      // Values need not be labels there: a preference that no node can meet is legal.
      yield* part(preferred, "preference", (term) => nodeTerm(term, true));
    });
  });
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    yield* part(value, kind, function* (pods) {
      yield* each(pods, REQUIRED, podTerm);
      yield* each(pods, PREFERRED, function* (preferred) {
        yield* weight(preferred);
        yield* part(preferred, "podAffinityTerm", podTerm);
      });
    });
  }
}

const WEIGHT_MAX = 100;

function* weight(term: JsonObject): Generator<Broken> {
  const value = member(term, "weight");
  if (typeof value === "number" && (value < 1 || value > WEIGHT_MAX)) {
    yield broken(`out of range: ${value}; use 1 to ${WEIGHT_MAX}`, "weight");
  }
}

function* nodeTerm(term: JsonObject, lax: boolean): Generator<Broken> {
  yield* each(
    term,
    "matchExpressions",
    (expression) => requirement(expression, ["Exists", "DoesNotExist"], ["Gt", "Lt"], lax),
  );
  yield* each(term, "matchFields", nodeField);
}

/** Only the name of a node can be selected as a field. */
function* nodeField(expression: JsonObject): Generator<Broken> {
  const { operator, key } = expression;
  const values = itemsOf(member(expression, "values"));
  if (operator !== "In" && operator !== "NotIn") {
    yield broken(`unknown operator for a field: ${quoted(String(operator))}; use In or NotIn`, "operator");
  } else if (values.length !== 1) yield broken(`operator ${operator} needs exactly one value here`, "values");
  if (key !== "metadata.name") {
    yield broken(`not a field of nodes that can be selected: ${quoted(String(key))}; use metadata.name`, "key");
    return;
  }
  for (const [index, value] of values.entries()) {
    if (typeof value === "string" && !isObjectName(value)) {
      yield broken(`not the name of a node: ${quoted(value)}`, "values", index);
    }
  }
}

function* podTerm(term: JsonObject): Generator<Broken> {
  yield* part(term, "labelSelector", selector);
  yield* part(term, "namespaceSelector", selector);
  for (const [index, name] of itemsOf(member(term, "namespaces")).entries()) {
    if (typeof name === "string" && !isNamespaceName(name)) {
      yield broken(`not the name of a namespace: ${quoted(name)}; patterns are not supported`, "namespaces", index);
    }
  }
  yield* labelKeyLists(term);
  const topologyKey = stringAt(term, "topologyKey");
  if (topologyKey !== undefined && !isLabelKey(topologyKey)) {
    yield broken(
      topologyKey === ""
        ? "empty; use a label of nodes such as kubernetes.io/hostname"
        : `not a label key: ${quoted(topologyKey)}; use a label of nodes such as kubernetes.io/hostname`,
      "topologyKey",
    );
  }
}
