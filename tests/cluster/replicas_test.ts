/** Two replicas as processes, as they are installed: one is killed, all are replaced, and no change is lost. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { type OperatorProcess, startCompiledOperator } from "../../tools/cluster/operator_process.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { type Door, openDoor } from "./faulty_door.ts";
import { figure, ROLLED_REPLICAS } from "../../tools/soak_lengths.ts";
import { apply, settled, withModels } from "./settled.ts";
import { aMoment, aWhile, eventually } from "../waiting.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/llama-stack-operator";
const EDITED = ["a", "b", "c"];

const holder = async (cluster: ControlPlane): Promise<string> => {
  const lease = await (await cluster.fetch(LEASE)).json() as JsonObject;
  return stringAt(lease, "spec", "holderIdentity") ?? "";
};

const newHolder = (cluster: ControlPlane, before: string) =>
  eventually("another holder of the lease", async () => {
    const now = await holder(cluster);
    return now !== "" && now !== before ? now : undefined;
  });

/** What the objects of all resources ask for, by kind and name. */
const contents = async (cluster: ControlPlane): Promise<Record<string, string>> => {
  const selected = "?labelSelector=app.kubernetes.io/managed-by=llama-stack-operator";
  const found: Record<string, string> = {};
  for (const plural of ["/apis/apps/v1/deployments", "/api/v1/services"]) {
    const list = await (await cluster.fetch(`${plural}${selected}`)).json() as JsonObject;
    for (const item of listAt(list, "items")) {
      found[`${plural}/${stringAt(item, "metadata", "name")}`] = JSON.stringify(objectAt(item, "spec"));
    }
  }
  ok(Object.keys(found).length >= 2 * EDITED.length, Object.keys(found).join());
  return found;
};

/** One replica with a door of its own, which notes when it wrote; writes of the lease are apart. */
interface Replica {
  readonly process: OperatorProcess;
  readonly door: Door;
  readonly wroteAt: Array<number>;
}

const startReplica = async (cluster: ControlPlane, program: string): Promise<Replica> => {
  const wroteAt: Array<number> = [];
  const door = openDoor(cluster, {
    instead: (method, path) => {
      if (method !== "GET" && !path.includes("/leases")) wroteAt.push(performance.now());
      return undefined;
    },
  });
  return {
    process: await startCompiledOperator(cluster, program, { leaderElect: true, url: door.url }),
    door,
    wroteAt,
  };
};

const end = async ({ process, door }: Replica): Promise<void> => {
  await process.stop();
  await door.close();
};

Deno.test("replicas as processes", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const replicas: Array<Replica> = [];
  const start = async (): Promise<Replica> => {
    const replica = await startReplica(cluster, program);
    replicas.push(replica);
    return replica;
  };
  const program = await compiledOperator();
  try {
    await installDefinition(cluster, customResourceDefinition() as unknown as Definition);

    await t.step("kill -9 of the leader: the other one writes", async () => {
      const first = await start();
      const leader = await newHolder(cluster, "");
      const second = await start();
      await apply(cluster, manifest(withModels(1), "a"));
      await settled(cluster, "a", 1);
      deepStrictEqual(second.wroteAt, []);
      const killed = performance.now();
      await first.process.kill();
      await apply(cluster, manifest(withModels(2), "a"));
      await newHolder(cluster, leader);
      await settled(cluster, "a", 2);
      const took = ((second.wroteAt[0] ?? Number.POSITIVE_INFINITY) - killed) / 1000;
      figure(
        "kill -9 of the leader → first write of the other replica",
        `${took.toFixed(1)} s`,
        "lease of 15 s",
        "once",
      );
      await first.door.close();
      replicas.shift();
    });

    await t.step("a leader that sleeps through its lease writes nothing when it wakes", async () => {
      const sleeper = replicas[0] as Replica;
      const other = await start();
      await aWhile();
      const before = await holder(cluster);
      // Work that it has begun and will find when it wakes.
      await Promise.all(EDITED.map((name) => apply(cluster, manifest(withModels(3), name))));
      Deno.kill(sleeper.process.pid, "SIGSTOP");
      await Promise.all(EDITED.map((name) => apply(cluster, manifest(withModels(4), name))));
      await newHolder(cluster, before);
      const lostAt = performance.now();
      for (const name of EDITED) await settled(cluster, name, 4);
      const made = await contents(cluster);
      Deno.kill(sleeper.process.pid, "SIGCONT");
      await aWhile();
      const now = await contents(cluster);
      deepStrictEqual(Object.fromEntries(Object.keys(made).map((name) => [name, now[name]])), made);
      await Promise.all(EDITED.map((name) => apply(cluster, manifest(withModels(5), name))));
      for (const name of EDITED) await settled(cluster, name, 5);
      await aWhile();
      const late = sleeper.wroteAt.filter((when) => when > lostAt).length;
      figure(
        "late requests of a replica that lost its lease while it slept, none of which changed an object",
        String(late),
        String(EDITED.length),
        `${EDITED.length} resources edited`,
      );
      // What each pass had asked the runtime to send when the process was stopped leaves it when it wakes. It was made over what
      // was there then; nothing follows it.
      ok(late <= EDITED.length, String(late));
      ok(other.wroteAt.length > 0);
    });

    await t.step("a rolling restart under constant edits loses none, and each ends with 0", async () => {
      let isOver = false;
      let edits = 0;
      const last = new Map<string, number>();
      const editing = Promise.all(EDITED.map(async (name, offset) => {
        for (let round = offset; !isOver; round++) {
          const models = 1 + round % 6;
          await apply(cluster, manifest(withModels(models), name));
          last.set(name, models);
          edits++;
          await aMoment();
        }
      }));
      let slowest = 0;
      for (let rolled = 0; rolled < ROLLED_REPLICAS; rolled++) {
        await start();
        await aWhile();
        const old = replicas.shift() as Replica;
        const asked = performance.now();
        strictEqual(await old.process.stop(), 0);
        slowest = Math.max(slowest, (performance.now() - asked) / 1000);
        await old.door.close();
      }
      isOver = true;
      await editing;
      const asked = performance.now();
      for (const name of EDITED) await settled(cluster, name, last.get(name) ?? 0);
      const landed = (performance.now() - asked) / 1000;
      const length = `${ROLLED_REPLICAS} replicas replaced, ${edits} edits`;
      figure("rolling restart: slowest end of a replica, exit code 0", `${slowest.toFixed(1)} s`, "10 s", length);
      figure("rolling restart: last edits landed", `${landed.toFixed(1)} s later`, "all", length);
    });
  } finally {
    for (const replica of replicas) await end(replica);
    await cluster.stop();
  }
});
