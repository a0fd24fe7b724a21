/** A resource as the API server has it: what is read of it even where its spec is invalid. */
import { EXTERNAL_LISTS } from "../api/api_names.ts";
import { PORT_DEFAULT } from "../api/v1alpha2.ts";
import { at, type Json, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { onceForEach } from "../data/once_for_each.ts";

export interface LiveResource {
  readonly isSuspended: boolean;
  /** Conditions are of the operator alone. */
  readonly hasConditions: boolean;
  /** Name of its distribution, or the image of one that runs its own; empty if it has neither. */
  readonly distribution: string;
  /** As it is written; undefined if something else sets the number of pods. */
  readonly replicas: Json | undefined;
  readonly hasAuth: boolean;
  readonly port: number;
  readonly hasTls: boolean;
  /** Secret with the certificate of its server. */
  readonly tlsSecret: string | undefined;
  /** ConfigMap with its own config. */
  readonly overrideConfig: string | undefined;
  /** The size of its volume claim, unless it mounts an existing one. */
  readonly claimSize: Json | undefined;
  /** In the order of installation. */
  readonly externalProviders: ReadonlyArray<{ readonly id: string; readonly image: string }>;
  /** Names of its models. */
  readonly models: ReadonlyArray<string>;
  /** Its providers of inference, as the generated config names them. */
  readonly inferenceProviders: ReadonlyArray<string>;
  /** As it is written. */
  readonly spec: JsonObject;
  /** As it is stored, whatever its shape. */
  readonly status: Json;
}

export const liveResource = onceForEach((object: JsonObject): LiveResource => {
  const spec = objectAt(object, "spec");
  const workload = objectAt(spec, "workload");
  const storage = objectAt(workload, "storage");
  const port = at(spec, "networking", "port");
  return {
    isSuspended: spec.suspend === true,
    hasConditions: listAt(object, "status", "conditions").length > 0,
    distribution: stringAt(spec, "distribution", "name") ?? stringAt(spec, "distribution", "image") ?? "",
    replicas: Object.hasOwn(workload, "autoscaling") || workload.scaling === "External" ? undefined : workload.replicas,
    hasAuth: at(spec, "auth") !== undefined,
    port: typeof port === "number" ? port : PORT_DEFAULT,
    hasTls: at(spec, "networking", "tls", "enabled") === true,
    tlsSecret: stringAt(spec, "networking", "tls", "secretName"),
    overrideConfig: stringAt(spec, "overrideConfig", "configMapName"),
    claimSize: storage.existingClaim === undefined ? storage.size : undefined,
    externalProviders: EXTERNAL_LISTS.flatMap(({ field }) => listAt(spec, "externalProviders", field))
      .map((entry) => ({ id: stringAt(entry, "providerId") ?? "", image: stringAt(entry, "image") ?? "" })),
    models: listAt(spec, "resources", "models").flatMap((model) => stringAt(model, "name") ?? []),
    inferenceProviders: listAt(spec, "providers", "inference").flatMap((provider) =>
      stringAt(provider, "id") ?? stringAt(provider, "provider")?.split("::").at(-1) ?? []
    ),
    spec,
    status: object.status ?? {},
  };
});
