/** Values that the Go operators kept in annotations when they converted: read once, then removed. */
import { isList, isObject, type Json, type JsonObject, member } from "../../data/json.ts";
import { objectIn, readExactJson } from "../../data/json_text.ts";
import type { Leftover, Of } from "./leftovers.ts";

export interface FromGo {
  readonly leftovers: ReadonlyArray<Leftover>;
  /** Keys that were understood; others stay where they are. */
  readonly read: ReadonlyArray<string>;
  /** Fields that v1alpha2 has by now: they move there. */
  readonly moved: ReadonlyArray<ReadonlyArray<string>>;
}

/** Fields that v1alpha2 did not have in the time of those operators. */
const MOVED: Readonly<Record<string, ReadonlyArray<string>>> = {
  terminationGracePeriod: ["spec", "workload", "overrides", "terminationGracePeriodSeconds"],
  caBundleNamespace: ["spec", "networking", "tls", "caBundle", "configMapNamespace"],
  caBundleKeys: ["spec", "networking", "tls", "caBundle", "configMapKeys"],
};

/** Annotations of the first conversion, one value each, that a later one replaced by a blob. */
const SINGLE = {
  "llamastack.io/v1alpha1-container-name": "containerName",
  "llamastack.io/v1alpha1-termination-grace-period": "terminationGracePeriod",
  "llamastack.io/v1alpha1-user-config-namespace": "userConfigNamespace",
  "llamastack.io/v1alpha1-ca-bundle-namespace": "caBundleNamespace",
  "llamastack.io/v1alpha1-ca-bundle-keys": "caBundleKeys",
} as const;

const BLOB = {
  v1alpha1: "llamastack.io/v1alpha1-extras",
  v1alpha2: "llamastack.io/v1alpha2-extras",
} as const;

const PLACES: Readonly<Record<Of, Readonly<Record<string, ReadonlyArray<string>>>>> = {
  v1alpha1: {
    containerName: ["spec", "server", "containerSpec", "name"],
    terminationGracePeriod: ["spec", "server", "podOverrides", "terminationGracePeriodSeconds"],
    userConfigNamespace: ["spec", "server", "userConfig", "configMapNamespace"],
    caBundleNamespace: ["spec", "server", "tlsConfig", "caBundle", "configMapNamespace"],
    caBundleKeys: ["spec", "server", "tlsConfig", "caBundle", "configMapKeys"],
  },
  v1alpha2: {
    providers: ["spec", "providers"],
    resources: ["spec", "resources"],
    storage: ["spec", "storage"],
    disabled: ["spec", "disabled"],
    externalProviders: ["spec", "externalProviders"],
    exposeHostname: ["spec", "networking", "expose", "hostname"],
  },
};

/** The parts of v1alpha1 are looked for on objects of v1alpha2 and the other way round, as those operators wrote them. */
export const fromGoAnnotations = (annotations: JsonObject, of: Of): FromGo => {
  const found = objectIn(member(annotations, BLOB[of]), readExactJson) ?? {};
  const blob = Object.keys(found).length > 0 &&
      Object.entries(found).every(([name, value]) => Object.hasOwn(PLACES[of], name) && isSound(name, value))
    ? found
    : undefined;
  const singles = of === "v1alpha2" ? [] : Object.entries(SINGLE).flatMap(([key, name]) => {
    const value = singleValue(name, member(annotations, key));
    return value === undefined ? [] : [{ key, name, value }];
  });
  const fields: JsonObject = {
    ...Object.fromEntries(singles.map(({ name, value }) => [name, value])),
    ...(blob ?? {}),
  };
  return {
    leftovers: Object.entries(PLACES[of]).flatMap(([name, path]): ReadonlyArray<Leftover> => {
      const value = member(fields, name);
      return value === undefined ? [] : [{ at: path, to: value }];
    }),
    moved: Object.keys(fields).flatMap((name) => MOVED[name] === undefined || of === "v1alpha2" ? [] : [MOVED[name]]),
    read: [...(blob === undefined ? [] : [BLOB[of]]), ...singles.map(({ key }) => key)],
  };
};

const singleValue = (name: string, text: Json | undefined): Json | undefined => {
  if (typeof text !== "string" || text === "") return undefined;
  if (name === "caBundleKeys") {
    const keys = objectIn(`{"keys":${text}}`)?.keys;
    return keys !== undefined && isSound(name, keys) ? keys : undefined;
  }
  if (name !== "terminationGracePeriod") return text;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
};

const isSound = (name: string, value: Json): boolean => {
  switch (name) {
    case "terminationGracePeriod":
      return Number.isInteger(value);
    case "caBundleKeys":
      return isList(value) && value.length > 0 && value.every((key) => typeof key === "string");
    case "disabled":
      return isList(value) && value.length > 0;
    case "providers":
    case "resources":
    case "storage":
    case "externalProviders":
      return isObject(value);
    default:
      return typeof value === "string" && value !== "";
  }
};
