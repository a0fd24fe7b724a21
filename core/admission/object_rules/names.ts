/** Names and counts that become fields of the objects. */
import { quoted } from "../../data/printable.ts";
import { isNamespaceName, isObjectName } from "../../api/object_names.ts";
import { isImageReference } from "../../api/image_reference.ts";
import { isObject, type Json, member } from "../../data/json.ts";
import { isLabelKey } from "../../operator/labels.ts";
import type { Broken } from "../change_rule.ts";
import { broken, inside, itemsOf, text } from "./broken.ts";

/** An empty name counts as none. */
export const objectName = text((value) =>
  value !== "" && !isObjectName(value)
    ? `not the name of an object: ${quoted(value)}; use lower-case letters, digits, "-" and "."`
    : undefined
);

/** As `objectName`, in the fields where an empty name is rejected. */
export const className = text((value) =>
  isObjectName(value)
    ? undefined
    : `not the name of a class: ${quoted(value)}; use lower-case letters, digits, "-" and "."`
);

export const image = text((value) =>
  isImageReference(value)
    ? undefined
    : `not an image reference: ${
      quoted(value)
    }; use a reference such as quay.io/team/server:1.0, without scheme and variables`
);

export function* providerImages(value: Json): Generator<Broken> {
  for (const [index, item] of itemsOf(value).entries()) {
    const reference = isObject(item) ? member(item, "image") : undefined;
    if (reference !== undefined) yield* inside([index, "image"], image(reference));
  }
}

/** Source: validateIngressRules of Kubernetes. */
export const hostname = text((value) =>
  value !== "" && (!HOST.test(value) || /^[0-9.]+$/.test(value) && value.split(".").length === 4)
    ? `not a host name: ${quoted(value)}; use a name such as llama.example.com, without scheme, port and path`
    : undefined
);

const HOST = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const absolutePath = text((value) =>
  value !== "" && !value.startsWith("/") ? `not an absolute path: ${quoted(value)}; begin it with "/"` : undefined
);

/** Source: ValidatePositiveIntOrPercent and IsNotMoreThan100Percent of Kubernetes. */
export function* podCount(value: Json): Generator<Broken> {
  const percent = typeof value === "string" ? /^([0-9]+)%$/.exec(value)?.[1] : undefined;
  if (typeof value === "string" && percent === undefined) {
    yield broken(
      /^[0-9]+$/.test(value)
        ? `a number in quotes: ${quoted(value)}; remove the quotes, or write a percentage such as 50%`
        : `not a number of pods: ${quoted(value)}; use a number, or a percentage such as 50%`,
    );
  } else if (Number(percent ?? 0) > 100) yield broken(`more than 100%: ${quoted(String(value))}; use 0% to 100%`);
  else if (typeof value === "number" && value < 0) yield broken(`must not be negative: ${value}`);
}

export function* allowedNamespaces(value: Json): Generator<Broken> {
  for (const [index, name] of itemsOf(value).entries()) {
    if (typeof name === "string" && name !== "*" && !isNamespaceName(name)) {
      yield broken(
        `not the name of a namespace: ${
          quoted(name)
        }; use a name, or "*" for all; patterns are not supported, use allowedFrom.labels`,
        index,
      );
    }
  }
}

export function* allowedLabels(value: Json): Generator<Broken> {
  for (const [index, key] of itemsOf(value).entries()) {
    if (typeof key === "string" && !isLabelKey(key)) {
      yield broken(`not a label key: ${quoted(key)}; use a key such as example.com/team, without a value`, index);
    }
  }
}

/** Server-side apply rejects a list with two items of one name. */
export function* pullSecrets(value: Json): Generator<Broken> {
  const names = itemsOf(value).map((item) => isObject(item) ? member(item, "name") ?? "" : undefined);
  for (const [index, name] of names.entries()) {
    if (name !== undefined && names.indexOf(name) !== index) {
      yield broken(`a second Secret ${quoted(String(name))}; remove one of them`, index, "name");
    }
  }
}
