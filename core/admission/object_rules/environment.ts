/**
 * `env` and `envFrom`. Source: ValidateEnv and ValidateEnvFrom of Kubernetes. Values are never quoted. Names of Secrets and
 * ConfigMaps are checked by the decoder (core/api/reference_names.ts).
 */
import { quoted } from "../../data/printable.ts";
import { isObject, type Json, type JsonObject, member, objectAt, stringAt } from "../../data/json.ts";
import type { Broken } from "../change_rule.ts";
import { broken, inside, itemsOf, part } from "./broken.ts";
import { podField, resourceField } from "./downward_api.ts";

/** Printable ASCII without "=". Source: IsRelaxedEnvVarName, on since Kubernetes 1.32. */
const VARIABLE = /^[ -<>-~]+$/;

const SOURCES = ["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"];

export function* variables(value: Json): Generator<Broken> {
  for (const [index, item] of itemsOf(value).entries()) {
    if (isObject(item)) yield* inside([index], variable(item));
  }
}

function* variable(item: JsonObject): Generator<Broken> {
  const name = stringAt(item, "name");
  if (name !== undefined && !VARIABLE.test(name)) {
    yield broken(`not the name of an environment variable: ${quoted(name)}; use a name such as MY_NAME`, "name");
  }
  const from = member(item, "valueFrom");
  if (!isObject(from)) return;
  const sources = SOURCES.filter((source) => isObject(member(from, source)));
  if (sources.length === 0) yield broken(`has no source; add one of ${SOURCES.join(", ")}`, "valueFrom");
  else if (sources.length > 1) {
    yield broken(`has more than one source: ${sources.join(", ")}; keep one of them`, "valueFrom");
  }
  if (sources.length > 0 && (stringAt(item, "value") ?? "") !== "") {
    yield broken("cannot be combined with value; remove one of them", "valueFrom");
  }
  yield* inside(["valueFrom"], source(from));
}

function* source(from: JsonObject): Generator<Broken> {
  yield* part(from, "fieldRef", (reference) => podField(reference, ENV_FIELDS));
  yield* part(from, "resourceFieldRef", (reference) => resourceField(reference, false));
}

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

export function* variableSources(value: Json): Generator<Broken> {
  for (const [index, item] of itemsOf(value).entries()) {
    if (!isObject(item)) continue;
    const prefix = stringAt(item, "prefix") ?? "";
    if (prefix !== "" && !VARIABLE.test(prefix)) {
      yield broken(`not a prefix of names of environment variables: ${quoted(prefix)}`, index, "prefix");
    }
    const sources = ["configMapRef", "secretRef"].filter((field) => isObject(member(item, field)));
    if (sources.length !== 1) {
      yield broken(
        sources.length === 0
          ? "has no source; add configMapRef or secretRef"
          : "has two sources; write an item of its own for each",
        index,
      );
    }
    // With any field in it, the decoder reports the missing name.
    for (const field of sources) {
      if (Object.keys(objectAt(item, field)).length === 0) {
        yield broken("required field is missing; name the object", index, field, "name");
      }
    }
  }
}
