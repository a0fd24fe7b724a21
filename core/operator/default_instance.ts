/** The setting `defaultInstance`: one resource that the operator creates once, and never changes or deletes. */
import * as Result from "effect/Result";
import { decodeResource } from "../api/decode.ts";
import { isNamespaceName } from "../api/object_names.ts";
import { API_VERSION, KIND } from "../api/v1alpha2.ts";
import { isObject, type JsonObject, stringAt } from "../data/json.ts";
import { yamlMap } from "./setting_text.ts";

/**
 * Annotation of the operator's own Secret: the resource `namespace/name` that was created. It is not created again, also after
 * somebody replaced the settings.
 */
export const DEFAULT_INSTANCE_ANNOTATION = "llamastack.io/default-instance";

export interface DefaultInstance {
  readonly namespace: string;
  readonly name: string;
  readonly spec: JsonObject;
}

/** Fails with the end of a sentence that begins with the key of the setting. */
export const readDefaultInstance = (text: string): Result.Result<DefaultInstance, string> => {
  const map = yamlMap(text);
  if (typeof map === "string") return Result.fail(map);
  const strange = Object.keys(map).find((key) => !["namespace", "name", "spec"].includes(key));
  if (strange !== undefined) return Result.fail(`.${strange}: unknown key; expected namespace, name and spec`);
  const [namespace = "", name = "", spec] = [stringAt(map, "namespace"), stringAt(map, "name"), map.spec];
  if (!isNamespaceName(namespace)) return Result.fail(".namespace: expected the name of a namespace");
  if (!isObject(spec)) return Result.fail(".spec: expected the spec of a LlamaStackDistribution");
  const instance = { namespace, name, spec };
  const decoded = decodeResource(instanceObject(instance), "strict");
  return Result.isFailure(decoded)
    ? Result.fail(`: ${decoded.failure.map(({ message }) => message).join("; ")}`)
    : Result.succeed(instance);
};

export const instanceObject = ({ namespace, name, spec }: DefaultInstance) => ({
  apiVersion: API_VERSION,
  kind: KIND,
  metadata: { name, namespace },
  spec,
});
