import { DEFAULT_SURROUNDINGS } from "../config/default_surroundings.ts";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { converged, edited, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { BASES } from "../config/servers/bases.ts";
import { readDistributions } from "../config/servers/distribution_table.ts";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import type { Operator } from "../snapshot/operator.ts";
import { imageOf, templateSpec } from "../resources/pod_spec.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const GONE = "docker.io/llamastack/distribution-starter:0.7.1";
const NEWEST = "docker.io/ogxai/distribution-starter:1.4.1";
const STARTER: JsonObject = {
  distribution: { name: "starter" },
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
};
const WITH_CLAIM: JsonObject = { ...STARTER, workload: { replicas: 1, storage: { size: "1Gi" } } };

/** A release of the operator for which the name meant the image that is gone now. */
const FORMER: Operator = {
  ...OPERATOR,
  version: "0.0.9",
  surroundings: {
    ...OPERATOR.surroundings,
    distributions: Result.getOrThrow(readDistributions({
      starter: {
        serverVersion: "0.7.1",
        aliases: [],
        releases: [{ image: GONE, serverVersion: "0.7.1", base: "starter-0.7.yaml", fixes: [] }],
      },
    }, BASES)),
  },
};
/** Knows no mirror, and changes the template of every server. */
const TODAYS: Operator = {
  ...OPERATOR,
  rolloutOnUpgrade: "Paced",
  surroundings: DEFAULT_SURROUNDINGS,
  platform: { ...OPERATOR.platform, openshift: true },
};

const upgraded = (spec: JsonObject): ClusterSnapshot => ({
  ...converged(snapshot(spec, { operator: FORMER })).snapshot,
  operator: TODAYS,
  rollingUpgrades: [],
});
const deploymentOf = ({ live }: ClusterSnapshot) => live.get("Deployment/my");
const image = (of: ClusterSnapshot) => imageOf(templateSpec(deploymentOf(of)));
const condition = (of: ClusterSnapshot, type: string) =>
  listAt(of.resource, "status", "conditions").find((item) => stringAt(item, "type") === type);
const warningsIn = (of: ClusterSnapshot) =>
  listAt(of.resource, "status", "configGeneration", "warnings").map(String).join("\n");
const without = (of: ClusterSnapshot, key: string): ClusterSnapshot => ({
  ...of,
  live: new Map([...of.live].filter(([name]) => name !== key)),
});

Deno.test("an upgrade of the operator restarts no server whose image is gone, however often it is reconciled", () => {
  const before = upgraded(STARTER);
  const running = JSON.stringify(templateSpec(deploymentOf(before)));
  const { snapshot: settled } = converged(before);
  strictEqual(JSON.stringify(templateSpec(deploymentOf(settled))), running);
  strictEqual(stringAt(condition(settled, "TemplateHeld"), "reason"), "OperatorChanged");
  strictEqual(stringAt(condition(settled, "Ready"), "status"), "True");
  deepStrictEqual(planOf(settled).steps, []);
});

Deno.test("an edit of a server whose image is gone keeps image and version, and the status names the ways out", () => {
  const { snapshot: after } = converged(edited(upgraded(STARTER), { ...STARTER, networking: { port: 9000 } }));
  strictEqual(image(after), GONE);
  strictEqual(stringAt(deploymentOf(after), "metadata", "annotations", "llamastack.io/server-version"), "0.7.1");
  match(
    warningsIn(after),
    /image docker\.io\/llamastack\/\S+ has not been published since 2026-06.*image-overrides.*1\.4\.1/,
  );
  ok(
    planOf(edited(after, { ...STARTER, resources: { shields: ["guard"] } })).failures.every(({ _tag }) =>
      _tag !== "NotSupportedByServer"
    ),
  );
});

Deno.test("a server whose Deployment was deleted, or whose status was lost with a restore, comes back as it was", () => {
  const { snapshot: settled } = converged(upgraded(STARTER));
  const answered = put(settled.resource, ["status", "version", "llamaStackServerVersion"], "0.7.1") as JsonObject;
  const deleted = without({ ...settled, resource: answered }, "Deployment/my");
  strictEqual(image(converged(deleted).snapshot), GONE);
  const restored = {
    ...settled,
    resource: put(settled.resource, ["status"], { observedGeneration: -1 }) as JsonObject,
  };
  strictEqual(image(converged(restored).snapshot), GONE);
});

Deno.test("a server moves to OGX when its author asks for it, and first accepts what the move loses", () => {
  const newer = (spec: JsonObject) => ({ ...spec, distribution: { name: "starter", serverVersion: "1.4.1" } });
  const { snapshot: moved } = converged(edited(upgraded(STARTER), newer(STARTER)));
  strictEqual(image(moved), NEWEST);
  // It stays there without the field.
  strictEqual(image(converged(edited(moved, STARTER)).snapshot), NEWEST);
  const { snapshot: waiting } = converged(edited(upgraded(WITH_CLAIM), newer(WITH_CLAIM)));
  strictEqual(image(waiting), GONE);
  strictEqual(stringAt(condition(waiting, "ConfigGenerated"), "reason"), "ServerFamilyChangeLosesData");
});

Deno.test("a server that never started, since its image is gone, gets the published one", () => {
  const before = upgraded(STARTER);
  const live = new Map(before.live);
  const never = put(objectAt(deploymentOf(before)), ["status"], { replicas: 1, unavailableReplicas: 1 }) as JsonObject;
  const annotations = Object.fromEntries(
    Object.entries(objectAt(never, "metadata", "annotations")).filter(([name]) => !name.includes("last-good")),
  );
  live.set("Deployment/my", put(never, ["metadata", "annotations"], annotations) as JsonObject);
  strictEqual(image(converged({ ...before, live }).snapshot), NEWEST);
});

Deno.test("a server of the Go operator stays on its image, whichever version that is, also after an edit", () => {
  for (const [tag, reported] of [["0.3.0", undefined], ["latest", "0.2.23"], ["latest", undefined]] as const) {
    const before = upgraded({ distribution: { name: "starter" } });
    const old = `docker.io/llamastack/distribution-starter:${tag}`;
    const live = new Map(before.live);
    const containers = listAt(templateSpec(deploymentOf(before)), "containers").filter(isObject)
      .map((container) => put(container, ["image"], old));
    live.set(
      "Deployment/my",
      put(
        put(objectAt(deploymentOf(before)), ["metadata", "annotations"], {}),
        ["spec", "template", "spec", "containers"],
        containers,
      ) as JsonObject,
    );
    const status = reported === undefined ? {} : { version: { llamaStackServerVersion: reported } };
    const taken = { ...before, live, resource: put(before.resource, ["status"], status) as JsonObject };
    const { snapshot: adopted } = converged(taken);
    strictEqual(image(adopted), old);
    strictEqual(stringAt(condition(adopted, "Ready"), "status"), "True");
    const env = [{ name: "A", value: "b" }];
    const change = edited(adopted, {
      distribution: { name: "starter" },
      workload: { replicas: 1, overrides: { env } },
    });
    strictEqual(image(converged(change).snapshot), old);
  }
});

Deno.test("a new resource that names a distribution without images makes nothing, and one that runs stays", () => {
  const remote: JsonObject = { distribution: { name: "remote-vllm" } };
  const { snapshot: fresh } = converged(snapshot(remote, { operator: TODAYS }));
  strictEqual(deploymentOf(fresh), undefined);
  strictEqual(stringAt(condition(fresh, "ConfigGenerated"), "reason"), "ImageNotPublished");
  const { registries = undefined } = OPERATOR.surroundings;
  const mirrored: Operator = {
    ...TODAYS,
    surroundings: { ...TODAYS.surroundings, ...(registries === undefined ? {} : { registries }) },
  };
  const { snapshot: running } = converged(snapshot(remote, { operator: mirrored }));
  const { snapshot: kept } = converged(
    edited({ ...running, operator: TODAYS }, { ...remote, networking: { port: 9000 } }),
  );
  strictEqual(image(kept), "docker.io/llamastack/distribution-remote-vllm:0.2.14");
  strictEqual(stringAt(condition(kept, "ConfigGenerated"), "status"), "True");
});
