/** A Prometheus on loopback, and its rules and answers. */
import { join } from "node:path";
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { startInBackground, waitUntilReady } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";

export interface Prometheus {
  /** Series of an instant query, each with its value now. */
  readonly query: (expression: string) => Promise<ReadonlyArray<Series>>;
  /** Series that had a value since the start. */
  readonly seriesSinceStart: (expression: string) => Promise<ReadonlyArray<Series>>;
  /** Each alert that fires, with its labels `reason` and `phase`: `NAME`, `NAME phase` or `NAME reason phase`. */
  readonly firing: () => Promise<ReadonlyArray<string>>;
  /** By job: `up`, or the error of the last scrape. */
  readonly targets: () => Promise<Readonly<Record<string, string>>>;
  readonly stop: () => Promise<void>;
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** The last value. */
  readonly value: number;
}

export const startPrometheus = async (
  folder: string,
  scrapes: ReadonlyArray<JsonObject>,
  rules: JsonObject,
): Promise<Prometheus> => {
  const { prometheus } = await installControlPlane(["prometheus"]);
  const [port] = freePorts(1) as [number];
  await Deno.writeTextFile(join(folder, "rules.yaml"), JSON.stringify(rules));
  // JSON is YAML.
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [join(folder, "rules.yaml")],
    scrape_configs: scrapes,
  };
  await Deno.writeTextFile(join(folder, "prometheus.yaml"), JSON.stringify(config));
  const started = Date.now() / 1000;
  const process = await startInBackground({
    command: [
      prometheus,
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    env: { HOME: folder },
    logFile: join(folder, "prometheus.log"),
  });
  const ask = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<JsonObject> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}?${new URLSearchParams(parameters)}`);
    const body = await answer.json() as JsonObject;
    if (!answer.ok) throw new Error(`${path}: ${stringAt(body, "error")}`);
    return objectAt(body, "data");
  };
  const isUp = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.ok === true;
  };
  if (!await waitUntilReady(process, isUp, START_WITHIN_MS)) {
    await process.stop();
    throw new Error(`Prometheus is not ready:\n${await process.log()}`);
  }
  return {
    query: async (query) => listAt(await ask("/api/v1/query", { query }), "result").map(seriesOf),
    seriesSinceStart: async (query) =>
      listAt(
        await ask("/api/v1/query_range", { query, start: `${started}`, end: `${Date.now() / 1000}`, step: "1" }),
        "result",
      ).map(seriesOf),
    firing: async () => {
      const fired = listAt(await ask("/api/v1/alerts"), "alerts").filter((alert) =>
        stringAt(alert, "state") === "firing"
      )
        .map((alert) => {
          const { alertname, reason, phase } = labelsOf(objectAt(alert, "labels"));
          return [alertname, reason, phase].filter((word) => word !== undefined).join(" ");
        });
      return [...new Set(fired)].toSorted();
    },
    targets: async () =>
      Object.fromEntries(
        listAt(await ask("/api/v1/targets"), "activeTargets").map((target) => [
          stringAt(target, "labels", "job") ?? "",
          stringAt(target, "health") === "up" ? "up" : stringAt(target, "lastError") ?? "",
        ]),
      ),
    stop: async () => void await process.stop(),
  };
};

const START_WITHIN_MS = 120_000;

const seriesOf = (result: Json): Series => {
  const values = listAt(result, "values");
  const last = values.length === 0 ? member(objectAt(result), "value") : values.at(-1);
  return { labels: labelsOf(objectAt(result, "metric")), value: Number(Array.isArray(last) ? last[1] : undefined) };
};

const labelsOf = (value: Json): Readonly<Record<string, string>> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {};
