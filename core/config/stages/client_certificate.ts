/** `networking.tls.clientSecretName`: the certificate with which the server shows to others who it is. */
import { NotSupportedByServer } from "../../failure/failures.ts";
import { type JsonObject, objectAt, put, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import {
  type Declared,
  entriesOf,
  entryOf,
  type EnvEntry,
  type Facts,
  noted,
  withConfig,
  withEntries,
} from "../draft.ts";
import { type Catalogue, providerType } from "../servers/catalogue.ts";
import { baseId } from "../servers/base.ts";
import { usesPostgres } from "../connections/postgres_connection.ts";
import type { Stage } from "../stage.ts";

/** Where the Secret is mounted. */
export const CLIENT_TLS_FOLDER = "/etc/llama-stack/client-tls";
const CERTIFICATE = `${CLIENT_TLS_FOLDER}/tls.crt`;
const KEY = `${CLIENT_TLS_FOLDER}/tls.key`;
const PATH = ["spec", "networking", "tls", "clientSecretName"];

export const presentCertificate: Stage<NotSupportedByServer> = (draft, facts) => {
  if (facts.spec.networking?.tls?.clientSecretName === undefined) return { draft, failures: [] };
  const { catalogue } = facts.server;
  if (!Object.values(catalogue.models).some(({ fields }) => Object.hasOwn(fields, "client_cert"))) {
    const [what, instead] = ["client certificates of providers", "remove it, or use Llama Stack 0.5.4 or newer"];
    const failure = new NotSupportedByServer({ path: PATH, what, server: facts.serverName, instead });
    return { draft, failures: [failure] };
  }
  const takers = draft.declared.filter((provider) => takesCertificate(provider, catalogue));
  const config = takers.reduce(present, draft.config);
  const env = ofPostgres(facts);
  return {
    draft: noted(withConfig(draft, config), {
      env,
      warnings: [
        ...without(draft.declared, takers, env, catalogue),
        ...unread(takers, env),
        ...unreadable(facts.spec.workload?.overrides?.securityContext),
      ],
    }),
    failures: [],
  };
};

const TLS = ["network", "tls"];

/** Whether the class of the type has `network.tls.client_cert`. */
const takesCertificate = ({ api, type }: Declared, catalogue: Catalogue): boolean => {
  const network = providerType(catalogue, api, type)?.fields.network?.model;
  const tls = network === undefined ? undefined : catalogue.models[network]?.fields.tls?.model;
  return tls !== undefined && Object.hasOwn(catalogue.models[tls]?.fields ?? {}, "client_cert");
};

/** What the settings of a provider say themselves stays. */
const present = (config: JsonObject, { api, id }: Declared): JsonObject => {
  const entry = entryOf(config, api, id);
  const own = objectAt(entry ?? null, "config", ...TLS);
  if (entry === undefined || Object.hasOwn(own, "client_cert")) return config;
  const tls = { ...own, client_cert: CERTIFICATE, client_key: KEY };
  const next = put(entry, ["config", ...TLS], tls);
  return withEntries(config, api, upsert(entriesOf(config, api), next, (other) => baseId(other) === id));
};

/** The drivers of PostgreSQL read them for every connection. */
const ofPostgres = ({ spec }: Facts): ReadonlyArray<EnvEntry> =>
  usesPostgres(spec)
    ? [
      { env: { name: "PGSSLCERT", value: CERTIFICATE }, path: PATH },
      { env: { name: "PGSSLKEY", value: KEY }, path: PATH },
    ]
    : [];

const PGVECTOR = "remote::pgvector";

const without = (
  declared: ReadonlyArray<Declared>,
  takers: ReadonlyArray<Declared>,
  env: ReadonlyArray<EnvEntry>,
  catalogue: Catalogue,
): ReadonlyArray<Warning> =>
  declared.filter((provider) =>
    provider.type.startsWith("remote::") && !takers.includes(provider) &&
    !(provider.type === PGVECTOR && env.length > 0) &&
    providerType(catalogue, provider.api, provider.type)?.endpoint !== undefined
  ).map(({ path, id, type }) =>
    warning("FieldNotRead", path, `"${id}" connects without the client certificate, which ${type} does not take`)
  );

/**
 * Kubernetes gives the files of a Secret to root, and to the group of `fsGroup`, which a security context of the author's own
 * may lack. Nobody else may read the key, or libpq would reject it.
 */
const unreadable = (own: unknown): ReadonlyArray<Warning> => {
  const { runAsUser, runAsGroup = 0, fsGroup, supplementalGroups = [] } = (own ?? {}) as {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly fsGroup?: number;
    readonly supplementalGroups?: ReadonlyArray<number>;
  };
  if (fsGroup !== undefined || runAsUser === 0 || [runAsGroup, ...supplementalGroups].includes(0)) return [];
  return [
    warning(
      "KeyNotReadable",
      ["spec", "workload", "overrides", "securityContext"],
      `the server cannot read the key of ${PATH.join(".")} without fsGroup, unless the cluster sets that itself; ` +
        `set fsGroup, for example to ${runAsGroup}`,
    ),
  ];
};

const unread = (takers: ReadonlyArray<Declared>, env: ReadonlyArray<EnvEntry>): ReadonlyArray<Warning> =>
  takers.length > 0 || env.length > 0 ? [] : [
    warning(
      "FieldNotRead",
      PATH,
      "no provider of the resource takes a client certificate, and no storage is in PostgreSQL",
    ),
  ];
