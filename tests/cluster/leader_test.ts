/** Two operators on one API server: one is active, the other is on standby. */
import { match, ok, strictEqual } from "node:assert/strict";
import { type JsonObject, objectAt, stringAt } from "../../core/data/json.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { startOperator } from "./operator.ts";
import { aWhile, eventually } from "../waiting.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/llama-stack-operator";

const lease = async (cluster: ControlPlane): Promise<JsonObject> => {
  const answer = await cluster.fetch(LEASE);
  const object = await answer.json() as JsonObject;
  return answer.ok ? objectAt(object, "spec") : {};
};

const holder = async (cluster: ControlPlane): Promise<string> => stringAt(await lease(cluster), "holderIdentity") ?? "";

/** Milliseconds from the last renewal of a lease until another replica took it. */
const idleMs = (before: JsonObject, after: JsonObject): number =>
  Date.parse(stringAt(after, "acquireTime") ?? "") - Date.parse(stringAt(before, "renewTime") ?? "");

const heldBy = (cluster: ControlPlane, replica: string) =>
  eventually(
    `the lease of ${replica}`,
    async () => (await holder(cluster)).startsWith(`${replica}_`) ? true : undefined,
  );

/** Applies a resource, and returns when its Deployment is there. */
const deployed = async (cluster: ControlPlane, name: string): Promise<void> => {
  await cluster.kubectl(
    ["apply", "--server-side", "-n", "default", "-f", "-"],
    JSON.stringify(manifest({}, name)),
  );
  await eventually(`Deployment ${name}`, async () => {
    const answer = await cluster.fetch(`/apis/apps/v1/namespaces/default/deployments/${name}`);
    await answer.body?.cancel();
    return answer.ok ? true : undefined;
  });
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
    // A replica that waits is alive and ready.
    await eventually("the second one is ready", async () => {
      const states = ["/livez", "/readyz"].map((path) => text(healthPort, path).catch(() => ""));
      return (await Promise.all(states)).join() === "ok,ok" || undefined;
    });
    await deployed(cluster, "one");
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
    strictEqual(`${await text(healthPort, "/livez")} ${await text(healthPort, "/readyz")}`, "ok ok");

    // Released: the next one waits for no lease to run out.
    await first.stop();
    const released = await lease(cluster);
    ok(["", undefined].includes(stringAt(released, "holderIdentity")) || (await holder(cluster)).startsWith("second_"));
    await deployed(cluster, "two");
    ok((await holder(cluster)).startsWith("second_"));

    // Killed: the lease stays and runs out.
    const heir = await startOperator(cluster, { leaderElect: true, replica: "heir" });
    await aWhile();
    await second.stop();
    const kept = await lease(cluster);
    ok(stringAt(kept, "holderIdentity")?.startsWith("second_"), JSON.stringify(kept));
    await deployed(cluster, "three");
    const took = await lease(cluster);
    const leaseMs = Number(kept.leaseDurationSeconds) * 1000;
    ok(idleMs(kept, took) >= leaseMs, `${JSON.stringify(kept)} → ${JSON.stringify(took)}`);
    await heir.stop();
    strictEqual(await holder(cluster), "");
  } finally {
    await cluster.stop();
  }
});
