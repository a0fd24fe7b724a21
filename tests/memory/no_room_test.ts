/** Resources with more objects than the cache has room for, in virtual time. */
import { deepStrictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { KEPT_OBJECT_MAX, KEPT_OBJECTS_MAX } from "../../shell/limits.ts";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { manifest } from "../given.ts";
import { MemoryCluster } from "./cluster.ts";
import { operatorOn, pass, storeOwnSecret } from "./operator.ts";

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2096, 0, 1) };

/** A certificate with so many names that its copy does not fit into the cache. */
const HOSTS = Array.from({ length: KEPT_OBJECT_MAX / 64 }, (_, index) => `${"x".repeat(50)}.${index}.example.com`);
const LARGE =
  (await makeLeaf(await makeAuthority(VALID), HOSTS, VALID)).cert.split(/(?<=-----END CERTIFICATE-----\n)/)[0] ?? "";

const RESOURCE = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions/my";

Deno.test("an object that the cache has no room for is deleted when the resource no longer asks for it", () =>
  Effect.gen(function* () {
    const cluster = new MemoryCluster(() => 5);
    storeOwnSecret(cluster);
    const edit = (spec: JsonObject): void => {
      const { status, metadata } = cluster.read(RESOURCE);
      const made = manifest(spec);
      cluster.write(RESOURCE, {
        ...made,
        metadata: { ...(metadata as JsonObject | undefined), ...objectAt(made, "metadata") },
        ...(status === undefined ? {} : { status }),
      }, "kubectl");
    };
    const ingresses = () =>
      listAt(cluster.read("/apis/networking.k8s.io/v1/namespaces/default/ingresses"), "items")
        .map((object) => stringAt(object, "metadata", "name"));
    edit({});
    const running = yield* Effect.forkChild(operatorOn(cluster));
    yield* pass(cluster, 10);
    // Anybody may give an object these labels.
    for (let count = 0; count < KEPT_OBJECTS_MAX; count++) {
      cluster.write(`/api/v1/namespaces/default/services/other-${count}`, {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: `other-${count}`,
          namespace: "default",
          labels: { "app.kubernetes.io/managed-by": "llama-stack-operator", "app.kubernetes.io/instance": "my" },
        },
      }, "somebody");
    }
    yield* pass(cluster, 10);
    edit({ networking: { expose: {} } });
    yield* pass(cluster, 10);
    deepStrictEqual(ingresses(), ["my-ingress"]);
    edit({});
    yield* pass(cluster, 10);
    deepStrictEqual(ingresses(), []);
    yield* Fiber.interrupt(running);
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise));

Deno.test("a copy of certificates that the cache has no room for is deleted when the resource names others", () =>
  Effect.gen(function* () {
    const cluster = new MemoryCluster(() => 5);
    storeOwnSecret(cluster);
    const source = (data: JsonObject): void => {
      const path = "/api/v1/namespaces/default/configmaps/ca";
      const { metadata } = cluster.read(path);
      const named = { ...metadata as JsonObject | undefined, name: "ca", namespace: "default" };
      cluster.write(path, { apiVersion: "v1", kind: "ConfigMap", metadata: named, data }, "kubectl");
    };
    const copies = () =>
      listAt(cluster.read("/api/v1/namespaces/default/configmaps"), "items")
        .filter((object) => stringAt(object, "metadata", "name")?.startsWith("my-ca-bundle-"))
        .map((object) => stringAt(object, "data", "ca-bundle.crt"));
    source({ "ca-bundle.crt": LARGE });
    cluster.write(RESOURCE, manifest({ networking: { tls: { caBundle: { configMapName: "ca" } } } }), "kubectl");
    const running = yield* Effect.forkChild(operatorOn(cluster));
    yield* pass(cluster, 10);
    deepStrictEqual(copies(), [LARGE]);
    source({ "ca-bundle.crt": "" });
    yield* pass(cluster, 20);
    deepStrictEqual(copies(), [""]);
    yield* Fiber.interrupt(running);
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise));
