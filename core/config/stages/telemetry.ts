/** `providers.telemetry` on servers without a telemetry API: the environment of OpenTelemetry. */
import type { Provider } from "../../api/v1alpha2.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type EnvEntry, noted } from "../draft.ts";
import { secretEntry } from "./secrets.ts";
import { soundStage, type Stage } from "../stage.ts";

export const exportTelemetry: Stage<never> = soundStage((draft, { spec, server: { family } }) =>
  (family.telemetryProviders ? [] : spec.providers?.telemetry ?? []).map((provider, index) =>
    environment(provider, index, (spec.workload?.overrides?.env ?? []).map(({ name }) => name))
  ).reduce(noted, draft)
);

/**
 * The server's own metrics are sent to `<endpoint>/v1/metrics` as OTLP over HTTP; by default the tracer would use gRPC
 * with the same endpoint.
 */
const PROTOCOL = { name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "http/protobuf" };

const VARIABLE = /^OTEL_[A-Z0-9_]+$/;

const environment = (provider: Provider, index: number, ownNames: ReadonlyArray<string>) => {
  const path: FieldPath = ["spec", "providers", "telemetry", index];
  const settings = Object.entries(provider.settings ?? {});
  const refs = Object.entries(provider.secretRefs ?? {});
  const chosen = [...settings.map(([name]) => name), ...refs.map(([name]) => name), ...ownNames];
  const unread = (where: FieldPath): Warning =>
    warning(
      "TelemetrySetting",
      where,
      "ignored: this server configures telemetry through environment variables; use names that begin with OTEL_",
    );
  const env: ReadonlyArray<EnvEntry> = [
    ...(provider.endpoint === undefined
      ? []
      : [{ env: { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: provider.endpoint }, path: [...path, "endpoint"] }]),
    ...(provider.endpoint === undefined || chosen.includes(PROTOCOL.name)
      ? []
      : [{ env: PROTOCOL, path: [...path, "endpoint"] }]),
    ...(provider.apiKey === undefined
      ? []
      : [secretEntry("OTEL_EXPORTER_OTLP_HEADERS", provider.apiKey, [...path, "apiKey"])]),
    ...settings.filter(([name]) => VARIABLE.test(name)).map(([name, value]) => ({
      env: { name, value: typeof value === "string" ? value : JSON.stringify(value) },
      path: [...path, "settings", name],
    })),
    ...refs.filter(([name]) => VARIABLE.test(name)).map(([name, ref]) =>
      secretEntry(name, ref, [...path, "secretRefs", name])
    ),
  ];
  return {
    env,
    warnings: [
      ...settings.filter(([name]) => !VARIABLE.test(name)).map(([name]) => unread([...path, "settings", name])),
      ...refs.filter(([name]) => !VARIABLE.test(name)).map(([name]) => unread([...path, "secretRefs", name])),
    ],
  };
};
