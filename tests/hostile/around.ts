/** What the tests of this folder observe an operator with. */
import { at, type Json, type JsonObject } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";

/**
 * Longest answer of `/livez` since it was last asked, in milliseconds; a new connection each time, as the kubelet makes one. On
 * a thread of its own: what this test itself has to do must not count.
 */
export const pulse = (port: number) => {
  const worker = new Worker(new URL("./pulse.ts", import.meta.url), { type: "module" });
  worker.postMessage(`http://127.0.0.1:${port}/livez`);
  return {
    longest: () =>
      new Promise<number>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data);
        worker.postMessage("longest");
      }),
    stop: () => worker.terminate(),
  };
};

/** PEM of the CA that the operator has published for its webhooks. */
export const servingAuthority = async (cluster: ControlPlane): Promise<string> => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";
  const crd = await (await cluster.fetch(path)).json() as JsonObject;
  const bundle: Json | undefined = at(crd, "spec", "conversion", "webhook", "clientConfig", "caBundle");
  return atob(String(bundle ?? ""));
};
