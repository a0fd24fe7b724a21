/** After all stages: combinations that are allowed and will hurt. */
import { objectAt, stringAt } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { entriesOf, noted } from "../draft.ts";
import { soundStage, type Stage } from "../stage.ts";

export const addCautions: Stage<never> = soundStage((draft, { spec, server: { family } }) => {
  const onFile = family.stores.backends(draft.config).filter(([, type]) => /sqlite/.test(type)).map(([name]) => name);
  const most = Math.max(spec.workload?.replicas ?? 1, spec.workload?.autoscaling?.maxReplicas ?? 1);
  const faiss = entriesOf(draft.config, "vector_io").filter((entry) =>
    stringAt(entry, "provider_type") === "inline::faiss"
  );
  const exposed = spec.networking?.expose !== undefined && spec.networking.expose.enabled !== false &&
    Object.keys(objectAt(draft.config, "server", "auth")).length === 0;
  const warnings: ReadonlyArray<Warning> = [
    ...(most > 1 && onFile.length > 0
      ? [
        warning(
          "SharedSqlite",
          ["spec", "workload", "replicas"],
          `${most} pods would each keep their own ${
            onFile.join(" and ")
          } in sqlite; use storage.sql of type postgres ` +
            `and storage.kv of type redis or postgres`,
        ),
      ]
      : []),
    ...(family.sqliteSharesKeys && faiss.length > 1 && onFile.includes("kv_default")
      ? [
        warning(
          "SharedSqlite",
          ["spec", "providers", "vectorIo"],
          "two inline::faiss providers would overwrite each other's keys in the same sqlite file on this server; use one of them, or another type of storage.kv",
        ),
      ]
      : []),
    ...(exposed
      ? [
        warning(
          "Exposed",
          ["spec", "networking", "expose"],
          "the server has no authentication: anyone who can reach the host can use its models and read stored responses",
        ),
      ]
      : []),
  ];
  return noted(draft, { warnings });
});
