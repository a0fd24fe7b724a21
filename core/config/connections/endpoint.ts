/** `endpoint` → the fields that a provider type reads, with the path that it expects. */
import { UnusableEndpoint } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { endpointExpectation, type ProviderType } from "../servers/catalogue.ts";
import type { Facts } from "../draft.ts";

/** The provider type that speaks to servers of the Model Context Protocol. */
export const MCP_TYPE = "remote::model-context-protocol";

export interface Address {
  readonly config: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnusableEndpoint>;
}

export const addressFields = (
  endpoint: string,
  { api, type }: { readonly api: string; readonly type: string },
  known: ProviderType,
  path: FieldPath,
  facts: Facts,
): Address => {
  const name = known.endpoint;
  // Its config has no address; tools.ts makes a connector or a tool group of it.
  if (type === MCP_TYPE) return { config: {}, warnings: [], failures: [] };
  if (name === undefined) {
    const warnings = [
      warning("FieldNotRead", path, `${type} has no endpoint on ${facts.serverName}; the field has no effect`),
    ];
    return { config: {}, warnings, failures: [] };
  }
  if (known.endpointPort !== undefined) return hostAndPort(endpoint, name, known.endpointPort, path);
  // The server expands placeholders later, so the text after one cannot be checked here.
  if (endpoint.includes("${env.")) return { config: { [name]: endpoint }, warnings: [], failures: [] };
  const url = urlOf(endpoint);
  if (url === undefined) {
    return known.fields[name]?.type === "url"
      ? unusable(path, "the value is not an http:// or https:// URL, e.g. http://host:8000")
      : { config: { [name]: endpoint }, warnings: [], failures: [] };
  }
  const expected = endpointExpectation(facts.server.catalogue, api, type)?.path ?? "";
  const bare = url.pathname === "/" || url.pathname === "";
  const completed = bare && expected !== "" && url.search === "" && url.hash === "";
  const value = completed ? `${endpoint.replace(/\/+$/, "")}${expected}` : endpoint;
  return {
    config: { [name]: value },
    warnings: [
      ...(completed
        ? [
          warning("EndpointCompleted", path, `${type} expects the path ${expected}, which is added to the endpoint`),
        ]
        : []),
      ...credentialWarnings(url, path),
    ],
    failures: [],
  };
};

/** A value in the place of an address may be a key or contain a password, so messages do not quote it. */
const unusable = (path: FieldPath, detail: string): Address => ({
  config: {},
  warnings: [],
  failures: [new UnusableEndpoint({ path, detail })],
});

const urlOf = (text: string): URL | undefined => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.hostname === "" ? undefined : url;
};

const credentialWarnings = (url: URL, path: FieldPath): ReadonlyArray<Warning> =>
  url.username === "" && url.password === "" ? [] : [
    warning(
      "CredentialInEndpoint",
      path,
      "user and password would be stored in clear text in the ConfigMap and in the server's log; use apiKey or secretRefs",
    ),
  ];

/** `host`, `host:port`, `[::1]:5432` or a URL of those, for types that read host and port apart. */
const hostAndPort = (endpoint: string, hostField: string, portField: string, path: FieldPath): Address => {
  const found = /^(?:[a-z]+:\/\/)?(\[[0-9a-f:.]+\]|[^\s:/@?#[\]]+)(?::([0-9]{1,5}))?\/?$/i.exec(endpoint);
  const port = found?.[2] === undefined ? undefined : Number(found[2]);
  if (found === null || port !== undefined && (port < 1 || port > 65535)) {
    return unusable(
      path,
      "the value is neither a host nor host:port; set database, user and password in settings and secretRefs",
    );
  }
  const host = (found[1] ?? "").replace(/^\[|\]$/g, "");
  return {
    config: { [hostField]: host, ...(port === undefined ? {} : { [portField]: port }) },
    warnings: [],
    failures: [],
  };
};
