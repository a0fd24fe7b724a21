/** A real Prometheus scrapes the installed operator: its alerts fire in their situation only, and its dashboard has data. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { LEASE } from "../../core/api/own_objects.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { CRASHING } from "../../tools/cluster/simulated_pods.ts";
import { prometheusRule } from "../../tools/package/alerts.ts";
import { DEFAULT } from "../../tools/package/choices.ts";
import { dashboard, serviceMonitor } from "../../tools/package/extras.ts";
import { installation } from "../../tools/package/installation.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { install } from "../cluster/operator_account.ts";
import { imageOf, list, read, ready, RESOURCES } from "../cluster/settled.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { must } from "../../tools/install/run_program.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { manifest, secret } from "../given.ts";
import { scraped } from "../scraped.ts";
import { startInstalledOperator } from "./installed_operator.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import { eventually, pause } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MONITOR = stringAt(serviceMonitor(), "metadata", "name") ?? "";
const UNFIT = { storage: { sql: { type: "postgres", connectionString: secret("gone", "url") } } };

Deno.test("Prometheus reads the installed operator, and alerts fire in their situation and in no other", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-prometheus-" });
  const cluster = await startControlPlane({ node: "Scheduled" });
  const stops: Array<() => Promise<void>> = [];
  try {
    await prepare(cluster);
    const tokens = { reader: await tokenOf(cluster, "prometheus"), stranger: await tokenOf(cluster, "stranger") };
    const operator = await startInstalledOperator(cluster, folder);
    stops.push(operator.stop);
    const prometheus = await startPrometheus(
      folder,
      [scrape(MONITOR, operator.metricsPort, tokens.reader), scrape("stranger", operator.metricsPort, tokens.stranger)],
      hastened(),
    );
    stops.push(prometheus.stop);
    const fires = (what: string, names: ReadonlyArray<string>, meanwhile?: () => Promise<unknown>) =>
      firing(prometheus, what, names, meanwhile);

    await t.step("the target is up for who is bound to the metrics-reader, and for nobody else", async () => {
      const targets = await eventually("both were scraped", async () => {
        const found = await prometheus.targets();
        return found[MONITOR] === "up" && found.stranger?.includes("403") ? found : undefined;
      });
      strictEqual(targets.stranger, "server returned HTTP status 403 Forbidden");
      strictEqual((await scraped(operator.metricsPort)).status, 401);
    });

    await t.step("WithoutLeader fires while a dead replica's lease lasts", async () => {
      // The dead replica died just now: Prometheus may have started after a lease that runs already.
      const died = () => apply(cluster, [deadReplicasLease()]);
      await fires("nobody leads", ["LlamaStackOperatorWithoutLeader"], died);
      await fires("the lease has run out", []);
    });

    await t.step("nothing fires for servers that are ready, scaled to zero, or suspended before they ran", async () => {
      await apply(cluster, [
        manifest({}, "one"),
        manifest({ distribution: { name: "ogx-starter" } }, "two"),
        manifest({ workload: { replicas: 0 } }, "zero"),
        manifest({ suspend: true }, "suspended"),
      ]);
      for (const name of ["one", "two"]) await ready(cluster, name);
      await eventually("Prometheus has seen it", async () => {
        const [series] = await prometheus.query('llama_stack_operator_resources{phase="Ready"}');
        return series?.value === 3 || undefined;
      });
      await fires("all of them are well", []);
      await pause(2 * FOR_MS);
      // On a busy machine the queue grows for as long as these shortened rules wait.
      const fired = await firedSince(prometheus, 2 * FOR_MS);
      deepStrictEqual(fired.filter((name) => name !== "LlamaStackOperatorQueueGrows"), []);
      await fires("all of them are still well", []);
    });

    await t.step("ServersStalled fires for a new server without its Secret, until the Secret is there", async () => {
      await apply(cluster, [manifest(UNFIT, "unfit")]);
      await fires("a server fails", ["LlamaStackServersStalled SecretNotFound Failed"]);
      await cluster.kubectl(["create", "secret", "generic", "gone", "--from-literal=url=postgresql://u:p@db/d"]);
      await fires("its Secret is there", []);
    });

    await t.step("ServersStalled fires for a failed edit of a running server, and says why", async () => {
      const edit = { storage: { sql: { type: "postgres", connectionString: secret("absent", "url") } } };
      await apply(cluster, [manifest(edit, "one")]);
      await fires("an edit fails", ["LlamaStackServersStalled SecretNotFound Ready"]);
      await apply(cluster, [manifest({ workload: { workers: 2 } }, "one")]);
      await fires("the edit is repaired", []);
    });

    await t.step("ServersStalled fires for a failed upgrade", async () => {
      await apply(cluster, [settings({ "image-overrides": `ogx-starter: mirror.example/ogx:1.4.2-${CRASHING}` })]);
      await fires("an upgrade fails", ["LlamaStackServersStalled UpgradeFailed Failed"]);
      await cluster.kubectl(["delete", "configmap", "llama-stack-operator-config", "-n", NAMESPACE]);
      await fires("the former image is back", []);
      await apply(cluster, [settings({ "image-overrides": "ogx-starter: mirror.example/ogx:1.4.2" })]);
      await ready(cluster, "two");
    });

    await t.step("SettingsInvalid fires while an entry of the settings cannot be used", async () => {
      await apply(cluster, [settings({ upgradeParallelism: "many" })]);
      await fires("an entry is invalid", ["LlamaStackOperatorSettingsInvalid"]);
      await apply(cluster, [settings({ upgradeParallelism: "2" })]);
      await fires("it is valid", []);
    });

    await t.step("ServersNotReady fires for a server whose pods do not start", async () => {
      await apply(cluster, [manifest({ distribution: { image: `x.example/${CRASHING}:1` } }, "crashing")]);
      await fires("pods crash", ["LlamaStackServersNotReady CrashLoop"]);
      await cluster.kubectl(["delete", "llsd", "crashing", "-n", "default"]);
      await fires("the server is deleted", []);
    });

    await t.step("ServersNotReady fires for a rollout that does not end while former pods serve", async () => {
      const before = await list(cluster, "/apis/apps/v1/namespaces/default/deployments");
      const image = imageOf(before.find((value) => stringAt(value, "metadata", "name") === "one") ?? null);
      await apply(cluster, [manifest({ distribution: { image: `${image}-${CRASHING}` } }, "one")]);
      await fires("new pods crash", ["LlamaStackServersNotReady CrashLoop"]);
      strictEqual(stringAt(await read(cluster, `${RESOURCES}/one`), "status", "phase"), "Ready");
      await apply(cluster, [manifest({ workload: { workers: 2 } }, "one")]);
      await fires("the edit is taken back", []);
    });

    await t.step("ServersIncomplete fires while the API server refuses an Ingress", async () => {
      await apply(cluster, [{
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "no-ingress", namespace: "default" },
        spec: { hard: { "count/ingresses.networking.k8s.io": "0" } },
      }]);
      await apply(cluster, [manifest({ workload: { workers: 2 }, networking: { expose: {} } }, "one")]);
      await fires("the Ingress is refused", ["LlamaStackServersIncomplete"]);
      await apply(cluster, [manifest({ workload: { workers: 2 } }, "one")]);
      await fires("no Ingress is wanted", []);
    });

    await t.step("IgnoresEdits and PassesFail fire while the status cannot be written", async () => {
      const restore = await withoutRight(
        cluster,
        (rule) => listAt(rule, "resources").includes("llamastackdistributions/status"),
      );
      let workers = 2;
      const edit = () => apply(cluster, [manifest({ workload: { workers: ++workers } }, "one")]);
      await fires("edits are not observed", ["LlamaStackOperatorIgnoresEdits", "LlamaStackOperatorPassesFail"], edit);
      await restore();
      await fires("the right is back", []);
    });

    await t.step("CannotRead fires when a kind can no longer be listed", async () => {
      const restore = await withoutRight(cluster, (rule) => listAt(rule, "resources").includes("ingresses"));
      // Watches that are open stay open.
      await cluster.restartApiServer();
      await fires("Ingresses are forbidden", ["LlamaStackOperatorCannotRead"]);
      await restore();
      await fires("the right is back", []);
    });

    await t.step("every query of the dashboard had data", async () => {
      const queries = queriesOf(dashboard());
      ok(queries.length >= 9, String(queries.length));
      const empty = [];
      for (const query of queries) {
        const series = await prometheus.seriesSinceStart(query);
        if (series.length === 0 || !series.some(({ value }) => Number.isFinite(value))) empty.push(query);
      }
      deepStrictEqual(empty, []);
    });

    await t.step("docs/observability.md lists every metric", async () => {
      const { text } = await scraped(operator.metricsPort, tokens.reader);
      const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
      const page = await Deno.readTextFile(`${ROOT}docs/observability.md`);
      const listed = [...page.matchAll(/^\| `([a-z_]+)` +\| (gauge|counter|histogram) +\|/gm)]
        .map(([, name, type]) => `${name} ${type}`);
      ok(served.length >= 15, String(served.length));
      deepStrictEqual(served.filter((name) => !listed.includes(name)), []);
      // These two appear with their first event.
      const later = [
        "llama_stack_operator_database_restores_total counter",
        "llama_stack_operator_webhook_requests_total counter",
      ];
      deepStrictEqual(listed.filter((name) => !served.includes(name) && !later.includes(name)), []);
    });

    await t.step("the filters of docs/observability.md select lines of the log", async () => {
      const { gojq } = await installControlPlane(["gojq"]);
      const log = await Deno.readTextFile(operator.logFile);
      const lines = log.trimEnd().split("\n").map((line) => JSON.parse(line) as JsonObject);
      const commands = await commandsRunBy("tests/around/prometheus_test.ts");
      strictEqual(commands.length, 3);
      for (const { text } of commands) {
        const [, labels = "", flag = "", filter = ""] =
          /^kubectl logs .* -l (\S+) .* \| jq (-[cr]) '(.*)'$/.exec(text) ?? [];
        strictEqual(labels, `app.kubernetes.io/name=${NAME}`);
        const selected = (await must(gojq, [flag, filter], { stdin: log })).trimEnd().split("\n");
        ok(selected.length > 1 && selected.length < lines.length, `${text}: ${selected.length} of ${lines.length}`);
      }
    });

    await t.step("Down fires when no replica answers", async () => {
      await operator.stop();
      await fires("the operator has ended", ["LlamaStackOperatorDown"]);
    });
  } finally {
    for (const stop of stops.toReversed()) await stop();
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Prometheus evaluates the rules once a second. */
const LOOK_MS = 500;

/** Of every alert, in place of its minutes. */
const FOR_MS = 3000;

/** Each rule with seconds in place of minutes. */
const hastened = (): JsonObject => ({
  groups: listAt(prometheusRule(), "spec", "groups").filter(isObject).map((group) => ({
    ...group,
    rules: listAt(group, "rules").filter(isObject).map((rule) => ({
      ...rule,
      for: `${FOR_MS / 1000}s`,
      expr: stringAt(rule, "expr")?.replaceAll("[10m]", "[15s]").replaceAll("[15m:]", "[10s:1s]").replace(
        /> 1800$/,
        "> 3",
      ) ?? "",
    })),
  })),
});

/** What the Prometheus operator makes of the ServiceMonitor, for one replica. */
const scrape = (job: string, port: number, token: string): JsonObject => {
  const endpoint = objectAt(listAt(serviceMonitor(), "spec", "endpoints")[0] ?? null);
  return {
    job_name: job,
    scheme: endpoint.scheme ?? null,
    metrics_path: endpoint.path ?? null,
    authorization: { credentials: token },
    tls_config: { insecure_skip_verify: objectAt(endpoint, "tlsConfig").insecureSkipVerify === true },
    static_configs: [{ targets: [`127.0.0.1:${port}`], labels: { pod: "replica" } }],
  };
};

/** Waits until exactly these alerts fire; `meanwhile` is done again and again until then. */
const firing = async (
  prometheus: Prometheus,
  what: string,
  names: ReadonlyArray<string>,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> => {
  let last: ReadonlyArray<string> = [];
  await eventually(what, async () => {
    await meanwhile();
    await pause(LOOK_MS);
    last = await prometheus.firing();
    return last.join() === names.join() ? true : undefined;
  }).catch((cause) => {
    throw new Error(`${what}: ${last.join(", ") || "nothing"} fires`, { cause });
  });
};

const firedSince = async (prometheus: Prometheus, ms: number): Promise<ReadonlyArray<string>> =>
  (await prometheus.query(`count_over_time(ALERTS{alertstate="firing"}[${ms / 1000}s])`))
    .map(({ labels }) => labels.alertname ?? "");

const queriesOf = (configMap: JsonObject): ReadonlyArray<string> =>
  Object.values(objectAt(configMap, "data")).flatMap((text) =>
    listAt(JSON.parse(String(text)), "panels").flatMap((panel) =>
      listAt(panel, "targets").map((target) => stringAt(target, "expr") ?? "")
    )
  );

/** The installation without its Deployment, a reader of metrics, a stranger, and the lease of a replica that died. */
const prepare = async (cluster: ControlPlane): Promise<void> => {
  await apply(
    cluster,
    [NAMESPACE, "monitoring"].map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    })),
  );
  await install(cluster, DEFAULT);
  for (const name of ["prometheus", "stranger"]) {
    await cluster.kubectl(["create", "serviceaccount", name, "-n", "monitoring"]);
  }
  // As docs/install.md says it.
  await cluster.kubectl([
    ...["create", "clusterrolebinding", "prometheus", `--clusterrole=${NAME}-metrics-reader`],
    "--serviceaccount=monitoring:prometheus",
  ]);
  await apply(cluster, [deadReplicasLease()]);
};

const deadReplicasLease = (): JsonObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: LEASE, namespace: NAMESPACE },
  spec: {
    holderIdentity: "dead",
    leaseDurationSeconds: 30,
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  },
});

const tokenOf = async (cluster: ControlPlane, name: string): Promise<string> =>
  (await cluster.kubectl(["create", "token", name, "-n", "monitoring"])).trim();

const apply = (cluster: ControlPlane, objects: ReadonlyArray<JsonObject>) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    manifestList(objects),
  );

const settings = (data: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "llama-stack-operator-config", namespace: NAMESPACE },
  data,
});

/** Takes a rule from the operator's ClusterRole; the result gives it back. */
const withoutRight = async (
  cluster: ControlPlane,
  which: (rule: JsonObject) => boolean,
): Promise<() => Promise<unknown>> => {
  const roles = installation(DEFAULT).filter(({ kind }) => kind === "ClusterRole");
  const role = roles.find((found) =>
    stringAt(found, "metadata", "name") === NAME && listAt(found, "rules").filter(isObject).some(which)
  );
  ok(role !== undefined);
  const rules = listAt(role, "rules").filter(isObject).filter((rule) => !which(rule));
  await apply(cluster, [put(role, ["rules"], rules)]);
  return () => apply(cluster, [role]);
};
