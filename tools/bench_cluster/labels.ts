/** Cold starts of resources whose configs come from the labels of images, next to those of a pinned image of the same server. */
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { serveIndex } from "../cluster/index_server.ts";
import { type ColdStart, operatorColdStart } from "./cold_starts.ts";
import { post } from "./resources.ts";

export const LABELLED_IMAGES = 20;
const OPERATOR_NAMESPACE = "default";

export interface LabelledStart {
  readonly pinned: ColdStart;
  readonly labelled: ColdStart;
  /** Requests for manifests in the labelled one; the cluster has nodes of one of the two architectures. */
  readonly manifests: number;
}

export const labelledStart = async (program: string, count: number, pinnedFirst: boolean): Promise<LabelledStart> => {
  const base = await Deno.readFile(new URL("../../configs/bases/starter-1.5.yaml", import.meta.url));
  const labels = { "com.ogx.config.config.yaml": base.toBase64(), "com.ogx.distribution.version": "1.5.0" };
  await using registry = await serveIndex({ amd64: labels, arm64: labels });
  const hosts = `[${registry.host}]`;
  const pinned = () =>
    operatorColdStart(program, count, { distribution: () => ({ name: "ogx-starter" }), everywhere: true });
  const labelled = () =>
    operatorColdStart(program, count, {
      everywhere: true,
      distribution: (index) => ({ image: `${registry.host}/ai/server-${index % LABELLED_IMAGES}:1` }),
      prepare: async (cluster) => {
        await post(cluster, "/api/v1/nodes", {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: "one", labels: { "kubernetes.io/arch": "amd64" } },
        });
        await post(cluster, `/api/v1/namespaces/${OPERATOR_NAMESPACE}/configmaps`, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: SETTINGS_CONFIG_MAP },
          data: { "registries.plainHttp": hosts, "registries.internal": hosts },
        });
      },
    });
  let first = pinnedFirst ? await pinned() : undefined;
  const second = await labelled();
  first ??= await pinned();
  const manifests = registry.requests.filter((path) => path.includes("/manifests/")).length;
  return { pinned: first, labelled: second, manifests };
};
