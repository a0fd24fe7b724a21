/** References to fields of the pod, in variables and in volumes. Source: validateObjectFieldSelector of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { type JsonObject, member, stringAt } from "../../data/json.ts";
import { amount } from "../../data/quantity.ts";
import { isLabelKey } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken } from "./broken.ts";

export function* podField(reference: JsonObject, known: ReadonlyArray<string>): Generator<Broken> {
  const version = stringAt(reference, "apiVersion") ?? "";
  if (version !== "" && version !== "v1") {
    yield broken(`unknown version of pods: ${quoted(version)}; use v1`, "apiVersion");
  }
  const path = stringAt(reference, "fieldPath");
  if (path === undefined || known.includes(path)) return;
  // The field of the first versions of Kubernetes.
  if (path === "spec.host" && known.includes("spec.nodeName")) return;
  const [, map, key] = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/s.exec(path) ?? [];
  if (map !== undefined && isLabelKey(map === "metadata.labels" ? key ?? "" : (key ?? "").toLowerCase())) return;
  yield broken(
    `not a field of the pod that can be used here: ${quoted(path)}; use one of ${known.join(", ")}, ` +
      "metadata.labels['<key>'], metadata.annotations['<key>']",
    "fieldPath",
  );
}

const RESOURCES = ["cpu", "memory", "ephemeral-storage"].flatMap((name) => [`limits.${name}`, `requests.${name}`]);

/** In a volume, the container has to be named. */
export function* resourceField(reference: JsonObject, inVolume: boolean): Generator<Broken> {
  if (inVolume && (stringAt(reference, "containerName") ?? "") === "") {
    yield broken("required field is missing or empty; name the container, such as llama-stack", "containerName");
  }
  const resource = stringAt(reference, "resource");
  if (resource === undefined) return;
  const isHuge = /^(limits|requests)\.hugepages-/.test(resource);
  if (!RESOURCES.includes(resource) && !isHuge) {
    yield broken(`unknown resource: ${quoted(resource)}; use one of ${RESOURCES.join(", ")}`, "resource");
    return;
  }
  const divisor = amount(member(reference, "divisor"));
  if (divisor === undefined || divisor === 0) return;
  const allowed = resource.endsWith(".cpu") ? [0.001, 1] : UNITS;
  if (!allowed.includes(divisor)) {
    yield broken(resource.endsWith(".cpu") ? "use 1m or 1" : "use 1, or a unit such as 1k, 1M, 1Ki or 1Mi", "divisor");
  }
}

const UNITS = [
  1,
  ...["k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => amount(`1${unit}`)),
];
