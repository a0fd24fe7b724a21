/** The immutable ConfigMap with a generated config.yaml (FR-023, NFR-005). */
import type { JsonObject } from "../json.ts";
import { CONFIG_DIGEST_ANNOTATION, configMapName, labelsOf } from "../names.ts";

export const generatedConfigMap = (
  { name, namespace, yaml, digest }: {
    readonly name: string;
    readonly namespace: string | undefined;
    readonly yaml: string;
    readonly digest: string;
  },
): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: configMapName(name, digest),
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...labelsOf(name, "generated-config") },
    annotations: { [CONFIG_DIGEST_ANNOTATION]: digest },
  },
  immutable: true,
  data: { "config.yaml": yaml },
});
