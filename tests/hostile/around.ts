/** What the tests of this folder observe an operator with. */
import { at, type Json, type JsonObject } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import type { OperatorProcess } from "../../tools/cluster/operator_process.ts";
import type { Asked, Longest } from "./pulse.ts";

/** Longest answer of `/livez` since it was last asked (pulse.ts); a new connection each time, as the kubelet makes one. */
export const pulse = ({ healthPort, pid }: Pick<OperatorProcess, "healthPort" | "pid">) => {
  const worker = new Worker(new URL("./pulse.ts", import.meta.url), { type: "module" });
  worker.postMessage({ url: `http://127.0.0.1:${healthPort}/livez`, pid } satisfies Asked);
  return {
    longest: () =>
      new Promise<Longest>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<Longest>) => resolve(data);
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
