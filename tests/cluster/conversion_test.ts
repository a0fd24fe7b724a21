/** Both API versions on a real API server, with our webhook between them. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { INCOMPLETE_ANNOTATION, isLeftoverAnnotation } from "../../core/api/convert/annotation.ts";
import { DEPRECATION } from "../../core/api/v1alpha1.ts";
import { at, type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { arbitraryV1alpha2 } from "../arbitrary_versions.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { figure, ROLLING_SECONDS } from "../../tools/soak_lengths.ts";
import { goDefinition } from "./go_operator.ts";
import { type RunningOperator, startOperator } from "./operator.ts";
import {
  balanced,
  call,
  installWithWebhooks,
  pathIn,
  patiently,
  startWebhooks,
  untilCreated,
  VALIDATING_CONFIGURATION,
  validatingConfiguration,
} from "./webhooks.ts";
import { aMoment, aTick, eventually, until } from "../waiting.ts";

const OLD = "v1alpha1";
const NOW = "v1alpha2";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

const resource = (version: string, name: string, spec: JsonObject, annotations: JsonObject = {}): JsonObject => ({
  apiVersion: `llamastack.io/${version}`,
  kind: "LlamaStackDistribution",
  metadata: { name, namespace: "default", annotations },
  spec,
});

/** What a user looks at: everything but what the API server counts. */
const seen = (object: JsonObject): JsonObject => ({
  spec: object.spec ?? null,
  ...(object.status === undefined ? {} : { status: object.status }),
  labels: at(object, "metadata", "labels") ?? null,
  annotations: Object.fromEntries(
    Object.entries(objectAt(object, "metadata", "annotations")).filter(([key]) => !isLeftoverAnnotation(key)),
  ),
});

const applied = (cluster: ControlPlane, manager: string, object: JsonObject, force = false) =>
  call(
    cluster,
    "PATCH",
    `${pathIn(stringAt(object, "apiVersion")?.split("/")[1] ?? "", stringAt(object, "metadata", "name") ?? "")}` +
      `?fieldManager=${manager}${force ? "&force=true" : ""}`,
    object,
    "application/apply-patch+yaml",
  );

const ROUND_TRIPS = 25;

Deno.test("both API versions on a real API server", async (t) => {
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster);
  const get = async (version: string, name: string) => (await call(cluster, "GET", pathIn(version, name))).body;
  try {
    await t.step(
      "a stored object of the Go operator is readable in both versions after the CRD is replaced",
      async () => {
        await installDefinition(cluster, goDefinition() as unknown as Definition);
        for (const object of GO_RESOURCES) strictEqual((await call(cluster, "POST", pathIn(OLD), object)).status, 201);
        const before = await call(cluster, "GET", pathIn(OLD));
        strictEqual(listAt(before.body, "items").length, 4);
        await installWithWebhooks(cluster, webhooks);
        const after = await listed(cluster, OLD, 4);
        deepStrictEqual(
          after.map(seen),
          listAt(before.body, "items").map((item) => seen(put(objectAt(item), ["status", "observedGeneration"], -1))),
          "nobody has reconciled them in v1alpha2",
        );
        const scaled = await get(NOW, "scaled");
        deepStrictEqual([at(scaled, "spec", "workload", "workers"), at(scaled, "spec", "networking", "expose")], [
          2,
          {},
        ]);
      },
    );

    await t.step("storage migration moves them to v1alpha2, and the old version can leave storedVersions", async () => {
      deepStrictEqual(at((await call(cluster, "GET", CRD)).body, "status", "storedVersions"), [OLD, NOW]);
      const before = listAt((await call(cluster, "GET", pathIn(OLD))).body, "items") as ReadonlyArray<JsonObject>;
      for (const item of listAt((await call(cluster, "GET", pathIn(NOW))).body, "items")) {
        const name = stringAt(item, "metadata", "name") ?? "";
        const written = await call(cluster, "PUT", pathIn(NOW, name), await get(NOW, name));
        strictEqual(written.status, 200, JSON.stringify(written.body));
        strictEqual(at(written.body, "metadata", "generation"), at(item, "metadata", "generation"), "nothing changed");
      }
      const { body } = await call(cluster, "GET", CRD);
      const freed = await call(cluster, "PUT", `${CRD}/status`, put(body, ["status", "storedVersions"], [NOW]));
      strictEqual(freed.status, 200, JSON.stringify(freed.body));
      const after = listAt((await call(cluster, "GET", pathIn(OLD))).body, "items") as ReadonlyArray<JsonObject>;
      deepStrictEqual(after.map(seen), before.map(seen));
    });

    await t.step("v1alpha1 returns a warning with the replacement", async () => {
      const { warnings } = await call(cluster, "GET", pathIn(OLD, "plain"));
      deepStrictEqual(warnings, [DEPRECATION]);
      const table = await cluster.kubectl(["get", "llamastackdistributions.v1alpha1.llamastack.io", "-n", "default"]);
      ok(/^NAME\s+PHASE\s+OPERATOR VERSION\s+SERVER VERSION\s+AVAILABLE\s+AGE/.test(table), table);
    });

    await t.step("what v1alpha1 alone can say comes back as it was written", async () => {
      const spec: JsonObject = {
        replicas: 0,
        server: {
          distribution: { name: "starter" },
          containerSpec: { name: "other", port: 0, args: [], env: [{ name: "A", value: "" }] },
          podOverrides: { terminationGracePeriodSeconds: 0 },
          tlsConfig: {},
          storage: {},
          podDisruptionBudget: {},
          userConfig: { configMapName: "c", configMapNamespace: "elsewhere" },
        },
        network: { exposeRoute: false },
      };
      const made = await call(cluster, "POST", pathIn(OLD), resource(OLD, "odd", spec, { "team/own": "größe 🦙" }));
      strictEqual(made.status, 201, JSON.stringify(made.body));
      deepStrictEqual(made.body.spec, spec);
      const read = await get(OLD, "odd");
      deepStrictEqual([read.spec, at(read, "metadata", "annotations")], [spec, { "team/own": "größe 🦙" }]);
      // An edit of labels writes the whole object back, and changes nothing else in either version.
      const before = (await get(NOW, "odd")).spec;
      await call(cluster, "PUT", pathIn(OLD, "odd"), put(read, ["metadata", "labels"], { a: "b" }));
      deepStrictEqual([(await get(NOW, "odd")).spec, (await get(OLD, "odd")).spec], [before, spec]);
    });

    await t.step("created in v1alpha2, read and edited in v1alpha1", async () => {
      const spec: JsonObject = {
        distribution: { name: "starter" },
        providers: {
          inference: [{
            provider: "vllm",
            endpoint: "http://v",
            settings: { zero: 0, off: false, deep: { none: {} } },
          }],
        },
        resources: { models: [{ name: "m" }] },
        storage: { kv: { type: "redis", endpoint: "r:6379" } },
        disabled: ["safety"],
        networking: { expose: { hostname: "host.example.com" }, serviceAnnotations: { a: "" } },
        workload: { overrides: { nodeSelector: { gpu: "yes" } } },
      };
      await call(cluster, "POST", pathIn(NOW), resource(NOW, "fresh", spec));
      const before = await get(NOW, "fresh");
      const shown = await get(OLD, "fresh");
      strictEqual(at(shown, "spec", "network", "exposeRoute"), true);
      const edited = await call(cluster, "PUT", pathIn(OLD, "fresh"), put(shown, ["spec", "replicas"], 3));
      strictEqual(edited.status, 200, JSON.stringify(edited.body));
      deepStrictEqual((await get(NOW, "fresh")).spec, put(before, ["spec", "workload", "replicas"], 3).spec);
      strictEqual(at(await get(NOW, "fresh"), "metadata", "annotations"), undefined);
    });

    await t.step("a number of 64 bits is not rounded", async () => {
      const big = '{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution","metadata":{"name":"big"},' +
        '"spec":{"server":{"distribution":{"name":"a"},"podOverrides":{"terminationGracePeriodSeconds":9007199254740993}}}}';
      const made = await cluster.fetch(pathIn(OLD), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: big,
      });
      ok((await made.text()).includes(":9007199254740993"));
      const read = await (await cluster.fetch(pathIn(NOW, "big"))).text();
      ok(read.includes(":9007199254740993"), read);
    });

    await t.step("status written in v1alpha2 is shown in v1alpha1 and survives edits through it", async () => {
      const status: JsonObject = {
        observedGeneration: 1,
        phase: "Ready",
        availableReplicas: 0,
        resolvedDistribution: { image: "x", configSource: "embedded" },
        distributionConfig: { providers: [{ api: "inference", provider_id: "v", provider_type: "remote::vllm" }] },
        conditions: [],
        routeURL: "",
      };
      const written = await call(cluster, "PUT", `${pathIn(NOW, "fresh")}/status`, {
        ...await get(NOW, "fresh"),
        status,
      });
      strictEqual(written.status, 200, JSON.stringify(written.body));
      const shown = await get(OLD, "fresh");
      deepStrictEqual([at(shown, "status", "phase"), at(shown, "status", "routeURL")], ["Ready", ""]);
      const relabelled = await call(
        cluster,
        "PUT",
        pathIn(OLD, "fresh"),
        put(shown, ["metadata", "labels"], { a: "b" }),
      );
      strictEqual(relabelled.status, 200, JSON.stringify(relabelled.body));
      deepStrictEqual((await get(NOW, "fresh")).status, status);
      const old = await call(
        cluster,
        "PUT",
        `${pathIn(OLD, "fresh")}/status`,
        put(await get(OLD, "fresh"), ["status", "phase"], "Failed"),
      );
      strictEqual(old.status, 200, JSON.stringify(old.body));
      deepStrictEqual((await get(NOW, "fresh")).status, { ...status, phase: "Failed" });
    });

    await t.step("two managers apply in two versions and keep each their own fields", async () => {
      const first = resource(OLD, "shared", { server: { distribution: { name: "starter" }, workers: 2 } });
      const second = resource(NOW, "shared", {
        distribution: { name: "starter" },
        providers: { inference: [{ provider: "vllm", endpoint: "http://v" }] },
      });
      strictEqual((await applied(cluster, "old-hand", unmarked(first))).status, 201);
      const joined = await applied(cluster, "new-hand", unmarked(second));
      strictEqual(joined.status, 200, JSON.stringify(joined.body));
      // The same again changes nothing, in neither version.
      const { body: once } = await call(cluster, "GET", pathIn(NOW, "shared"));
      const again = await applied(cluster, "old-hand", unmarked(first));
      strictEqual(again.status, 200, JSON.stringify(again.body));
      strictEqual(at(again.body, "metadata", "resourceVersion"), at(once, "metadata", "resourceVersion"));
      // A conflict is one across versions too.
      const clash = await applied(
        cluster,
        "new-hand",
        put(unmarked(second), ["spec", "workload"], { workers: 4 }),
      );
      strictEqual(clash.status, 409);
      ok(String(clash.body.message).includes("old-hand"), String(clash.body.message));
      // Who stops naming a field gives it up, and the other one's stay.
      await applied(cluster, "old-hand", put(unmarked(first), ["spec", "server", "workers"], undefined));
      const { spec } = await get(NOW, "shared");
      strictEqual(at(spec, "workload", "workers"), undefined);
      strictEqual(listAt(spec, "providers", "inference").length, 1);
    });

    await t.step(
      "a field of v1alpha2 that its manager gives up goes, though others have managers in v1alpha1",
      async () => {
        const wide: JsonObject = {
          distribution: { name: "starter" },
          providers: { inference: [{ provider: "vllm" }], vectorIo: [{ provider: "inline::faiss" }] },
          storage: { kv: { type: "redis", endpoint: "r:6379" }, sql: { type: "sqlite" } },
          disabled: ["eval"],
          networking: { expose: { hostname: "h.example.com", ingressClassName: "c" }, tls: {} },
        };
        const apply = (spec: JsonObject) => applied(cluster, "new-hand", unmarked(resource(NOW, "shared", spec)));
        strictEqual((await apply(wide)).status, 200);
        const current = await get(NOW, "shared");
        const reported = { ...current, status: { observedGeneration: 1, phase: "Ready", models: ["m"] } };
        strictEqual((await call(cluster, "PUT", `${pathIn(NOW, "shared")}/status`, reported)).status, 200);
        for (
          const path of [
            ["providers", "vectorIo"],
            ["storage", "kv", "endpoint"],
            ["networking", "expose", "hostname"],
            ["networking", "tls"],
            ["disabled"],
            ["storage"],
            ["providers"],
          ]
        ) {
          const before = await get(NOW, "shared");
          const managers = listAt(before, "metadata", "managedFields").map((managedField) =>
            stringAt(managedField, "apiVersion")
          );
          ok(managers.includes("llamastack.io/v1alpha1"), "somebody manages v1alpha1");
          const fewer = path.join() === "storage,kv,endpoint"
            ? put(wide, ["storage", "kv"], { type: "sqlite" })
            : put(wide, path, undefined);
          const answer = await apply(fewer);
          strictEqual(answer.status, 200, JSON.stringify(answer.body.message));
          const after = await get(NOW, "shared");
          strictEqual(at(after, "spec", ...path), undefined, path.join("."));
          deepStrictEqual(after.status, before.status);
          await apply(wide);
        }
        deepStrictEqual(at(await get(OLD, "shared"), "spec", "server", "distribution"), { name: "starter" });
      },
    );

    await t.step("a watch in each version reports an edit made in the other", async () => {
      const { body } = await call(cluster, "GET", pathIn(OLD));
      const from = stringAt(body, "metadata", "resourceVersion") ?? "";
      const watches = [OLD, NOW].map((version) => firstEvent(cluster, version, from, "plain"));
      await call(
        cluster,
        "PATCH",
        pathIn(OLD, "plain"),
        { spec: { server: { workers: 7 } } },
        "application/merge-patch+json",
      );
      const [old, now] = await Promise.all(watches);
      strictEqual(at(old ?? null, "spec", "server", "workers"), 7);
      strictEqual(at(now ?? null, "spec", "workload", "workers"), 7);
    });

    await t.step("random objects of v1alpha2 survive a write through v1alpha1", async () => {
      let tried = 0;
      // One in twenty passes the schema: most have a mistake in one of their many fields.
      for (const item of fc.sample(arbitraryV1alpha2, { numRuns: 2000, seed: 7 })) {
        if (tried === ROUND_TRIPS) break;
        const made = await call(cluster, "POST", `${pathIn(NOW)}?fieldManager=random`, {
          ...omit(item, "status"),
          metadata: { generateName: "r-" },
        });
        // What the schema refuses is another test's.
        if (made.status !== 201) continue;
        tried++;
        const name = stringAt(made.body, "metadata", "name") ?? "";
        const shown = await get(OLD, name);
        const written = await call(cluster, "PUT", pathIn(OLD, name), put(shown, ["metadata", "labels"], { a: "b" }));
        strictEqual(written.status, 200, JSON.stringify(written.body.message));
        deepStrictEqual((await get(NOW, name)).spec, made.body.spec);
        await call(cluster, "DELETE", pathIn(NOW, name));
      }
      strictEqual(tried, ROUND_TRIPS);
    });

    await t.step(
      "what v1alpha1 cannot hold is marked there, and a write of it keeps that, also without admission",
      async () => {
        const settings = { note: "x".repeat(9000) };
        const inference = Array.from({ length: 32 }, (_, index) => ({
          id: `p-${index}`,
          provider: "vllm",
          endpoint: "http://vllm:8000/v1",
          settings,
        }));
        const large = resource(NOW, "large", { distribution: { name: "starter" }, providers: { inference } });
        const created = await call(cluster, "POST", pathIn(NOW), large);
        strictEqual(created.status, 201, JSON.stringify(created.body).slice(0, 500));
        const shown = await get(OLD, "large");
        strictEqual(at(shown, "metadata", "annotations", INCOMPLETE_ANNOTATION), "spec.providers.inference");
        const labelled = put(shown, ["metadata", "labels"], { a: "b" });
        strictEqual((await call(cluster, "PUT", pathIn(OLD, "large"), labelled)).status, 200);
        const kept = await get(NOW, "large");
        strictEqual(stringAt(kept, "metadata", "labels", "a"), "b");
        deepStrictEqual(listAt(kept, "spec", "providers", "inference"), inference);
        strictEqual(at(kept, "metadata", "annotations", INCOMPLETE_ANNOTATION), undefined);
        const validating = validatingConfiguration(webhooks.url, webhooks.caPem, "Fail");
        strictEqual((await call(cluster, "POST", VALIDATING, validating)).status, 201);
        // An old file has no annotations. The API server begins to call the webhook a moment later.
        const old = put(await get(OLD, "large"), ["metadata", "annotations"], undefined);
        await eventually("a warning", async () => {
          const answer = await cluster.fetch(`${pathIn(OLD, "large")}?dryRun=All`, {
            method: "PUT",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(old),
          });
          await answer.body?.cancel();
          return answer.headers.get("warning")?.includes("removes spec.providers") || undefined;
        });
        const second = put(large, ["metadata", "name"], "larger") as JsonObject;
        strictEqual((await call(cluster, "POST", pathIn(NOW), second)).status, 201);
        await call(cluster, "DELETE", pathIn(NOW, "larger"));
        await call(cluster, "DELETE", `${VALIDATING}/${VALIDATING_CONFIGURATION}`);
        await call(cluster, "DELETE", pathIn(NOW, "large"));
      },
    );

    await t.step("the certificate is replaced without a failed call", async () => {
      let [calls, failed, going] = [0, 0, true];
      const caller = (async () => {
        while (going) {
          if ((await call(cluster, "GET", pathIn(OLD))).status !== 200) failed++;
          calls++;
        }
      })();
      for (let swap = 0; swap < 10; swap++) {
        await webhooks.renew();
        // The second one has begun afterwards.
        const before = calls;
        await until("two calls with it", () => calls >= before + 2);
      }
      going = false;
      await caller;
      strictEqual(failed, 0);
    });
  } finally {
    await cluster.stop();
    await webhooks.stop();
  }
});

Deno.test("both versions can be read at any moment, by a bare kubectl get too, while replicas of the operator are replaced", async () => {
  const cluster = await startControlPlane();
  const balancer = balanced([]);
  const running: Array<Replica> = [];
  const url = `https://127.0.0.1:${balancer.port}`;
  try {
    const definition = put(customResourceDefinition(), ["spec", "conversion", "webhook", "clientConfig"], {
      url: `${url}/convert`,
    });
    await installDefinition(cluster, definition as unknown as Definition);
    running.push(await readyReplica(cluster, "r0"));
    balancer.to(running.map(({ port }) => port));
    await untilCreated(cluster, NOW, resource(NOW, "kept", { distribution: { name: "starter" } }));
    const failures: Array<string> = [];
    let [calls, going] = [0, true];
    const readers = [OLD, NOW].map(async (version) => {
      while (going) {
        const { status, body } = await patiently(() => call(cluster, "GET", pathIn(version)));
        calls++;
        if (status !== 200) failures.push(`${version} ${status} ${String(body.message).slice(0, 300)}`);
        await aTick();
      }
    });
    // As a person asks: a process of its own, a look at what is served, a connection of its own.
    let gets = 0;
    const persons = [OLD, NOW].map(async (version) => {
      while (going) {
        const resources = `llamastackdistributions.${version}.llamastack.io`;
        await cluster.kubectl(["get", resources, "--all-namespaces"]).catch((error) => failures.push(String(error)));
        gets++;
        await aMoment();
      }
    });
    const end = Date.now() + ROLLING_SECONDS * 1000;
    let rolled = 0;
    // A slow machine replaces fewer in the same time, and some of them in any case.
    while (Date.now() < end || rolled < ROLLED_LEAST || calls <= 2 * rolled || gets <= ROLLING_SECONDS / 3) {
      // As a Deployment with a surge of one: first the new one is ready, then the old one goes.
      running.push(await readyReplica(cluster, `r${++rolled}`));
      balancer.to(running.map(({ port }) => port));
      const [old] = running.splice(0, 1);
      const stopped = old?.operator.stop();
      // The Service learns of it when the replica is already stopping.
      await aMoment();
      balancer.to(running.map(({ port }) => port));
      await stopped;
    }
    going = false;
    await Promise.all([...readers, ...persons]);
    deepStrictEqual(failures, []);
    figure(
      "reads of both versions while replicas are replaced",
      `${calls} calls, ${gets} times kubectl get, 0 failed`,
      "0 failed",
      `${rolled} replicas`,
    );
  } finally {
    for (const { operator } of running) await operator.stop();
    balancer.close();
    await cluster.stop();
  }
});

interface Replica {
  readonly port: number;
  readonly operator: RunningOperator;
}

const readyReplica = async (cluster: ControlPlane, replica: string): Promise<Replica> => {
  const [port, health] = freePorts(2) as [number, number];
  const operator = await startOperator(cluster, {
    install: false,
    leaderElect: true,
    replica,
    healthAddress: `127.0.0.1:${health}`,
    webhooks: { webhookAddress: `127.0.0.1:${port}`, webhookNames: ["127.0.0.1"], drainMs: 2000 },
  });
  await eventually(`${replica} is ready`, async () => {
    const answer = await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 200 ? true : undefined;
  });
  return { port, operator };
};

/** An apply names no empty maps. */
const unmarked = (object: JsonObject): JsonObject =>
  put(object, ["metadata"], omit(objectAt(object, "metadata"), "annotations"));

/** Conversions of a CRD that was just changed may take a moment to begin. */
const listed = async (cluster: ControlPlane, version: string, count: number): Promise<ReadonlyArray<JsonObject>> => {
  await until(`${count} objects in ${NOW}`, async () => {
    const { body, status } = await call(cluster, "GET", pathIn(NOW));
    return status === 200 && listAt(body, "items").length === count;
  });
  return listAt((await call(cluster, "GET", pathIn(version))).body, "items") as ReadonlyArray<JsonObject>;
};

/** Replicas that are replaced at least. */
const ROLLED_LEAST = 3;

const firstEvent = async (cluster: ControlPlane, version: string, from: string, name: string): Promise<Json> => {
  const path = `${
    pathIn(version)
  }?watch=1&timeoutSeconds=20&resourceVersion=${from}&fieldSelector=metadata.name=${name}`;
  const answer = await cluster.fetch(path);
  let text = "";
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const line = text.split("\n")[0];
    if (text.includes("\n") && line !== undefined) return (JSON.parse(line) as { object: Json }).object;
  }
  throw new Error("the watch ended without an event");
};

/** As the Go operator 0.9 stored them: the API server's defaults included, status as it wrote it. */
const GO_RESOURCES: ReadonlyArray<JsonObject> = [
  { name: "plain", spec: { replicas: 1, server: { distribution: { name: "starter" } } } },
  {
    name: "stored",
    spec: {
      replicas: 1,
      server: {
        distribution: { name: "starter" },
        containerSpec: {
          name: "llama-stack",
          port: 8321,
          env: [{ name: "OLLAMA_URL", value: "http://ollama:11434" }],
          resources: { requests: { cpu: "250m" }, limits: { memory: "2Gi" } },
        },
        storage: { size: "5Gi", mountPath: "/home/lls/.lls" },
      },
    },
  },
  {
    name: "custom-config",
    spec: {
      replicas: 2,
      server: {
        distribution: { image: "registry.example.com/team/llama-stack:0.2.20" },
        userConfig: { configMapName: "my-config" },
        tlsConfig: { caBundle: { configMapName: "my-ca" } },
        podDisruptionBudget: { minAvailable: 1 },
      },
    },
  },
  {
    name: "scaled",
    spec: {
      replicas: 1,
      server: {
        distribution: { name: "starter" },
        workers: 2,
        autoscaling: { minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 75 },
        podOverrides: { serviceAccountName: "default", volumes: [{ name: "extra", emptyDir: {} }] },
      },
      network: { exposeRoute: true, allowedFrom: { namespaces: ["team-b"] } },
    },
  },
].map(({ name, spec }) => resource(OLD, name, spec as unknown as JsonObject));
