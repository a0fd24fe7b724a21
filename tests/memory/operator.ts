/** The operator's own controller on a cluster in memory, in virtual time, with a stand-in for the Deployment controller. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as Metric from "effect/Metric";
import * as Ref from "effect/Ref";
import * as TestClock from "effect/testing/TestClock";
import { HMAC_SECRET } from "../../core/api/own_objects.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { SETTINGS_DEFAULT } from "../../core/operator/settings.ts";
import { Store } from "../../shell/cache/store.ts";
import { termState } from "../../shell/controller/term_state.ts";
import { LabelReader, nobodyAsked } from "../../shell/controller/image_labels.ts";
import { controller } from "../../shell/controller/controller.ts";
import { SecretPolling } from "../../shell/controller/referenced_objects.ts";
import { LiveSettings, ValidSettings } from "../../shell/controller/operator_settings.ts";
import { ServerProbe } from "../../shell/controller/server_probe.ts";
import { Scope } from "../../shell/controller/watches.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { operatorFacts } from "../../shell/process/run.ts";
import { knownKinds, ServedKinds } from "../../shell/kubernetes/served_kinds.ts";
import { LiveFigures, newFigures } from "../../shell/runtime/metrics.ts";
import { OperatorFacts } from "../../shell/runtime/operator_facts.ts";
import type { OptionalKind } from "../../core/resources/blueprint.ts";
import type { MemoryCluster } from "./cluster.ts";

/** As text of a Secret, in base64. */
const HMAC_KEY = "bWVtb3J5";

/** The Secret with the operator's own key, as the installation has it. */
export const storeOwnSecret = (cluster: MemoryCluster): void =>
  cluster.write(`/api/v1/namespaces/default/secrets/${HMAC_SECRET}`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: HMAC_SECRET, namespace: "default" },
    data: { key: HMAC_KEY },
  });

/** Works until it is interrupted, as the leader does. */
export const operatorOn = (cluster: MemoryCluster, served: ReadonlyArray<OptionalKind> = []): Effect.Effect<void> =>
  controller.pipe(
    Effect.provideService(SecretPolling, false),
    Effect.provideServiceEffect(LiveSettings, Ref.make(SETTINGS_DEFAULT)),
    Effect.provideServiceEffect(ValidSettings, Ref.make({})),
    Effect.provideService(LabelReader, nobodyAsked),
    Effect.provideServiceEffect(ServedKinds, knownKinds(served)),
    Effect.provide(termState),
    Effect.provideService(Scope, []),
    Effect.provideService(ServerProbe, { answers: () => Effect.succeed(undefined), changed: Effect.never }),
    Effect.provide(Layer.fresh(Store.layer)),
    Effect.provideService(Cluster, cluster.door),
    Effect.provideService(
      OperatorFacts,
      operatorFacts({ operatorNamespace: "default", relatedImages: new Map() }, [], HMAC_KEY),
    ),
    Effect.provideService(LiveFigures, newFigures()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provide(Logger.layer([])),
    Effect.orDie,
  ) as Effect.Effect<void>;

/** Every Deployment is rolled out at once: observed, and as many pods ready as it wants. */
const rolledOut = (cluster: MemoryCluster): void => {
  for (const deployment of listAt(cluster.read("/apis/apps/v1/deployments"), "items") as ReadonlyArray<JsonObject>) {
    const replicas = Number(member(objectAt(deployment, "spec"), "replicas") ?? 1);
    const status: JsonObject = {
      observedGeneration: member(objectAt(deployment, "metadata"), "generation") ?? 0,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [
        { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "" },
        { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", message: "" },
      ],
    };
    const path = `/apis/apps/v1/namespaces/${stringAt(deployment, "metadata", "namespace")}/deployments/${
      stringAt(deployment, "metadata", "name")
    }`;
    if (JSON.stringify(deployment.status ?? null) === JSON.stringify(status)) continue;
    cluster.write(path, { ...deployment, status }, "kube-controller-manager", "status");
  }
};

/** Lets so many virtual seconds pass, in steps in which everybody who wakes can act. */
export const pass = (cluster: MemoryCluster, seconds: number) =>
  Effect.gen(function* () {
    const endMs = (yield* Clock.currentTimeMillis) + seconds * 1000;
    while ((yield* Clock.currentTimeMillis) < endMs) {
      yield* TestClock.adjust("20 millis");
      rolledOut(cluster);
    }
  });
