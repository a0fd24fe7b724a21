/** Frequent mistakes in manifests, and what to write instead: one row for each. */
import { EXTERNAL_LISTS, namesOfApi, PROVIDER_LISTS } from "./api_names.ts";
import { didYouMean } from "../data/closest.ts";
import type { FieldPath } from "../data/field_path.ts";
import { at, isList, isObject, type Json, stringAt } from "../data/json.ts";
import { shortWord } from "../data/printable.ts";
import type { StructuralSchema } from "./structural_check.ts";
import { V1ALPHA1 } from "./v1alpha1.ts";
import { API_VERSION, KIND } from "./v1alpha2.ts";

export interface Slip {
  readonly path: FieldPath;
  /** The value; never quoted, because it may be a misplaced secret. */
  readonly value: Json | undefined;
  /** The schema of the field; without properties if the field is unknown. */
  readonly schema: StructuralSchema;
  /** The known fields next to it. */
  readonly known: ReadonlyArray<string>;
  /** The schema of the whole resource. */
  readonly root: StructuralSchema;
}

interface Row {
  readonly meets: (slip: Slip) => boolean;
  readonly detail: (slip: Slip) => string;
}

const last = ({ path }: Slip): string => shortWord(String(path.at(-1)));
const parent = ({ path }: Slip): string => path.slice(0, -1).filter((step) => typeof step === "string").join(".");

const isReference = ({ schema }: Slip): boolean => schema.properties?.secretKeyRef !== undefined;
const inProvider = (slip: Slip): boolean =>
  /^spec\.providers\.[A-Za-z]+$/.test(parent(slip)) && typeof slip.path.at(-2) === "number";

const listOf = (slip: Slip): string | undefined =>
  PROVIDER_LISTS.find(({ field, api }) => field !== last(slip) && namesOfApi(api).includes(last(slip)))?.field;

/** Where a provider's address goes, whatever the provider calls it. */
const ADDRESSES: ReadonlySet<string> = new Set(["url", "uri", "baseUrl", "base_url"]);
const KEYS: ReadonlySet<string> = new Set(["api_key", "token", "apiToken", "api_token"]);

const ROWS: ReadonlyArray<Row> = [
  {
    meets: (slip) => slip.path.join(".") === "spec.distribution" && typeof slip.value === "string",
    detail: () => "expected an object; write distribution: { name: <distribution> }, or { image: <image> }",
  },
  {
    meets: (slip) => /^spec\.(server\.)?config$/.test(slip.path.join(".")) && slip.schema.type === undefined,
    detail: ({ path }) =>
      `unknown field; put the config.yaml into a ConfigMap, and name that in spec.${
        path.length > 2 ? "server.userConfig" : "overrideConfig"
      }`,
  },
  {
    meets: (slip) =>
      last(slip) === "annotations" && ["spec.server.podOverrides", "spec.workload.overrides"].includes(parent(slip)),
    detail: ({ path }) =>
      `unknown field; ${
        path[1] === "workload"
          ? "write podAnnotations for the pod"
          : `${API_VERSION} has spec.workload.overrides.podAnnotations`
      }, and what a cloud reads of a ServiceAccount on that of serviceAccountName`,
  },
  {
    meets: (slip) => last(slip) === "envFromExternalConfigMaps" && slip.schema.type === undefined,
    detail: () => "unknown field; v1alpha2 has spec.workload.overrides.envFrom for variables of ConfigMaps and Secrets",
  },
  {
    // The text of the key itself, the flat form of other operators, or the form of an environment variable.
    meets: (slip) =>
      isReference(slip) && (!isObject(slip.value) || !Object.hasOwn(slip.value, "secretKeyRef")) &&
      slip.value !== undefined,
    detail: (slip) =>
      `expected a reference to a Secret; write ${last(slip)}: { secretKeyRef: { name: <Secret>, key: <key> } }`,
  },
  {
    meets: (slip) => slip.path.join(".") === "spec.networking.expose" && typeof slip.value === "boolean",
    detail: ({ value }) =>
      `expected an object; ${
        value === true ? "write expose: {}" : "remove expose, or write expose: { enabled: false }"
      }`,
  },
  {
    meets: (slip) => slip.path.join(".") === "spec.overrideConfig.configMapNamespace",
    detail: () => "unknown field; the ConfigMap is read from the namespace of the resource",
  },
  {
    // snake_case, or the name of an API before servers renamed it.
    meets: (slip) => slip.schema.type === undefined && parent(slip) === "spec.providers" && listOf(slip) !== undefined,
    detail: (slip) => `unknown field; the providers of the ${last(slip)} API are in spec.providers.${listOf(slip)}`,
  },
  {
    meets: (slip) => inProvider(slip) && slip.schema.type === undefined && last(slip) === "config",
    detail: () => "unknown field; write the fields of the provider's config under settings",
  },
  {
    meets: (slip) => inProvider(slip) && slip.schema.type === undefined && ADDRESSES.has(last(slip)),
    detail: () => "unknown field; write the address of the service as endpoint",
  },
  {
    meets: (slip) => inProvider(slip) && slip.schema.type === undefined && KEYS.has(last(slip)),
    detail: () => "unknown field; write apiKey: { secretKeyRef: { name: <Secret>, key: <key> } }",
  },
  {
    meets: (slip) => inProvider(slip) && slip.schema.type === undefined && didYouMean(last(slip), slip.known) === "",
    detail: (slip) => `unknown field; write fields of the provider's config under settings: settings.${last(slip)}`,
  },
  {
    meets: (slip) =>
      slip.schema.type === undefined && parent(slip) === "spec.externalProviders" && isList(slip.value) &&
      slip.value.some((entry) => isObject(entry) && Object.hasOwn(entry, "image")),
    detail: (slip) =>
      `unknown field; providers of images are in one of ${
        slip.known.filter((name) => EXTERNAL_LISTS.some(({ field }) => field === name)).join(", ")
      }`,
  },
  {
    // A field of a deeper block, one level or more above its place.
    meets: (slip) => elsewhere(slip) !== undefined,
    detail: (slip) => `unknown field; write it as ${elsewhere(slip)}`,
  },
];

/** The one place of the API, outside of lists, that has a field of this name; undefined if there are several or none. */
const elsewhere = ({ path, value, schema, known, root }: Slip): string | undefined => {
  if (path.length > 3 || schema.type !== undefined || path.some((step) => typeof step === "number")) return undefined;
  const name = String(path.at(-1));
  if (known.includes(name)) return undefined;
  const [place, ...others] = placesOf(name, root.properties?.spec ?? {}, ["spec"]).filter(({ field }) =>
    // Another type is another thing of the same name.
    field.type === undefined || field.type === typeOf(value)
  ).map((found) => found.path);
  return others.length === 0 ? place : undefined;
};

const typeOf = (value: Json | undefined): StructuralSchema["type"] =>
  isList(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value as StructuralSchema["type"];

const placesOf = (
  name: string,
  schema: StructuralSchema,
  path: ReadonlyArray<string>,
): ReadonlyArray<{ readonly path: string; readonly field: StructuralSchema }> =>
  Object.entries(schema.properties ?? {}).flatMap(([key, field]) =>
    key === name ? [{ path: [...path, key].join("."), field }] : placesOf(name, field, [...path, key])
  );

/** The message for a mistake that a row describes; undefined for others. */
export const hintFor = (slip: Slip): string | undefined => ROWS.find(({ meets }) => meets(slip))?.detail(slip);

/**
 * The one sentence about a document that is meant for another operator or for another API version, instead of one for each of its
 * fields; undefined for others.
 */
export const documentHint = (document: Json): { readonly path: FieldPath; readonly detail: string } | undefined => {
  const version = stringAt(document, "apiVersion") ?? "";
  const group = version.split("/")[0];
  if (stringAt(document, "kind") === "OGXServer") {
    return {
      path: ["kind"],
      detail:
        `OGXServer is a resource of another operator; write apiVersion: ${API_VERSION} and kind: ${KIND}, and its fields ` +
        "as described in docs/api.md",
    };
  }
  if (group === "llama.x-k8s.io") {
    return { path: ["apiVersion"], detail: `the former name of the group; write apiVersion: ${shapedFor(document)}` };
  }
  const isOld = at(document, "spec", "server") !== undefined;
  if (version === V1ALPHA1 && !isOld && at(document, "spec", "distribution") !== undefined) {
    return { path: ["spec", "distribution"], detail: `a field of ${API_VERSION}; write apiVersion: ${API_VERSION}` };
  }
  if (version !== API_VERSION || !isOld) return undefined;
  return {
    path: ["spec", "server"],
    detail:
      `a field of ${V1ALPHA1}; write apiVersion: ${V1ALPHA1}, and \`llama-stack-operator convert -f FILE\` prints it as ` +
      API_VERSION,
  };
};

/** The version whose fields the document has. */
export const shapedFor = (document: Json): string =>
  at(document, "spec", "server") === undefined ? API_VERSION : V1ALPHA1;
