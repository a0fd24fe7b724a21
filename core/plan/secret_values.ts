/**
 * What the values of Secrets decide about objects: the contents of the operator's Secrets, digests, and values that a server
 * cannot read.
 */
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { secretValueIn } from "../config/draft.ts";
import {
  parsePostgres,
  type PostgresConnection,
  postgresSecret,
  verifiesServer,
} from "../config/connections/postgres_connection.ts";
import { foldersOf } from "../config/data_folders.ts";
import { CA_BUNDLE_FILE } from "../config/environment.ts";
import { mayExist } from "../config/mounted_files.ts";
import { KV_USERINFO, parseRedis, redisUserInfo } from "../config/connections/redis_address.ts";
import { variableTraps } from "../config/connections/secret_traps.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { certificateFacts, isCertificate, isVouchedFor } from "../data/digest.ts";
import { CERTIFICATE_CHAIN_MAX, CERTIFICATES_MAX } from "../data/limits.ts";
import { SecretValueUnusable } from "../failure/failures.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { certificatesIn } from "./ca_bundle.ts";
import type { FieldPath } from "../data/field_path.ts";
import { type Reference, referencesOf } from "../snapshot/references.ts";
import type { SecretValues, Sources } from "../snapshot/cluster_snapshot.ts";

/** `name/key` and value of every referenced key of a Secret that exists; they leave the operator only as an HMAC. */
export const usedValues = (
  references: ReadonlyArray<Reference>,
  { secrets }: Pick<Sources, "secrets">,
): ReadonlyArray<readonly [string, Redacted.Redacted<string>]> =>
  references.filter(({ kind, operatorOnly }) => kind === "Secret" && operatorOnly !== true)
    .flatMap(({ name, key }) => {
      const secret = secrets.get(name) ?? {};
      return Object.entries(secret).filter(([one]) => key === undefined || one === key)
        .sort(([a], [b]) => a < b ? -1 : 1)
        .map(([one, value]): readonly [string, Redacted.Redacted<string>] => [`${name}/${one}`, value]);
    });

/**
 * A provider key that would not arrive fails the start; the reason is reported in advance (never the value). Whether the value fits the
 * field that reads it, the generation of the config finds out.
 */
export const trappedKeys = (
  { spec }: Pick<Resource, "spec">,
  snapshot: Pick<Sources, "secrets">,
): ReadonlyArray<SecretValueUnusable> =>
  referencesOf(spec).filter(({ path }) => isOfConfig(path)).flatMap(
    ({ name, key, path }) => {
      const value = key === undefined ? undefined : secretValueIn(snapshot.secrets)(name, key);
      return value === undefined ? [] : variableTraps(value).slice(0, 1)
        .map((detail) => new SecretValueUnusable({ path, key: `${name}/${key}`, detail: `it ${detail}` }));
    },
  );

/** Whether a placeholder in the config stands for the value. */
const isOfConfig = ([, block, list]: FieldPath): boolean =>
  block === "providers" && list !== "telemetry" || block === "storage" && list === "backends";

/** The value that a field of the spec refers to. */
const valueOf = (
  { secrets }: Pick<Sources, "secrets">,
  ref: { readonly secretKeyRef: { readonly name: string; readonly key: string } } | undefined,
): string | undefined =>
  ref === undefined ? undefined : secretValueIn(secrets)(ref.secretKeyRef.name, ref.secretKeyRef.key);

/** Host names of the certificate that the server shows; they are public. Undefined where it has not been read. */
export const certificateNames = ({ networking }: Spec, snapshot: Sources): ReadonlyArray<string> | undefined => {
  const { enabled, secretName: name } = networking?.tls ?? {};
  if (enabled !== true || name === undefined) return undefined;
  const pem = secretValueIn(snapshot.secrets)(name, "tls.crt");
  return pem === undefined ? undefined : certificateFacts(pem)?.names;
};

/** Those that servers load when they start: its own, and the one that it presents to others. */
const certificateSecrets = (
  { networking }: Spec,
): ReadonlyArray<{ readonly path: FieldPath; readonly name: string; readonly readers: string }> => {
  const { enabled, secretName, clientSecretName } = networking?.tls ?? {};
  return [
    { field: "secretName", name: enabled === true ? secretName : undefined, readers: "clients" },
    { field: "clientSecretName", name: clientSecretName, readers: "model servers and databases" },
  ].flatMap(({ field, name, readers }) =>
    name === undefined ? [] : [{ path: ["spec", "networking", "tls", field], name, readers }]
  );
};

/** With such a certificate or key, no new pod would start. */
export const unusableCertificates = ({ spec }: Resource, snapshot: Sources): ReadonlyArray<SecretValueUnusable> =>
  certificateSecrets(spec).flatMap(({ path, name }) =>
    PAIR.flatMap(({ key, isUsable, detail }) => {
      const value = secretValueIn(snapshot.secrets)(name, key);
      return value === undefined || isUsable(value)
        ? []
        : [new SecretValueUnusable({ path, key: `${name}/${key}`, detail })];
    })
  );

const PAIR = [
  {
    key: "tls.crt",
    isUsable: (pem: string): boolean => {
      const [first] = certificatesIn(pem);
      // OpenSSL, which servers use, knows other labels.
      return first === undefined ? /-----BEGIN (X509|TRUSTED) CERTIFICATE-----/.test(pem) : isCertificate(first);
    },
    detail: "it has no certificate that can be read; write it as PEM",
  },
  {
    key: "tls.key",
    isUsable: (pem: string): boolean => /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(pem),
    detail: "it has no private key; write it as PEM",
  },
];

/** Of certificates whose time is over; everything of them that is said is public. */
export const expiredCertificates = ({ spec }: Resource, snapshot: Sources): ReadonlyArray<Warning> =>
  certificateSecrets(spec).flatMap(({ path, name, readers }) => {
    const [first = ""] = certificatesIn(secretValueIn(snapshot.secrets)(name, "tls.crt") ?? "");
    const { notAfterMs = Infinity } = certificateFacts(first) ?? {};
    return notAfterMs > snapshot.nowMs ? [] : [
      warning(
        "CertificateExpired",
        path,
        `the certificate in Secret "${name}" expired on ${
          new Date(notAfterMs).toISOString().slice(0, 10)
        }, and ${readers} that verify it reject the server; renew it`,
      ),
    ];
  });

/** Whether an authority in a PEM text vouches for the certificate that the server shows; undefined where that is not known. */
export const isServerVouchedFor = (
  { networking }: Spec,
  snapshot: Pick<Sources, "secrets">,
  authorities: string,
): boolean | undefined => {
  const name = networking?.tls?.secretName;
  const pem = name === undefined ? undefined : secretValueIn(snapshot.secrets)(name, "tls.crt");
  const [chain, trusted] = [pem ?? "", authorities].map(certificatesIn) as [Blocks, Blocks];
  return chain.length > CERTIFICATE_CHAIN_MAX || trusted.length > CERTIFICATES_MAX
    ? undefined
    : isVouchedFor(chain, trusted);
};

type Blocks = ReadonlyArray<string>;

/** The parts of the PostgreSQL connection string; undefined where the resource names none, or it is missing. */
export const sqlParts = (
  { spec }: Resource,
  snapshot: Sources,
  rawUrl: boolean,
): Result.Result<SecretValues | undefined, SecretValueUnusable> => {
  const ref = spec.storage?.sql?.connectionString;
  const text = valueOf(snapshot, ref);
  if (ref === undefined || text === undefined) return Result.succeed(undefined);
  const path: FieldPath = ["spec", "storage", "sql", "connectionString"];
  const key = `${ref.secretKeyRef.name}/${ref.secretKeyRef.key}`;
  const kvToo = spec.storage?.kv?.type === "postgres";
  return parsePostgres(text, key, path).pipe(
    Result.flatMap((parts) => trusting(parts, spec, { key, path })),
    Result.flatMap((parts) => postgresSecret(parts, { rawUrl, kvToo, key, path })),
    Result.map(redacted),
  );
};

/** Without a file, the drivers look for the authority of the database in the home folder, where published images have none. */
const trusting = (
  parts: PostgresConnection,
  spec: Spec,
  { key, path }: { readonly key: string; readonly path: FieldPath },
): Result.Result<PostgresConnection, SecretValueUnusable> => {
  const isTold = parts.sslRootCert !== undefined || hasOwnAuthority(spec);
  if (!verifiesServer(parts.sslMode) || isTold) return Result.succeed(parts);
  if (spec.networking?.tls?.caBundle !== undefined) return Result.succeed({ ...parts, sslRootCert: CA_BUNDLE_FILE });
  const detail = `with sslmode=${parts.sslMode} the server needs the authority of the database; put it into ` +
    "spec.networking.tls.caBundle, or mount it and name the file in sslrootcert";
  return Result.fail(new SecretValueUnusable({ path, key, detail }));
};

const hasOwnAuthority = ({ workload }: Spec): boolean => {
  const { env = [], envFrom = [], volumeMounts = [] } = workload?.overrides ?? {};
  return env.some(({ name }) => name === "PGSSLROOTCERT") || envFrom.length > 0 ||
    volumeMounts.some(({ mountPath }) => mountPath.includes("/.postgresql"));
};

/** A file with the authority of the database that the image alone may have. */
export const lostAuthority = ({ spec }: Resource, sql: SecretValues | undefined): ReadonlyArray<Warning> => {
  const { PGSSLROOTCERT: file }: SecretValues = sql ?? {};
  return file === undefined || hasOwnAuthority(spec) ||
      mayExist(Redacted.value(file), { spec, folders: foldersOf(spec) })
    ? []
    : [
      warning(
        "FileNotMounted",
        ["spec", "storage", "sql", "connectionString"],
        "no volume of the pod contains the file in its sslrootcert, and the server may not start without it; mount it with " +
          "spec.workload.overrides.volumes and volumeMounts, unless the image has it, or leave sslrootcert out and set " +
          "spec.networking.tls.caBundle",
      ),
    ];
};

/** The user info of Redis; undefined where the store is another one. */
export const kvParts = ({ spec }: Resource, snapshot: Sources): SecretValues | undefined => {
  const kv = spec.storage?.kv;
  if (kv?.type !== "redis" || kv.endpoint === undefined) return undefined;
  const parsed = parseRedis(kv.endpoint, []);
  if ("failure" in parsed) return undefined;
  const password = valueOf(snapshot, kv.password) ?? parsed.address.password;
  return redacted({ [KV_USERINFO]: redisUserInfo(parsed.address.user, password) });
};

/** Every value that was read for the resource, to be looked for in texts. */
export const valuesRead = ({ secrets }: Pick<Sources, "secrets">): ReadonlyArray<string> =>
  [...secrets.values()].flatMap((values) => Object.values(values).map(Redacted.value));

/** So that no log or error prints them. */
export const redacted = (values: Readonly<Record<string, string>>): SecretValues =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Redacted.make(value)]));
