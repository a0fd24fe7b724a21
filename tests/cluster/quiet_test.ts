/** Every sample on a real API server: once it has settled, nothing is written as long as nothing changes. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { groupPath, OWN_KINDS, POD_KINDS } from "../../core/snapshot/kinds.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { figure, QUIET_SECONDS } from "../../tools/soak_lengths.ts";
import { startOperator } from "./operator.ts";
import { installGatewayKinds, installPrometheusKinds } from "./optional_definitions.ts";
import { apply, list, RESOURCES } from "./settled.ts";
import { pause, unchanged } from "../waiting.ts";

const SAMPLES = new URL("../../deploy/samples/", import.meta.url);

/** Everything that an operator could write; what other programs write all the time (leases, nodes) is left out. */
const WATCHED = [
  RESOURCES,
  "/apis/events.k8s.io/v1/events",
  "/apis/monitoring.coreos.com/v1/podmonitors",
  "/apis/monitoring.coreos.com/v1/prometheusrules",
  ...[...OWN_KINDS, ...POD_KINDS].map(({ apiVersion, plural }) => `${groupPath(apiVersion)}/${plural}`),
];

/** The scheduler says again and again that a pod without a volume fits nowhere, and the autoscaler that it has no metrics. */
const isOurs = (item: unknown): boolean => {
  const object = item as JsonObject;
  const reporter = stringAt(object, "reportingController");
  if (reporter !== undefined) return reporter === "llama-stack-operator";
  return stringAt(object, "metadata", "namespace") === "default";
};

const versions = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> =>
  (await Promise.all(
    WATCHED.map(async (path) =>
      (await list(cluster, path)).filter(isOurs).map((value) =>
        `${path} ${stringAt(value, "metadata", "name")} ${stringAt(value, "metadata", "resourceVersion")}`
      )
    ),
  )).flat().sort();

Deno.test("the operator writes nothing for any sample while nothing changes", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  await installPrometheusKinds(cluster, "PodMonitor", "PrometheusRule");
  await installGatewayKinds(cluster, "HTTPRoute", "BackendTLSPolicy");
  const running = await startOperator(cluster);
  try {
    let samples = 0;
    for await (const { name } of Deno.readDir(SAMPLES)) {
      for (const value of Result.getOrThrow(readManifests(await Deno.readTextFile(new URL(name, SAMPLES))))) {
        await apply(cluster, value as JsonObject);
      }
      samples++;
    }
    ok(samples >= 9, `${samples} samples`);
    // Pods that become ready one after the other, and the answers of an autoscaler that has nothing to measure.
    const before = await unchanged(() => versions(cluster), 5);
    await pause(QUIET_SECONDS * 1000);
    deepStrictEqual(await versions(cluster), before);
    ok(before.some((version) => version.includes("podmonitors minimal-metrics")), before.join("\n"));
    figure(
      `objects and Events written for ${samples} samples at rest (${before.length} watched)`,
      "0",
      "0",
      `${QUIET_SECONDS} s`,
    );
  } finally {
    await running.stop();
    await cluster.stop();
  }
});
