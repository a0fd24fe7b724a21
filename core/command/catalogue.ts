/** `catalogue`: the provider types of a server according to the published packages. */
import { didYouMean } from "../data/closest.ts";
import {
  type Catalogue,
  type CatalogueField,
  endpointExpectation,
  type ProviderType,
} from "../config/servers/catalogue.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../config/servers/distributions.ts";
import { serverName, serverOf, SUPPORTED_SERVERS } from "../config/servers/families/families.ts";
import { unstartableType } from "../config/servers/families/unstartable_types.ts";
import { failed, lines, type Outcome } from "./outcome.ts";

export interface CatalogueQuery {
  /** `x.y[.z]`; undefined: that of distribution `starter`. */
  readonly serverVersion: string | undefined;
  /** Undefined: all APIs, without fields. */
  readonly api: string | undefined;
  /** A provider type, with or without `remote::`; its fields in full. */
  readonly type: string | undefined;
  readonly format: "text" | "json";
}

export const catalogueCommand = ({ serverVersion, api, type, format }: CatalogueQuery): Outcome => {
  const usual = EMBEDDED_DISTRIBUTIONS.get("starter")?.serverVersion ?? "";
  const server = serverOf(serverVersion ?? usual);
  if (server === undefined) {
    return failed(`unknown server version "${serverVersion}"; known: ${SUPPORTED_SERVERS.join(", ")}`);
  }
  const { catalogue } = server;
  const apis = Object.keys(catalogue.providers).sort();
  if (api !== undefined && !apis.includes(api)) {
    const near = didYouMean(api, apis);
    return failed(
      `${serverName(catalogue.server)} has no providers of "${api}"${
        near === "" ? `; known: ${apis.join(", ")}` : near
      }`,
    );
  }
  const rows = (api === undefined ? apis : [api]).flatMap((text) =>
    Object.entries(catalogue.providers[text] ?? {}).sort(([a], [b]) => a < b ? -1 : 1)
      .filter(([name]) => type === undefined || name === type || shortName(name) === type)
      .map(([name, found]) => ({ api: text, type: name, found }))
  );
  if (rows.length === 0) {
    const known = (api === undefined ? apis : [api]).flatMap((text) => Object.keys(catalogue.providers[text] ?? {}));
    const near = didYouMean(type ?? "", known);
    return failed(
      `${serverName(catalogue.server)} has no provider type "${type}"${
        near === "" ? "; `llama-stack-operator catalogue` without --type lists all types" : near
      }`,
    );
  }
  if (format === "json") {
    const values = rows.map(({ api: of, type: name, found }) => ({ api: of, type: name, ...found }));
    return { stdout: `${JSON.stringify(values, null, 2)}\n`, stderr: "", code: 0 };
  }
  const full = api !== undefined || type !== undefined;
  return {
    stdout: lines([
      `${serverName(catalogue.server)}`,
      ...rows.flatMap((row) => full ? described(catalogue, row) : [`${row.api}  ${row.type}`]),
    ]),
    stderr: "",
    code: 0,
  };
};

/** `remote::vllm` → `vllm`, as a resource may write it. */
const shortName = (type: string): string => type.split("::").at(-1) ?? type;

interface Row {
  readonly api: string;
  readonly type: string;
  readonly found: ProviderType;
}

const described = (catalogue: Catalogue, { api, type, found }: Row): ReadonlyArray<string> => [
  "",
  `${api}  ${type}${found.deprecated === undefined ? "" : "  (deprecated)"}`,
  ...rejection(catalogue, api, type).map((text) => `  ${text}`),
  ...addressLines(catalogue, api, type, found).map((text) => `  ${text}`),
  ...Object.entries(found.fields).map(([name, field]) => `  settings.${name}: ${fieldText(field)}`),
];

/** The server lists the type, but fails to start with it. */
export const rejection = ({ server: minor }: Catalogue, api: string, type: string): ReadonlyArray<string> => {
  const server = serverOf(minor);
  const found = server === undefined ? undefined : unstartableType(server, api, type);
  return found === undefined ? [] : [`refused: ${found.reason}; ${found.instead}`];
};

/** The fields of the provider's config to which endpoint and apiKey are written. */
const addressLines = (catalogue: Catalogue, api: string, type: string, found: ProviderType): ReadonlyArray<string> => {
  const path = endpointExpectation(catalogue, api, type)?.path;
  return [
    ...(found.endpoint === undefined ? [] : [
      `endpoint → ${found.endpoint}${
        path === undefined || path === "" ? "" : `; ${path} is added if the endpoint has no path`
      }`,
    ]),
    ...(found.key === undefined ? [] : [`apiKey → ${found.key}`]),
    ...(found.requires === undefined || found.requires.length === 0 ? [] : [`needs ${found.requires.join(", ")}`]),
  ];
};

const fieldText = (field: CatalogueField): string =>
  [
    `${field.type}${field.required === true ? ", required" : ""}`,
    ...(field.default === undefined || field.default === null ? [] : [`default ${short(field.default)}`]),
    ...(field.enum === undefined ? [] : [`one of ${field.enum.map(String).join(" | ")}`]),
    ...(field.description === undefined ? [] : [field.description.replaceAll(/\s+/g, " ")]),
  ].join("; ");

const short = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
};
