/** What a ConfigMap holds. */
import { type Json, objectAt } from "../data/json.ts";

export interface ConfigMapContent {
  readonly data: Readonly<Record<string, string>>;
  /** Base64 by key. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** By `namespace/name`. */
export type ConfigMaps = ReadonlyMap<string, ConfigMapContent>;

/** Of the object, as the API server or a file has it; the data of a Secret is base64. */
export const contentOf = (object: Json): ConfigMapContent => {
  const texts = (field: string) =>
    Object.fromEntries(Object.entries(objectAt(object, field)).map(([key, value]) => [key, String(value)]));
  return { data: texts("data"), binaryData: texts("binaryData") };
};
