/** Kinds of the Prometheus Operator come and go on a real API server while the operator runs. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import { at, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { Cluster } from "../../shell/kubernetes/cluster.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { eventually, until } from "../waiting.ts";
import { startOperator } from "./operator.ts";
import { definitionName, installPrometheusKinds } from "./optional_definitions.ts";
import { apply, condition, list, read, ready, RESOURCES } from "./settled.ts";

const OGX: JsonObject = { distribution: { name: "ogx-starter" } };
const GROUP = "/apis/monitoring.coreos.com/v1/namespaces/default";

/** An API server answers so now and then, whatever kinds it has: 410 to a watch from before its cache had filled. */
const PASSING = [409, 410, 429, 503];

const names = async (cluster: ControlPlane, plural: string): Promise<ReadonlyArray<string>> =>
  (await list(cluster, `${GROUP}/${plural}`)).map((object) => stringAt(object, "metadata", "name") ?? "").sort();

/** What runs, and in which Deployment. */
const deployment = async (cluster: ControlPlane, name: string): Promise<unknown> => {
  const { metadata, spec } = await read(cluster, `/apis/apps/v1/namespaces/default/deployments/${name}`);
  return [at(metadata, "uid"), at(spec, "template")];
};

const message = async (cluster: ControlPlane, name: string): Promise<string> =>
  stringAt(condition(await read(cluster, `${RESOURCES}/${name}`), "MetricsAvailable"), "message") ?? "";

Deno.test("PodMonitors and PrometheusRules come and go with their definitions, and no server or status fails", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const lines: Array<JsonObject> = [];
  const log = console.log;
  console.log = (line: unknown) => void lines.push(typeof line === "string" ? JSON.parse(line) : line as JsonObject);
  const failures = () =>
    lines.filter((line) =>
      ["ERROR", "FATAL"].includes(stringAt(line, "level") ?? "") ||
      ["watch failed", "call failed", "resource has failures", "reconciliation failed"].includes(
          stringAt(line, "message") ?? "",
        ) && !PASSING.includes(Number(at(line, "annotations", "status")))
    );
  try {
    const operator = await startOperator(cluster);
    try {
      const seen = (plural: string, wanted: ReadonlyArray<string>) =>
        eventually(
          `${plural}: ${wanted.join(", ") || "none"}`,
          async () => JSON.stringify(await names(cluster, plural)) === JSON.stringify(wanted) || undefined,
        );
      await apply(cluster, manifest(OGX, "early"));
      await apply(cluster, manifest({ ...OGX, monitoring: { labels: { release: "prometheus" } } }, "asked"));
      for (const name of ["early", "asked"]) await ready(cluster, name);
      const before = [await deployment(cluster, "early"), await deployment(cluster, "asked")];
      const stay = async () =>
        deepStrictEqual([await deployment(cluster, "early"), await deployment(cluster, "asked")], before);

      await t.step(
        "without their definitions a server that asks for metrics is ready, and its status names them",
        async () => {
          ok((await message(cluster, "asked")).includes("no PodMonitors"));
          strictEqual(await message(cluster, "early"), "");
        },
      );

      await t.step(
        "a group without the kinds changes nothing, and each kind is used as soon as it is there",
        async () => {
          await installPrometheusKinds(cluster, "ServiceMonitor", "PodMonitor", "PrometheusRule");
          await seen("podmonitors", ["asked-metrics"]);
          await seen("prometheusrules", ["asked-metrics"]);
          await stay();
          const made = await read(cluster, `${GROUP}/podmonitors/asked-metrics`);
          strictEqual(stringAt(made, "metadata", "labels", "release"), "prometheus");
        },
      );

      await t.step("a new server has metrics then, and one that existed has none", async () => {
        await apply(cluster, manifest(OGX, "late"));
        await ready(cluster, "late");
        await seen("podmonitors", ["asked-metrics", "late-metrics"]);
        await stay();
      });

      await t.step("a PodMonitor that somebody deletes is made again", async () => {
        const path = `${GROUP}/podmonitors/late-metrics`;
        const uid = at(await read(cluster, path), "metadata", "uid");
        await (await cluster.fetch(path, { method: "DELETE" })).body?.cancel();
        await eventually("another one is there", async () => {
          const found = at(await read(cluster, path), "metadata", "uid");
          return found !== undefined && found !== uid || undefined;
        });
      });

      await t.step("a definition that is deleted fails no pass, and edits are carried out meanwhile", async () => {
        await cluster.kubectl(["delete", "customresourcedefinition", definitionName("podmonitors")]);
        await apply(cluster, manifest({ ...OGX, monitoring: { labels: { release: "other" } } }, "asked"));
        await eventually(
          "the status says so",
          async () =>
            (await message(cluster, "late")).includes("no PodMonitors") &&
              (await message(cluster, "asked")).includes("no PodMonitors") || undefined,
        );
        const resource = await ready(cluster, "asked");
        strictEqual(condition(resource, "ObjectRefused"), undefined);
        await eventually(
          "the edit is in the PrometheusRule",
          async () =>
            stringAt(await read(cluster, `${GROUP}/prometheusrules/asked-metrics`), "metadata", "labels", "release") ===
              "other" || undefined,
        );
        await stay();
      });

      await t.step("with the definition the PodMonitors are back", async () => {
        await installPrometheusKinds(cluster, "PodMonitor");
        await seen("podmonitors", ["asked-metrics", "late-metrics"]);
        // The status is written after the objects.
        for (const name of ["asked", "late"]) {
          await until(
            `the status of ${name} no longer says so`,
            async () => !(await message(cluster, name)).includes("no PodMonitors"),
          );
        }
        strictEqual(await message(cluster, "early"), "");
        await stay();
      });

      await t.step("objects go with the field, and the server stays ready", async () => {
        await apply(cluster, manifest({ ...OGX, monitoring: { enabled: false } }, "late"));
        await seen("podmonitors", ["asked-metrics"]);
        await seen("prometheusrules", ["asked-metrics"]);
        const resource = await ready(cluster, "late");
        strictEqual(
          listAt(resource, "status", "conditions").some((found) => stringAt(found, "type") === "MetricsAvailable"),
          false,
        );
      });

      await t.step("discovery that is known already is not sent again", async () => {
        const connection = {
          url: cluster.url,
          caPem: () => cluster.caPem,
          clientCertificate: undefined,
          token: () => cluster.adminToken,
        };
        const looks = Effect.gen(function* () {
          const { discover } = yield* Cluster;
          const first = yield* discover(undefined);
          return [first?.groups.map((group) => stringAt(group, "metadata", "name")), yield* discover(first?.etag)];
        });
        const [groups, again] = await Effect.runPromise(
          looks.pipe(Effect.provide(Cluster.layer(connection)), Effect.scoped),
        );
        ok(Array.isArray(groups) && groups.includes("monitoring.coreos.com"));
        strictEqual(again, undefined);
      });
      deepStrictEqual(failures(), []);
    } finally {
      await operator.stop();
    }
  } finally {
    console.log = log;
    await cluster.stop();
  }
});
