/** Bad networks: watches that are cut, calls that fail, connections that die silently, an API server that restarts. */
import { ok, strictEqual } from "node:assert/strict";
import { at, type JsonObject, stringAt } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { openWire } from "./dead_wire.ts";
import { openDoor } from "./faulty_door.ts";
import { figure, NETWORK_SECONDS } from "../../tools/soak_lengths.ts";
import { startOperator } from "./operator.ts";
import { apply, RESOURCES, settled, SPEC, withModels } from "./settled.ts";
import { aWhile, eventually } from "../waiting.ts";

/** What 16 mirrors, their relists and the passes of one resource ask for; a storm would be hundreds. */
const REQUESTS_PER_SECOND_MAX = 60;

const SERVICE = "/api/v1/namespaces/default/services/one-service";

const refused = (status: number, reason: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ kind: "Status", status: "Failure", reason, code: status, message: "injected" }), {
    status,
    headers,
  });

const uidOf = async (cluster: ControlPlane, path: string): Promise<string | undefined> =>
  stringAt(await (await cluster.fetch(path)).json() as JsonObject, "metadata", "uid");

/** Edits the resource, deletes its Service now and then, and waits for each to be answered; the slowest, in seconds. */
const disturb = async (cluster: ControlPlane, fromRound: number, untilMs: number) => {
  let round = fromRound;
  let slowest = 0;
  for (; performance.now() < untilMs; round++) {
    const started = performance.now();
    const models = 1 + round % 7;
    await apply(cluster, manifest(withModels(models), "one"));
    await settled(cluster, "one", models);
    if (round % 3 === 0) {
      const before = await uidOf(cluster, SERVICE);
      await (await cluster.fetch(SERVICE, { method: "DELETE" })).body?.cancel();
      await eventually("another Service", async () => {
        const now = await uidOf(cluster, SERVICE);
        return now !== undefined && now !== before ? true : undefined;
      });
    }
    slowest = Math.max(slowest, performance.now() - started);
  }
  return { round, slowest: slowest / 1000 };
};

for (const cut of ["clean", "broken"] as const) {
  Deno.test(`the operator misses no change while watches are cut (${cut}), calls fail and the API server restarts`, async () => {
    const cluster = await startControlPlane({ node: "Scheduled" });
    let calls = 0;
    const door = openDoor(cluster, {
      watchMs: 2000,
      cut,
      listMs: 300,
      instead: (method, path) => {
        calls++;
        if (calls % 17 === 0) return refused(500, "InternalError");
        if (calls % 23 === 0) return refused(429, "TooManyRequests", { "retry-after": "1" });
        if (calls % 29 === 0 && method === "GET" && path.includes("watch=1")) return refused(410, "Expired");
        return undefined;
      },
    });
    const running = await startOperator(cluster, { url: door.url });
    try {
      // Half of the time for each way of cutting.
      const halfMs = NETWORK_SECONDS * 1000 / 2;
      const started = performance.now();
      const first = await disturb(cluster, 1, started + halfMs / 2);
      await cluster.restartApiServer(3000);
      const second = await disturb(cluster, first.round, started + halfMs);
      const seconds = (performance.now() - started) / 1000;
      const perSecond = door.requests() / seconds;
      const length = `${seconds.toFixed(0)} s, ${second.round - 1} edits`;
      figure(`requests per second, watches cut every 2 s (${cut})`, perSecond.toFixed(1), "60", length);
      figure(
        `slowest edit or lost Service (${cut})`,
        `${Math.max(first.slowest, second.slowest).toFixed(1)} s`,
        "60 s",
        length,
      );
      ok(perSecond < REQUESTS_PER_SECOND_MAX, `${perSecond} requests per second`);
    } finally {
      await running.stop();
      await door.close();
      await cluster.stop();
    }
  });
}

Deno.test("the operator does not retry faster when every watch ends at once, or is rejected", async (t) => {
  const cluster = await startControlPlane();
  try {
    for (const how of ["ends", "breaks", "is refused", "is too old"] as const) {
      await t.step(`a watch that ${how}`, async () => {
        const door = openDoor(cluster, {
          watchMs: 0,
          cut: how === "breaks" ? "broken" : "clean",
          instead: (_, path) =>
            !path.includes("watch=1")
              ? undefined
              : how === "is refused"
              ? refused(429, "TooManyRequests", { "retry-after": "2" })
              : how === "is too old"
              ? refused(410, "Expired")
              : undefined,
        });
        const running = await startOperator(cluster, { url: door.url });
        try {
          await aWhile();
          const [before, fromMs] = [door.requests(), performance.now()];
          await aWhile(3);
          const perSecond = (door.requests() - before) / ((performance.now() - fromMs) / 1000);
          figure(`requests per second, every watch ${how}`, perSecond.toFixed(1), "60", "8 s");
          ok(perSecond < REQUESTS_PER_SECOND_MAX, `${perSecond} requests per second`);
        } finally {
          await running.stop();
          await door.close();
        }
      });
    }
  } finally {
    await cluster.stop();
  }
});

Deno.test("the operator detects objects that were deleted while no watch was open", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  let isBlind = false;
  // Ends every watch, and says to each new one that its version is too old.
  const door = openDoor(cluster, {
    watchMs: 1200,
    instead: (_, path) => isBlind && path.includes("watch=1") ? refused(410, "Expired") : undefined,
  });
  const running = await startOperator(cluster, { url: door.url });
  try {
    const key = { apiVersion: "v1", kind: "Secret", metadata: { name: "key" }, data: { token: btoa("one") } };
    await apply(cluster, key);
    const inference = [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("key", "token") }];
    await apply(cluster, manifest({ ...SPEC, providers: { inference } }, "one"));
    await settled(cluster, "one", 0);
    const whileBlind = async (deleted: string): Promise<void> => {
      isBlind = true;
      await aWhile();
      await cluster.kubectl(["delete", deleted, "-n", "default"]);
      isBlind = false;
    };
    await whileBlind("service/one-service");
    await eventually("the Service again", () => uidOf(cluster, SERVICE));
    await whileBlind("secret/key");
    await eventually("the Secret is missed", async () => {
      const resource = await (await cluster.fetch(`${RESOURCES}/one`)).json() as JsonObject;
      return JSON.stringify(at(resource, "status", "conditions")).includes('"SecretNotFound"') ? true : undefined;
    });
  } finally {
    await running.stop();
    await door.close();
    await cluster.stop();
  }
});

Deno.test("the operator detects connections that died silently", async () => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const wire = openWire(cluster.url);
  const patience = { callMs: 4000, watchMs: 6000 };
  const running = await startOperator(cluster, { url: wire.url, patience });
  try {
    await apply(cluster, manifest(withModels(1), "one"));
    await settled(cluster, "one", 1);
    let slowest = 0;
    for (let round = 2; round <= 4; round++) {
      // The resource settles before the last watch has noticed that its former connection is dead.
      await eventually("watches have connections", () => Promise.resolve(wire.open() >= 10 ? true : undefined));
      wire.die();
      const started = performance.now();
      await apply(cluster, manifest(withModels(round), "one"));
      await settled(cluster, "one", round);
      slowest = Math.max(slowest, (performance.now() - started) / 1000);
      strictEqual(await uidOf(cluster, SERVICE) === undefined, false);
    }
    figure(
      "edit seen after every connection died (6 s of silence allowed)",
      `${slowest.toFixed(1)} s`,
      "20 s",
      "3 times",
    );
  } finally {
    await running.stop();
    await wire.close();
    await cluster.stop();
  }
});
