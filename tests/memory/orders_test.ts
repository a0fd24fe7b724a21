/**
 * Orders of events that a real cluster shows once in weeks: edits, failures of calls, cut watches, restarts, deletions and edits
 * by others between any two calls of the operator. Time is virtual, and a seed decides everything, so a failure repeats exactly.
 */
import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Random from "effect/Random";
import * as TestClock from "effect/testing/TestClock";
import type { JsonObject } from "../../core/data/json.ts";
import { listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { failedCall } from "../../shell/kubernetes/cluster.ts";
import { makeAuthority } from "../../shell/webhooks/certificate_maker.ts";
import { manifest } from "../given.ts";
import { differencesOf, KINDS, OWN, picture } from "../picture.ts";
import { chance } from "../chance.ts";
import { MemoryCluster } from "./cluster.ts";
import { operatorOn, pass, storeOwnSecret } from "./operator.ts";

const SEEDS = Number(Deno.env.get("ORDERS") ?? 25);
const FIRST_SEED = Number(Deno.env.get("ORDERS_SEED") ?? 1);
const EVENTS = 12;

const secret = (key: string): JsonObject => ({ secretKeyRef: { name: "keys", key } });
const SPECS: ReadonlyArray<JsonObject> = [
  {},
  { workload: { replicas: 2 } },
  { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000" }] } },
  { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("a") }] } },
  { networking: { expose: {}, port: 8400 } },
  { networking: { tls: { caBundle: { configMapName: "ca" } } } },
  { workload: { autoscaling: { maxReplicas: 4 }, podDisruptionBudget: { minAvailable: 1 } } },
  { workload: { overrides: { env: [{ name: "A", value: "1" }] } } },
  {
    resources: { models: [{ name: "m" }] },
    providers: { inference: [{ provider: "ollama", endpoint: "http://o:11434" }] },
  },
];
const WRONG: JsonObject = { providers: { inference: [{ provider: "nonsense" }] } };

const resourceIn = (namespace: string) =>
  `/apis/llamastack.io/v1alpha2/namespaces/${namespace}/llamastackdistributions/my`;

let CERTIFICATE = "";

const prepare = (cluster: MemoryCluster, namespace: string): void => {
  const make = (kind: "Secret" | "ConfigMap", name: string, data: JsonObject) =>
    cluster.write(`/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`, {
      apiVersion: "v1",
      kind,
      metadata: { name, namespace },
      data,
    });
  make("Secret", "keys", { a: btoa("value-0") });
  make("ConfigMap", "ca", { "ca-bundle.crt": CERTIFICATE });
};

const edit = (cluster: MemoryCluster, namespace: string, spec: JsonObject): void => {
  const path = resourceIn(namespace);
  const found = cluster.read(path);
  cluster.write(path, {
    ...manifest(spec),
    ...(found.status === undefined ? {} : { status: found.status }),
    metadata: { ...objectAt(found, "metadata"), name: "my", namespace },
  }, "kubectl");
};

/** What happens in one seed, told so that a failure can be understood. */
const walk = (seed: number) =>
  Effect.gen(function* () {
    const random = chance(seed);
    const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)] as A;
    const delays = chance(seed + 1_000_000);
    const cluster = new MemoryCluster(() => Math.floor(delays() * 60));
    storeOwnSecret(cluster);
    prepare(cluster, "walked");
    let spec = pick(SPECS);
    edit(cluster, "walked", spec);
    const told: Array<string> = [JSON.stringify(spec)];
    let running = yield* Effect.forkChild(operatorOn(cluster));
    for (let count = 0; count < EVENTS; count++) {
      yield* pass(cluster, random() < 0.5 ? random() * 0.3 : random() * 4);
      const kind = Math.floor(random() * 8);
      switch (kind) {
        case 0:
        case 1:
          spec = pick(SPECS);
          edit(cluster, "walked", spec);
          told.push(`edit ${JSON.stringify(spec)}`);
          break;
        case 2:
          edit(cluster, "walked", WRONG);
          yield* pass(cluster, random() * 2);
          edit(cluster, "walked", spec);
          told.push("a wrong edit, taken back");
          break;
        case 3: {
          const objects = listAt(
            cluster.read(`${pick(KINDS).replace("NS", "walked")}?${OWN}`),
            "items",
          ) as ReadonlyArray<JsonObject>;
          const [object] = objects;
          if (object === undefined) break;
          const collection = KINDS.find((path) =>
            listAt(cluster.read(path.replace("NS", "walked")), "items").includes(object)
          );
          cluster.write(`${collection?.replace("NS", "walked")}/${stringAt(object, "metadata", "name")}`, undefined);
          told.push(`deleted ${stringAt(object, "kind")}`);
          break;
        }
        case 4: {
          const expired = random() < 0.5;
          cluster.cutWatches(expired);
          told.push(expired ? "watches cut, their versions expired" : "watches cut");
          break;
        }
        case 5: {
          const refused = pick([500, 429, 409, 0]);
          let left = 1 + Math.floor(random() * 6);
          cluster.fault = (verb, path) =>
            left-- > 0
              ? failedCall({
                verb,
                path,
                status: refused === 0 ? undefined : refused,
                reason: refused === 0 ? "Unreachable" : "injected",
                detail: "",
                retryAfterMs: undefined,
              })
              : undefined;
          told.push(`the next calls fail with ${refused}`);
          break;
        }
        case 6:
          yield* Fiber.interrupt(running);
          running = yield* Effect.forkChild(operatorOn(cluster));
          told.push("another leader");
          break;
        default: {
          const path = "/apis/apps/v1/namespaces/walked/deployments/my";
          const deployment = cluster.read(path);
          if (deployment.spec === undefined) break;
          const [container] = listAt(deployment, "spec", "template", "spec", "containers") as ReadonlyArray<JsonObject>;
          const containers = [{ ...container, image: `by-hand:${count}` }];
          cluster.write(
            path,
            put(deployment, ["spec", "template", "spec", "containers"], containers) as JsonObject,
            "by-hand",
          );
          told.push("an edit of the Deployment by hand");
        }
      }
    }
    cluster.fault = () => undefined;
    yield* pass(cluster, 30);
    prepare(cluster, "fresh");
    edit(cluster, "fresh", spec);
    yield* pass(cluster, 60);
    const writes = cluster.written.length;
    yield* pass(cluster, 30);
    const late = cluster.written.slice(writes);
    yield* Fiber.interrupt(running);
    const read = (path: string) => Promise.resolve(cluster.read(path));
    const [walked, fresh] = yield* Effect.promise(() => Promise.all([picture(read, "walked"), picture(read, "fresh")]));
    const differences = walked.size < 4
      ? [`only ${[...walked].join("\n")}\n${JSON.stringify(cluster.read(resourceIn("walked")))}`]
      : differencesOf(walked, fresh);
    return { seed, told, differences, late };
  }).pipe(Random.withSeed(seed), Effect.scoped, Effect.provide(TestClock.layer()));

Deno.test(`after events in ${SEEDS} random orders a resource has the objects of a fresh one, and nothing more is written`, async () => {
  CERTIFICATE = (await makeAuthority({ notBeforeMs: Date.now(), notAfterMs: Date.now() + 3_600_000_000 })).certificate;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const { told, differences, late } = await Effect.runPromise(walk(seed));
    deepStrictEqual(
      { differences, late },
      { differences: [], late: [] },
      `ORDERS_SEED=${seed} ORDERS=1: ${told.join("; ")}\n${differences.join("\n")}\n${late.join("\n")}`,
    );
  }
});
