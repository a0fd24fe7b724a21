/** `endpoint` → the fields that a provider type reads, with the path that it expects. */
import { UnusableEndpoint } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import {
  type EndpointExpectation,
  endpointExpectation,
  type ProviderType,
  providerType,
} from "../servers/catalogue.ts";
import type { Facts } from "../draft.ts";
import { invalidPlaceholder, PLACEHOLDER, PLACEHOLDER_FORMS, shellForm } from "../known_environment.ts";

/** The provider type that speaks to servers of the Model Context Protocol. */
export const MCP_TYPE = "remote::model-context-protocol";

const PORT_MAX = 65535;

/** Behind the port, and so behind what the placeholder stands for, no path can be hidden. */
const HOST_IN_PLACEHOLDER = /^https?:\/\/\$\{env\.[A-Z0-9_]+\}:[0-9]+(?:[/?#]|$)/i;

/** Paths that clients of the OpenAI API append themselves. */
const OF_REQUESTS = /\/(chat\/completions|completions|embeddings|models|responses)\/?$/;

export interface Address {
  readonly config: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<UnusableEndpoint>;
}

export const addressFields = (
  endpoint: string,
  type: { readonly api: string; readonly type: string },
  known: ProviderType,
  path: FieldPath,
  facts: Facts,
): Address => {
  const found = readAddress(endpoint, type, known, path, facts);
  const shell = found.failures.length > 0 ? undefined : shellForm(endpoint);
  return shell === undefined
    ? found
    : { ...found, warnings: [...found.warnings, warning("VariableUnfit", path, shell)] };
};

const readAddress = (
  endpoint: string,
  { api, type }: { readonly api: string; readonly type: string },
  known: ProviderType,
  path: FieldPath,
  facts: Facts,
): Address => {
  const name = known.endpoint;
  if (type === MCP_TYPE) return mcpAddress(endpoint, path);
  if (invalidPlaceholder(endpoint)) return unusable(path, PLACEHOLDER_FORMS);
  if (name === undefined) {
    const warnings = [
      warning("FieldNotRead", path, `${type} has no endpoint on ${facts.serverName}; the field has no effect`),
    ];
    return { config: {}, warnings, failures: [] };
  }
  if (/^\s|\s$|\p{Cc}/u.test(endpoint)) {
    return unusable(path, "the value contains white space or control characters; remove them");
  }
  if (known.endpointPort !== undefined) return hostAndPort(endpoint, name, known.endpointPort, path);
  // The server expands the environment later. A placeholder is checked only if the rest of the URL determines its place.
  const judged = endpoint.replaceAll(PLACEHOLDER, "0");
  if (judged !== endpoint && !HOST_IN_PLACEHOLDER.test(endpoint)) {
    return { config: { [name]: endpoint }, warnings: [], failures: [] };
  }
  const expectation = endpointExpectation(facts.server.catalogue, api, type);
  const unfit = expectation === undefined ? undefined : unfitFor(judged, expectation);
  if (unfit !== undefined) return unusable(path, unfit);
  const url = urlOf(judged);
  if (url === undefined) {
    const port = /^https?:\/\/[^/?#]*:([0-9]+)(?:[/?#]|$)/i.exec(judged)?.[1];
    if (port !== undefined && Number(port) > PORT_MAX) {
      return unusable(path, `invalid port "${port}"; ports range from 1 to ${PORT_MAX}`);
    }
    return known.fields[name]?.type === "url" || isOfHttp(api) || /^https?:/i.test(endpoint)
      ? unusable(path, "the value is not an http:// or https:// URL, e.g. http://host:8000")
      : { config: { [name]: endpoint }, warnings: [], failures: [] };
  }
  const expected = expectation?.path ?? "";
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
      ...(expected !== "" && OF_REQUESTS.test(url.pathname)
        ? [
          warning(
            "EndpointOfRequest",
            path,
            `${type} appends the path of each request to the endpoint, which already ends with one; ` +
              `end it with ${expected}`,
          ),
        ]
        : []),
      ...credentialWarnings(url, path),
    ],
    failures: [],
  };
};

/** In place of a variable, also where a port stands. */
const OF_VARIABLE = "0";

/** Of an MCP server. The config of its provider has no address: tools.ts adds a connector or a tool group instead. */
export const mcpAddress = (endpoint: string, path: FieldPath): Address => {
  if (invalidPlaceholder(endpoint)) return unusable(path, PLACEHOLDER_FORMS);
  const url = urlOf(endpoint.replaceAll(PLACEHOLDER, OF_VARIABLE));
  return url === undefined && !endpoint.startsWith("${env.")
    ? unusable(path, "the value is not an http:// or https:// URL, e.g. http://host:8000/mcp")
    : { config: {}, warnings: url === undefined ? [] : credentialWarnings(url, path), failures: [] };
};

/** The same for an address that is written in settings or in a variable. */
export const unfitAddress = (
  address: string,
  { api, type }: { readonly api: string; readonly type: string },
  { server: { catalogue } }: Facts,
): string | undefined => {
  const expectation = endpointExpectation(catalogue, api, type);
  return expectation === undefined || address.includes("${env.") ? undefined : unfitFor(address, expectation);
};

/** What the client of the provider rejects or misreads, although the schema of the config accepts any text. */
const unfitFor = (
  endpoint: string,
  { schemes, mayBeFile, isPathless, needsPort, isCloud }: EndpointExpectation,
): string | undefined => {
  if (isCloud === true) return CLOUD_OR_LOCAL.test(endpoint) ? undefined : NEITHER_CLOUD_NOR_LOCAL;
  if (schemes === undefined || mayBeFile === true && endpoint.endsWith(".db")) return undefined;
  const [, scheme = "", authority = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(endpoint) ?? [];
  if (scheme.toLowerCase() === "https" && schemes.join() === "http") {
    return "this server connects without TLS, whatever the scheme; use http:// inside the cluster, or a proxy that adds TLS";
  }
  if (!schemes.includes(scheme.toLowerCase()) || authority === "" && scheme.toLowerCase() !== "unix") {
    return `the value is not a URL that begins with ${schemes.map((item) => `${item}://`).join(" or ")}`;
  }
  if (isPathless === true && !/^\/?$/.test(rest)) return "the URL must not have a path; end it after the port";
  if (needsPort === true && scheme.toLowerCase() === "http" && !/:[0-9]+$/.test(authority)) {
    return authority.includes(",")
      ? "the value lists several addresses, and this client takes one"
      : "the URL must have a port, as in http://HOST:PORT";
  }
  return undefined;
};

const CLOUD_OR_LOCAL =
  /^(?:localhost:[0-9]{1,5}|(?:https:\/\/)?(?![^/]*localhost)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\/?)$/;
const NEITHER_CLOUD_NOR_LOCAL =
  "this server takes every address but localhost for the cloud of the vendor, over HTTPS and without a port; use " +
  "https://CLUSTER of that cloud, localhost:8080 of a container in the same pod, or another provider type";

/**
 * Clients of all APIs but that of vector databases call an address over HTTP. Where the server takes it as any text, it starts with
 * one that is no URL, unless it asks for a registered model, and then every request fails.
 */
const isOfHttp = (api: string): boolean => api !== "vector_io";

/** For `endpoint` the path is added; settings and variables are read by the server alone. */
export const incompleteAddress = (
  address: string,
  { api, type }: { readonly api: string; readonly type: string },
  { server: { catalogue } }: Pick<Facts, "server">,
): string | undefined => {
  const { endpoint = "", fields = {} } = providerType(catalogue, api, type) ?? {};
  if (isOfHttp(api) && fields[endpoint]?.type === "string" && !/^(?:https?:|$)|[$][{]env[.]/i.test(address)) {
    return `${type} sends its requests to this URL; begin it with http:// or https://`;
  }
  const expected = endpointExpectation(catalogue, api, type)?.path ?? "";
  return expected === "" || !/^https?:\/\/[^/]+\/?$/i.test(address)
    ? undefined
    : `${type} sends its requests below this URL; add the path ${expected}`;
};

/** Whether an address, a URL or a host, is that of the pod which reads it. */
export const isOfPod = (address: string): boolean =>
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?(?:localhost|127(?:\.[0-9]+){3}|0\.0\.0\.0|\[?::1\]?)(?:[:/?#]|$)/i
    .test(address);

/** A value in the place of an address may be a key or contain a password, so messages do not quote it. */
const unusable = (path: FieldPath, detail: string): Address => ({
  config: {},
  warnings: [],
  failures: [new UnusableEndpoint({ path, detail })],
});

/** True for a complete URL; a URL with a placeholder of the kubelet or the server cannot be checked. */
export const isHttpUrl = (text: string): boolean => text.includes("$") || !/\s/.test(text) && urlOf(text) !== undefined;

const urlOf = (text: string): URL | undefined => {
  // A third slash means an empty host, but the parser would take the next part of the path for the host.
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.hostname === "" ? undefined : url;
};

const credentialWarnings = (url: URL, path: FieldPath): ReadonlyArray<Warning> => {
  const isSecret = ([name, value]: readonly [string, string]) =>
    /^(token|access_token|api[-_]?key|password)$/i.test(name) && value !== OF_VARIABLE;
  const what = url.username !== "" || url.password !== ""
    ? "user and password"
    : [...url.searchParams].some(isSecret)
    ? "a key or token"
    : undefined;
  // MCP servers have no field for credentials.
  const way = path.includes("connectors") || path.includes("toolGroups")
    ? "let clients send them with each request"
    : "use apiKey or secretRefs";
  return what === undefined ? [] : [
    warning(
      "CredentialInEndpoint",
      path,
      `${what} would be stored in clear text in the ConfigMap and in the server's log; ${way}`,
    ),
  ];
};

/** `host`, `host:port`, `[::1]:5432` or a URL of those, for types that read host and port apart. */
const hostAndPort = (endpoint: string, hostField: string, portField: string, path: FieldPath): Address => {
  const parts = /^(\$\{env\.[^}]*\}|[^\s:/@?#[\]{}]+)(?::(\$\{env\.[^}]*\}|[0-9]{1,5}))?$/.exec(endpoint);
  if (endpoint.includes("${env.") && parts !== null) {
    const [, host = "", port] = parts;
    return {
      config: {
        [hostField]: host,
        ...(port === undefined ? {} : { [portField]: /^[0-9]+$/.test(port) ? Number(port) : port }),
      },
      warnings: [],
      failures: [],
    };
  }
  const found = /^(?:[a-z]+:\/\/)?(\[[0-9a-f:.]+\]|[^\s:/@?#[\]]+)(?::([0-9]{1,5}))?\/?$/i.exec(endpoint);
  const port = found?.[2] === undefined ? undefined : Number(found[2]);
  if (found === null || port !== undefined && (port < 1 || port > PORT_MAX)) {
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
