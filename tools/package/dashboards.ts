/** Dashboards of Grafana, as ConfigMaps. */
import type { JsonObject } from "../../core/data/json.ts";
import { labelled, metadata, NAMESPACE } from "./names.ts";

export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly queries: ReadonlyArray<{ readonly expression: string; readonly legend: string }>;
}

const [PANEL_WIDTH, PANEL_HEIGHT, PANELS_A_ROW] = [12, 8, 2] as const;

/** A ConfigMap that Grafana's sidecar takes its dashboards from. Without variables, panels use the default data source. */
export const dashboardMap = (
  { name, title, panels, variables }: {
    readonly name: string;
    readonly title: string;
    readonly panels: ReadonlyArray<Panel>;
    readonly variables: ReadonlyArray<JsonObject>;
  },
): JsonObject => {
  const datasource = variables.some(({ type }) => type === "datasource") ? { datasource: DATASOURCE } : {};
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      ...metadata(`${name}-dashboard`, "metrics", NAMESPACE),
      labels: { ...labelled("metrics"), grafana_dashboard: "1" },
    },
    data: {
      [`${name}.json`]: JSON.stringify(
        {
          title,
          uid: name,
          schemaVersion: 39,
          time: { from: "now-6h", to: "now" },
          refresh: "1m",
          ...(variables.length === 0 ? {} : { templating: { list: variables } }),
          panels: panels.map(({ title, unit, queries }, index) => ({
            id: index + 1,
            type: "timeseries",
            title,
            ...datasource,
            gridPos: {
              x: index % PANELS_A_ROW * PANEL_WIDTH,
              y: Math.floor(index / PANELS_A_ROW) * PANEL_HEIGHT,
              w: PANEL_WIDTH,
              h: PANEL_HEIGHT,
            },
            fieldConfig: { defaults: { unit }, overrides: [] },
            targets: queries.map(({ expression, legend }, at) => ({
              refId: String.fromCharCode(65 + at),
              ...datasource,
              expr: expression,
              legendFormat: legend,
            })),
          })),
        },
        null,
        2,
      ),
    },
  };
};

/** The Prometheus that the reader of the dashboard chooses. */
export const DATASOURCE: JsonObject = { type: "prometheus", uid: "${datasource}" };

export const DATASOURCE_VARIABLE: JsonObject = {
  name: "datasource",
  label: "Data source",
  type: "datasource",
  query: "prometheus",
  current: {},
};
