/** Tolerations and topology spread. Source: ValidateTolerations and validateTopologySpreadConstraints of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { isObject, type Json, type JsonObject, member, stringAt } from "../../data/json.ts";
import { isLabelKey, isLabelValue } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken, inside, itemsOf, part } from "./broken.ts";
import { labelKeyLists, selector } from "./labels.ts";

export function* tolerations(value: Json): Generator<Broken> {
  for (const [index, item] of itemsOf(value).entries()) {
    if (isObject(item)) yield* inside([index], toleration(item));
  }
}

function* toleration(item: JsonObject): Generator<Broken> {
  const [key, operator, effect, own] = ["key", "operator", "effect", "value"].map((field) =>
    stringAt(item, field) ?? ""
  );
  if (key !== "" && !isLabelKey(key ?? "")) {
    yield broken(`not the key of a taint: ${quoted(key ?? "")}; use a key such as example.com/gpu`, "key");
  }
  if (key === "" && operator !== "Exists") {
    yield broken("missing, and only operator Exists may omit it; add the key of the taint", "key");
  }
  if (member(item, "tolerationSeconds") !== undefined && effect !== "NoExecute") {
    yield broken("only valid with effect NoExecute; set that effect, or remove tolerationSeconds", "tolerationSeconds");
  }
  if (operator === "Exists") {
    if (own !== "") yield broken("operator Exists has no value; remove it, or use operator Equal", "value");
  } else if (operator === "Gt" || operator === "Lt") {
    yield broken(`${quoted(operator)} needs a feature that is off by default; use Exists or Equal`, "operator");
  } else if (!isLabelValue(own ?? "")) {
    yield broken(`not the value of a taint: ${quoted(own ?? "")}; use letters, digits, "-", "_" and "."`, "value");
  }
}

export function* spread(value: Json): Generator<Broken> {
  const kinds = new Set<string>();
  for (const [index, item] of itemsOf(value).entries()) {
    if (!isObject(item)) continue;
    yield* inside([index], constraint(item));
    const kind = `${stringAt(item, "topologyKey")} and ${stringAt(item, "whenUnsatisfiable")}`;
    if (kinds.has(kind)) {
      yield broken(`a second constraint with ${kind}; remove one of them`, index);
    }
    kinds.add(kind);
  }
}

function* constraint(item: JsonObject): Generator<Broken> {
  const { maxSkew, topologyKey, minDomains, whenUnsatisfiable } = item;
  if (typeof maxSkew === "number" && maxSkew < 1) yield broken(`must be at least 1, got ${maxSkew}`, "maxSkew");
  if (topologyKey === "") yield broken("empty; use a label of nodes such as kubernetes.io/hostname", "topologyKey");
  if (typeof minDomains === "number") {
    if (minDomains < 1) yield broken(`must be at least 1, got ${minDomains}`, "minDomains");
    if (whenUnsatisfiable !== "DoNotSchedule") {
      yield broken("only valid with whenUnsatisfiable: DoNotSchedule; set that, or remove minDomains", "minDomains");
    }
  }
  yield* labelKeyLists(item);
  yield* part(item, "labelSelector", selector);
}
