/**
 * The Secrets and ConfigMaps that a resource references. Each is read when it is needed; only the used part of its
 * content is held, within limits, and dropped after the reconciliation. Objects of others are not cached.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as PartitionedSemaphore from "effect/PartitionedSemaphore";
import { type Reference, type ReferencedObject, referencedObjects } from "../../core/snapshot/references.ts";
import { CONFIG_MAPS_BYTES_MAX, SECRET_VALUES_BYTES_MAX } from "../../core/data/limits.ts";
import { redacted } from "../../core/plan/secret_values.ts";
import type { ClusterSnapshot, SecretValues } from "../../core/snapshot/cluster_snapshot.ts";
import { type ConfigMapContent, contentOf } from "../../core/config/config_map_content.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { FOREIGN_READS_MAX } from "../limits.ts";

/** Secrets may only be read by name, not listed or watched. */
export const SecretPolling: Context.Reference<boolean> = Context.Reference("llama-stack-operator/shell/SecretPolling", {
  defaultValue: () => false,
});

/**
 * A Secret of 1 MiB takes ten times that while it is read: the number of concurrent reads is limited over all
 * reconciliations. Namespaces alternate, so that one tenant's large objects do not delay another's.
 */
export class ForeignReads extends Context.Service<ForeignReads, PartitionedSemaphore.PartitionedSemaphore<string>>()(
  "llama-stack-operator/shell/ForeignReads",
) {
  static readonly make = PartitionedSemaphore.make<string>({ permits: FOREIGN_READS_MAX });
}

export const readReferences = Effect.fnUntraced(function* (references: ReadonlyArray<Reference>, namespace: string) {
  const cluster = yield* Cluster;
  const reads = yield* ForeignReads;
  const secrets = new Map<string, SecretValues>();
  const configMaps = new Map<string, ConfigMapContent>();
  const tooLarge: Array<ClusterSnapshot["tooLarge"][number]> = [];
  const left = { Secret: SECRET_VALUES_BYTES_MAX, ConfigMap: CONFIG_MAPS_BYTES_MAX };
  /** Whether the content fits the limit; content beyond it is dropped. */
  const fits = (
    { kind, name }: ReferencedObject,
    content: ReadonlyArray<Readonly<Record<string, string>>>,
  ): boolean => {
    const bytes = content.flatMap((values) => Object.values(values)).reduce((sum, value) => sum + value.length, 0);
    if (bytes <= left[kind]) {
      left[kind] -= bytes;
      return true;
    }
    tooLarge.push({ kind, name });
    return false;
  };
  for (const object of referencedObjects(references)) {
    // The resource fails as it is: no more of what it names is read.
    if (tooLarge.length > 0) break;
    const { kind, name, namespace: other = namespace } = object;
    yield* reads.withPermit(namespace)(
      Effect.map(cluster.get({ apiVersion: "v1", kind, namespace: other, name }), (found) => {
        if (found === undefined) return;
        const all = contentOf(found);
        const data = used(all.data, object);
        if (kind === "Secret") {
          const values = decodedValues(data);
          secrets.set(name, fits(object, [values]) ? redacted(values) : {});
        } else {
          const binaryData = used(all.binaryData, object);
          const content = fits(object, [data, binaryData]) ? { data, binaryData } : { data: {}, binaryData: {} };
          configMaps.set(`${other}/${name}`, content);
        }
      }),
    );
  }
  return { secrets, configMaps, tooLarge };
});

/** What the resource uses of the data: the keys that it names, or all of them. */
const used = (data: Values, { keys }: ReferencedObject): Values =>
  keys === undefined
    ? data
    : Object.fromEntries(keys.filter((key) => Object.hasOwn(data, key)).map((key) => [key, data[key] ?? ""]));

type Values = ConfigMapContent["data"];

const decodedValues = (data: Values): Values =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decodedText(value)]));

/** Bytes that are no text become U+FFFD; such a value is compared and hashed, and no server could take it from its environment. */
const decodedText = (base64: string): string => new TextDecoder().decode(Uint8Array.fromBase64(base64));
