/** Two operators on one API server: one is active, the other is on standby. */
import { match, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { aWhile, eventually } from "../waiting.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/llama-stack-operator";

const holder = async (cluster: ControlPlane): Promise<string> => {
  const answer = await cluster.fetch(LEASE);
  const lease = await answer.json() as JsonObject;
  return answer.ok ? stringAt(lease, "spec", "holderIdentity") ?? "" : "";
};

const heldBy = (cluster: ControlPlane, replica: string) =>
  eventually(
    `the lease of ${replica}`,
    async () => (await holder(cluster)).startsWith(`${replica}_`) ? true : undefined,
  );

/** Applies a resource and gives the time until its Deployment is there, in milliseconds. */
const timeToDeploy = async (cluster: ControlPlane, name: string): Promise<number> => {
  const start = performance.now();
  await cluster.kubectl(
    ["apply", "--server-side", "-n", "default", "-f", "-"],
    JSON.stringify(manifest({}, name)),
  );
  await eventually(`Deployment ${name}`, async () => {
    const answer = await cluster.fetch(`/apis/apps/v1/namespaces/default/deployments/${name}`);
    await answer.body?.cancel();
    return answer.ok ? true : undefined;
  });
  return performance.now() - start;
};

const text = async (port: number, path: string): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${port}${path}`)).text();

Deno.test("leading() allows one replica to write, and another when the first one releases the lease or dies", async () => {
  const cluster = await startControlPlane();
  try {
    const [firstPort, secondPort, healthPort] = freePorts(3) as [number, number, number];
    const address = (port: number) => `127.0.0.1:${port}`;
    const first = await startOperator(cluster, {
      leaderElect: true,
      replica: "first",
      metricsAddress: address(firstPort),
      metricsPlain: true,
    });
    await heldBy(cluster, "first");
    const second = await startOperator(cluster, {
      leaderElect: true,
      replica: "second",
      keepsLease: true,
      metricsAddress: address(secondPort),
      metricsPlain: true,
      healthAddress: address(healthPort),
    });
    await timeToDeploy(cluster, "one");
    ok((await holder(cluster)).startsWith("first_"));
    const told = await eventually("the end of the first pass", async () => {
      const metrics = await text(firstPort, "/metrics");
      const ended = /^controller_runtime_reconcile_total\{controller="llamastackdistribution",result="\w+"\} [1-9]/m;
      return ended.test(metrics) ? metrics : undefined;
    });
    const silent = await text(secondPort, "/metrics");
    match(told, /^llama_stack_operator_writes_total\{kind="Deployment",verb="apply"\} 1$/m);
    match(told, /^llama_stack_operator_watch_last_event_seconds\{what="\/apis\/apps\/v1\/deployments"\} \d/m);
    match(told, /^llama_stack_operator_resources\{phase="\w+"\} 1$/m);
    ok(!silent.includes("llama_stack_operator_writes_total"), silent);
    // A replica that waits is alive and ready.
    strictEqual(`${await text(healthPort, "/livez")} ${await text(healthPort, "/readyz")}`, "ok ok");

    // Released: the next one waits for no lease to run out.
    await first.stop();
    const soon = await timeToDeploy(cluster, "two");
    ok(soon < 10_000, `${soon} ms`);
    ok((await holder(cluster)).startsWith("second_"));

    // Killed: the lease stays and runs out.
    const heir = await startOperator(cluster, { leaderElect: true, replica: "heir" });
    await aWhile();
    await second.stop();
    ok((await holder(cluster)).startsWith("second_"));
    const took = await timeToDeploy(cluster, "three");
    ok(took > 10_000, `taken after ${took} ms, before the lease can have run out`);
    await heir.stop();
    strictEqual(await holder(cluster), "");
  } finally {
    await cluster.stop();
  }
});
