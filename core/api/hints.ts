/** Frequent mistakes in manifests, and what to write instead: one row for each. */
import { didYouMean } from "../data/closest.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isObject, type Json } from "../data/json.ts";
import type { StructuralSchema } from "./structural_check.ts";

export interface Slip {
  readonly path: FieldPath;
  /** The value; never quoted, because it may be a misplaced secret. */
  readonly value: Json | undefined;
  /** The schema of the field; without properties if the field is unknown. */
  readonly schema: StructuralSchema;
  /** The known fields next to it. */
  readonly known: ReadonlyArray<string>;
}

interface Row {
  readonly meets: (slip: Slip) => boolean;
  readonly detail: (slip: Slip) => string;
}

const last = ({ path }: Slip): string => String(path.at(-1));
const parent = ({ path }: Slip): string => path.slice(0, -1).filter((step) => typeof step === "string").join(".");

const isReference = ({ schema }: Slip): boolean => schema.properties?.secretKeyRef !== undefined;
const inProvider = (slip: Slip): boolean =>
  /^spec\.providers\.[A-Za-z]+$/.test(parent(slip)) && typeof slip.path.at(-2) === "number";

/** Where a provider's address goes, whatever the provider calls it. */
const ADDRESSES: ReadonlySet<string> = new Set(["url", "uri", "baseUrl", "base_url"]);
const KEYS: ReadonlySet<string> = new Set(["api_key", "token", "apiToken", "api_token"]);

const ROWS: ReadonlyArray<Row> = [
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
];

/** The message for a mistake that a row describes; undefined for others. */
export const hintFor = (slip: Slip): string | undefined => ROWS.find(({ meets }) => meets(slip))?.detail(slip);
