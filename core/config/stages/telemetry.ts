/** `providers.telemetry` on servers without a telemetry API: the environment of OpenTelemetry. */
import type { Provider } from "../../api/v1alpha2.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { RuleBroken, UnknownProviderType, UnusableEndpoint } from "../../failure/failures.ts";
import { isHttpUrl } from "../connections/endpoint.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type EnvEntry, noted } from "../draft.ts";
import { mayBeSecret } from "./cautions.ts";
import { secretEntry } from "./secrets.ts";
import type { Stage } from "../stage.ts";

type TelemetryFailure = UnknownProviderType | UnusableEndpoint | RuleBroken;

export const exportTelemetry: Stage<TelemetryFailure> = (draft, { spec, server: { family }, serverName }) => {
  const providers = family.telemetryProviders ? [] : spec.providers?.telemetry ?? [];
  const ownNames = (spec.workload?.overrides?.env ?? []).map(({ name }) => name);
  return {
    // The environment has room for one.
    draft: providers.slice(0, 1).map((provider) => environment(provider, 0, ownNames)).reduce(noted, draft),
    failures: providers.flatMap((provider, index) => faultsOf(provider, index, serverName)),
  };
};

/** Names for the one thing that these servers can do: send telemetry by OTLP. */
const TYPES: ReadonlyArray<string> = ["meta-reference", "opentelemetry", "otel", "otlp"];

const faultsOf = (
  { provider, endpoint }: Provider,
  index: number,
  server: string,
): ReadonlyArray<TelemetryFailure> => {
  const path: FieldPath = ["spec", "providers", "telemetry", index];
  if (index > 0) {
    const detail = `${server} sends telemetry to one endpoint; remove all providers but one`;
    return [new RuleBroken({ path, detail })];
  }
  const known = TYPES.includes(provider.split("::").at(-1) ?? "");
  return [
    ...(known ? [] : [
      new UnknownProviderType({
        path: [...path, "provider"],
        type: provider,
        api: "telemetry",
        server,
        offered: TYPES,
      }),
    ]),
    ...(endpoint === undefined || isHttpUrl(endpoint) ? [] : [
      new UnusableEndpoint({
        path: [...path, "endpoint"],
        detail: "the value is not an http:// or https:// URL, e.g. http://collector:4318",
      }),
    ]),
  ];
};

/**
 * The server's own metrics are sent to `<endpoint>/v1/metrics` as OTLP over HTTP; by default the tracer would use gRPC
 * with the same endpoint.
 */
const PROTOCOL = { name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "http/protobuf" };

/** Of OTLP. Source: the OpenTelemetry Protocol Exporter specification. */
const GRPC_PORT = "4317";
const HTTP_PORT = "4318";

const portOf = (endpoint: string): string | undefined => /^https?:\/\/[^/?#]*:([0-9]+)(?:[/?#]|$)/i.exec(endpoint)?.[1];

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
      ...(provider.endpoint === undefined || chosen.includes(PROTOCOL.name) || portOf(provider.endpoint) !== GRPC_PORT
        ? []
        : [
          warning(
            "TelemetrySetting",
            [...path, "endpoint"],
            `use port ${HTTP_PORT}: telemetry is sent as OTLP over HTTP, and collectors expect gRPC at port ${GRPC_PORT}`,
          ),
        ]),
      ...settings.filter(([name]) => !VARIABLE.test(name)).map(([name]) => unread([...path, "settings", name])),
      ...settings.filter(([name, value]) => VARIABLE.test(name) && mayBeSecret(name, String(value))).map(([name]) =>
        warning(
          "CredentialInSettings",
          [...path, "settings", name],
          `the value is readable for everyone who may read the resource or the Deployment; use secretRefs.${name}`,
        )
      ),
      ...refs.filter(([name]) => !VARIABLE.test(name)).map(([name]) => unread([...path, "secretRefs", name])),
    ],
  };
};
