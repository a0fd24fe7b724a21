/** Requests, limits and claims of the container. Source: validateResourceRequirements of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { isNamespaceName, isObjectName } from "../../api/object_names.ts";
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../data/json.ts";
import { amount } from "../../data/quantity.ts";
import { isLabelKey } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken, inside, itemsOf } from "./broken.ts";

const isHuge = (name: string): boolean => name.startsWith("hugepages-");

/** Resources that the kubelet itself counts; all others have a domain in their name. */
const isPlain = (name: string): boolean => ["cpu", "memory", "ephemeral-storage"].includes(name) || isHuge(name);

/** Names below kubernetes.io belong to Kubernetes; devices have a domain of their own. */
const isNative = (name: string): boolean => isPlain(name) || name.includes("kubernetes.io/");

const isKnown = (name: string): boolean =>
  isPlain(name)
    ? isLabelKey(name)
    : isNative(name)
    ? isLabelKey(name)
    : name.includes("/") && !name.startsWith("requests.") && isLabelKey(`requests.${name}`);

export function* quantities(value: Json): Generator<Broken> {
  const [requests, limits] = [objectAt(value, "requests"), objectAt(value, "limits")];
  for (const [list, map] of [["requests", requests], ["limits", limits]] as const) {
    for (const [name, text] of Object.entries(map)) yield* inside([list, name], quantity(name, text));
  }
  for (const [name, text] of Object.entries(requests)) {
    const limit = limits[name];
    const [asked, most] = [amount(text) ?? 0, amount(limit)];
    if (!isKnown(name)) continue;
    if (!isNative(name) || isHuge(name)) {
      if (limit === undefined || asked !== most) yield broken(`set limits.${name} to the same value`, "requests", name);
    } else if (most !== undefined && asked > most) {
      yield broken(`larger than limits.${name}; lower the request, or raise the limit`, "requests", name);
    }
  }
}

function* quantity(name: string, text: Json): Generator<Broken> {
  const found = amount(text);
  if (!isKnown(name)) {
    yield broken(
      "unknown resource; use cpu, memory, ephemeral-storage, or a name with a domain such as nvidia.com/gpu",
    );
  } else if (found === undefined) return;
  else if (found < 0) yield broken("must not be negative");
  else if (!isNative(name) && !Number.isInteger(found)) yield broken("must be a whole number");
  else if (isHuge(name)) {
    const page = amount(name.slice("hugepages-".length)) ?? 0;
    if (page <= 0) yield broken("not the size of a page; use a name such as hugepages-2Mi");
    else if (found % page !== 0) yield broken("must be a multiple of the size of a page");
  }
}

/** Of `spec.workload`: the container may only use claims of the pod. */
export function* claims(workload: Json): Generator<Broken> {
  const declared = new Set<string>();
  for (const [index, item] of listAt(workload, "overrides", "resourceClaims").entries()) {
    if (isObject(item)) yield* inside(["overrides", "resourceClaims", index], podClaim(item, declared));
    declared.add(stringAt(item, "name") ?? "");
  }
  const used = new Set<string>();
  for (const [index, item] of itemsOf(objectAt(workload, "resources").claims).entries()) {
    const name = stringAt(item, "name");
    if (name === undefined) continue;
    const at = ["resources", "claims", index];
    if (!declared.has(name)) {
      yield broken(
        `no claim is named ${quoted(name)}; add it to spec.workload.overrides.resourceClaims`,
        ...at,
        "name",
      );
    } else if (used.has(name)) {
      yield broken(`a second entry for claim ${quoted(name)}; remove one of them`, ...at, "name");
    }
    used.add(name);
    const request = stringAt(item, "request") ?? "";
    if (request !== "" && !isNamespaceName(request)) {
      yield broken(
        `not the name of a request: ${quoted(request)}; use lower-case letters, digits and "-"`,
        ...at,
        "request",
      );
    }
  }
}

function* podClaim(item: JsonObject, before: ReadonlySet<string>): Generator<Broken> {
  const name = stringAt(item, "name") ?? "";
  if (before.has(name)) yield broken(`two claims are named ${quoted(name)}; rename one of them`, "name");
  else if (!isNamespaceName(name)) {
    yield broken(`not the name of a claim: ${quoted(name)}; use lower-case letters, digits and "-"`, "name");
  }
  const sources = ["resourceClaimName", "resourceClaimTemplateName"].filter((field) =>
    stringAt(item, field) !== undefined
  );
  if (sources.length !== 1) yield broken("set either resourceClaimName or resourceClaimTemplateName");
  for (const field of sources) {
    const source = stringAt(item, field) ?? "";
    if (!isObjectName(source)) {
      yield broken(`not the name of an object: ${quoted(source)}; use lower-case letters, digits, "-" and "."`, field);
    }
  }
}
