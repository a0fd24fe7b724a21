/**
 * From the observed state to the desired objects of a resource, or everything that stands in the way.
 *
 * It is over 300 lines so that every use of a Secret's value stands in one place.
 */
import { Result } from "effect";
import { decodeResource, type Resource } from "../api/decode.ts";
import { parsePostgres, postgresSecret } from "../config/postgres_connection.ts";
import { parseRedis, redisUserInfo } from "../config/redis_address.ts";
import { KV_USERINFO } from "../config/redis_address.ts";
import { textTraps } from "../config/secret_traps.ts";
import { derive, type Derived } from "../derive.ts";
import { sha256Hex } from "../digest.ts";
import {
  ConfigMapKeyMissing,
  ConfigMapNotFound,
  OverrideConfigInvalid,
  type ReconcileFailure,
  type ReferenceFailure,
  ReferenceTooLarge,
  SecretKeyMissing,
  SecretNotFound,
  SecretValueUnusable,
  TooManyReferences,
} from "../failure.ts";
import type { FieldPath } from "../field_path.ts";
import { objectAt, put, sortedKeys, stringAt } from "../json.ts";
import { CONFIG_MAPS_BYTES_MAX, REFERENCED_OBJECTS_MAX, SECRET_VALUES_BYTES_MAX } from "../limits.ts";
import type { Warning } from "../warning.ts";
import { readYaml11 } from "../yaml.ts";
import type { Blueprint } from "../resources/blueprint.ts";
import type { ConfigContent } from "../resources/config_map.ts";
import type { ConnectionParts } from "../resources/connection_secrets.ts";
import { type Contents, type Objects, objectsOf } from "../resources/objects.ts";
import { blueprintOf, configContentOf, type Place } from "../resources/of_resource.ts";
import { bundled } from "./ca_bundle.ts";
import { keyId, secretsDigest } from "./keyed_digests.ts";
import { permitted, type Reference, referencedObjects, referencesOf } from "./references.ts";
import type { World } from "./world.ts";

export interface Prepared {
  readonly resource: Resource;
  readonly derived: Derived;
  readonly blueprint: Blueprint;
  readonly objects: Objects;
  readonly warnings: ReadonlyArray<Warning>;
  /** How many references to Secrets were found. */
  readonly secretReferences: number;
  readonly inputs: Inputs;
  /** Digest of what the operator's release decides: image and base. */
  readonly pins: string;
  /** Version of the server, where it is known. */
  readonly server: string | undefined;
}

/** Digests of what the user decides (R34). */
export interface Inputs {
  /** Spec and content of referenced ConfigMaps. */
  readonly user: string;
  /** Values of referenced Secret keys, and which key that HMAC was made with. */
  readonly secrets: string;
  readonly secretKey: string;
}

export interface Unprepared {
  readonly failures: ReadonlyArray<ReconcileFailure>;
  readonly warnings: ReadonlyArray<Warning>;
  /** The decoded resource, when it could be decoded. */
  readonly resource: Resource | undefined;
  /** What the user decides now; undefined where the resource could not be decoded. */
  readonly inputs: Inputs | undefined;
}

/** What the objects of a resource are made from; what is there already has no part in it. */
export type Sources = Pick<World, "resource" | "operator" | "secrets" | "configMaps" | "tooLarge">;

/** `decoded` is the resource of the same sources, where it was needed earlier. */
export const prepare = (
  world: Sources,
  decoded = decodeResource(world.resource, "lenient"),
): Result.Result<Prepared, Unprepared> => {
  if (Result.isFailure(decoded)) {
    return Result.fail({ failures: decoded.failure, warnings: [], resource: undefined, inputs: undefined });
  }
  const resource = decoded.success;
  const namespace = stringAt(world.resource, "metadata", "namespace") ?? "default";
  const references = permitted(referencesOf(resource.spec), namespace, world.operator.surroundings);
  const count = referencedObjects(references).length;
  if (count > REFERENCED_OBJECTS_MAX) {
    const failure = new TooManyReferences({ path: ["spec"], count, max: REFERENCED_OBJECTS_MAX });
    return Result.fail({ failures: [failure], warnings: [], resource, inputs: undefined });
  }
  const derived = derive(resource, world.operator.surroundings);
  const missing = missingReferences(references, world, namespace);
  // Which server it is decides how a connection is split; the stricter rules hold where that is unknown.
  const rawUrl = Result.isSuccess(derived) && derived.success._tag === "Generated"
    ? derived.success.server.line.rawSqlUrl
    : true;
  const found = contentsOf(resource, references, world, namespace, rawUrl);
  const oversized = oversizedReferences(references, world, namespace);
  const failures: ReadonlyArray<ReconcileFailure> = [
    ...(Result.isFailure(derived) ? derived.failure.failures : []),
    // Of these nothing was kept: what they seem to lack they may well have.
    ...(oversized.length > 0 ? oversized : missing),
    ...found.failures,
    ...(Result.isSuccess(derived) ? connectionFailures(found.connections) : []),
  ];
  if (Result.isFailure(derived) || failures.length > 0) {
    const warnings = Result.isFailure(derived) ? derived.failure.warnings : [];
    return Result.fail({ failures, warnings, resource, inputs: inputsOf(resource, found, world) });
  }
  const place: Place = {
    namespace,
    uid: stringAt(world.resource, "metadata", "uid"),
    platform: world.operator.platform,
    ownConfig: found.ownConfig,
    podAnnotations: podAnnotations(resource, found, world),
  };
  const blueprint = blueprintOf(resource, derived.success, place);
  const contents: Contents = {
    config: configContentOf(derived.success, place),
    connections: partsOf(found.connections),
    caBundlePem: found.caBundlePem,
  };
  return Result.succeed({
    resource,
    derived: derived.success,
    blueprint,
    objects: objectsOf(blueprint, contents),
    warnings: derived.success._tag === "Generated" ? derived.success.config.warnings : [],
    secretReferences: references.filter(({ kind, operatorOnly }) => kind === "Secret" && operatorOnly !== true).length,
    inputs: inputsOf(resource, found, world),
    pins: pinsOf(derived.success),
    server: derived.success._tag === "Generated"
      ? derived.success.server.version
      : derived.success.distribution.server?.version,
  });
};

/** Annotation of the pod template: HMAC over the referenced Secret values; a change of it restarts the pods. */
export const SECRETS_ANNOTATION = "llamastack.io/secrets-digest";
/** Annotation of the pod template: digest of the CA bundle. */
export const CA_ANNOTATION = "llamastack.io/ca-bundle-digest";

interface Found {
  readonly ownConfig: ConfigContent | undefined;
  readonly caBundlePem: string | undefined;
  readonly connections: Connections;
  /** `path → value` of every referenced Secret key that is there; never leaves this file but as an HMAC. */
  readonly secretValues: ReadonlyArray<readonly [string, string]>;
  readonly configMapDigest: string;
  readonly failures: ReadonlyArray<ReconcileFailure>;
}

interface Connections {
  readonly sql: Result.Result<Readonly<Record<string, string>> | undefined, SecretValueUnusable>;
  readonly kv: Readonly<Record<string, string>> | undefined;
}

const missingReferences = (
  references: ReadonlyArray<Reference>,
  world: Sources,
  ownNamespace: string,
): ReadonlyArray<ReferenceFailure> =>
  references.filter(({ optional }) => !optional).flatMap((reference): ReadonlyArray<ReferenceFailure> => {
    const { kind, name, namespace = ownNamespace, key, path } = reference;
    if (kind === "Secret") {
      const secret = world.secrets.get(name);
      if (secret === undefined) return [new SecretNotFound({ path, name, namespace })];
      return key === undefined || Object.hasOwn(secret, key)
        ? []
        : [new SecretKeyMissing({ path, name, namespace, key })];
    }
    const map = world.configMaps.get(`${namespace}/${name}`);
    if (map === undefined) return [new ConfigMapNotFound({ path, name, namespace })];
    return key === undefined || Object.hasOwn(map.data, key) || Object.hasOwn(map.binaryData, key)
      ? []
      : [new ConfigMapKeyMissing({ path, name, namespace, key })];
  });

const oversizedReferences = (
  references: ReadonlyArray<Reference>,
  world: Sources,
  ownNamespace: string,
): ReadonlyArray<ReferenceTooLarge> =>
  world.tooLarge.flatMap(({ kind, name }) => {
    const first = references.find((one) => one.kind === kind && one.name === name);
    if (first === undefined) return [];
    const { path, namespace = ownNamespace } = first;
    const bytesMax = kind === "Secret" ? SECRET_VALUES_BYTES_MAX : CONFIG_MAPS_BYTES_MAX;
    return [new ReferenceTooLarge({ path, kind, name, namespace, bytesMax })];
  });

const contentsOf = (
  resource: Resource,
  references: ReadonlyArray<Reference>,
  world: Sources,
  namespace: string,
  rawUrl: boolean,
): Found => {
  const used = references.filter(({ kind, operatorOnly }) => kind === "Secret" && operatorOnly !== true);
  const values = used.flatMap(({ name, key }) => {
    const secret = world.secrets.get(name) ?? {};
    const keys = key === undefined ? Object.keys(secret).sort() : Object.hasOwn(secret, key) ? [key] : [];
    return keys.map((one): readonly [string, string] => [`${name}/${one}`, secret[one] ?? ""]);
  });
  const own = ownConfigOf(resource, world, namespace);
  const bundle = bundled(references.filter(({ path }) => path.includes("caBundle")), world.configMaps, namespace);
  const maps = referencedObjects(references).filter(({ kind }) => kind === "ConfigMap")
    .map(({ name, namespace: other = namespace }) => JSON.stringify(world.configMaps.get(`${other}/${name}`) ?? null));
  return {
    ownConfig: Result.isSuccess(own) ? own.success : undefined,
    caBundlePem: Result.isSuccess(bundle) ? bundle.success : undefined,
    connections: { sql: sqlParts(resource, world, rawUrl), kv: kvParts(resource, world) },
    secretValues: values,
    configMapDigest: sha256Hex(maps.join("\n")),
    failures: [
      ...(Result.isFailure(own) ? [own.failure] : []),
      ...(Result.isFailure(bundle) ? [bundle.failure] : []),
      ...trappedKeys(resource, world),
    ],
  };
};

/** All keys of the author's ConfigMap are copied (R36); the one that is the config must be a YAML map. */
const ownConfigOf = (
  { spec }: Resource,
  world: Sources,
  namespace: string,
): Result.Result<ConfigContent | undefined, OverrideConfigInvalid> => {
  const { configMapName: name = "", key = "config.yaml" } = spec.overrideConfig ?? {};
  const map = world.configMaps.get(`${namespace}/${name}`);
  if (spec.overrideConfig === undefined || map === undefined) return Result.succeed(undefined);
  const text = Object.hasOwn(map.data, key) ? map.data[key] : undefined;
  if (text !== undefined) {
    const refuse = (detail: string) =>
      Result.fail(new OverrideConfigInvalid({ path: ["spec", "overrideConfig"], key: `${name}/${key}`, detail }));
    const read = readYaml11(text);
    if (Result.isFailure(read)) return refuse(read.failure.detail);
    if (typeof read.success !== "object" || read.success === null) return refuse("its top level is no map");
  }
  const digest = sha256Hex(JSON.stringify([Object.entries(map.data).sort(), Object.entries(map.binaryData).sort()]));
  return Result.succeed({ data: map.data, binaryData: map.binaryData, digest });
};

/** A provider key that the server would not take as text stops the start; the reason is told before (never the value). */
const trappedKeys = ({ spec }: Resource, world: Sources): ReadonlyArray<SecretValueUnusable> =>
  referencesOf(spec).filter(({ path }) => path[1] === "providers" && path[2] !== "telemetry").flatMap(
    ({ name, key, path }) => {
      const secret = world.secrets.get(name);
      if (secret === undefined || key === undefined || !Object.hasOwn(secret, key)) return [];
      return textTraps(secret[key] ?? "").slice(0, 1)
        .map((detail) => new SecretValueUnusable({ path, key: `${name}/${key}`, detail: `it ${detail}` }));
    },
  );

const valueOf = (
  world: Sources,
  ref: { readonly secretKeyRef: { readonly name: string; readonly key: string } } | undefined,
): string | undefined => {
  if (ref === undefined) return undefined;
  const { name, key } = ref.secretKeyRef;
  const secret = world.secrets.get(name);
  return secret !== undefined && Object.hasOwn(secret, key) ? secret[key] : undefined;
};

const sqlParts = ({ spec }: Resource, world: Sources, rawUrl: boolean): Connections["sql"] => {
  const ref = spec.storage?.sql?.connectionString;
  const text = valueOf(world, ref);
  if (ref === undefined || text === undefined) return Result.succeed(undefined);
  const path: FieldPath = ["spec", "storage", "sql", "connectionString"];
  const key = `${ref.secretKeyRef.name}/${ref.secretKeyRef.key}`;
  const kvToo = spec.storage?.kv?.type === "postgres";
  return Result.flatMap(parsePostgres(text, key, path), (parts) => postgresSecret(parts, { rawUrl, kvToo, key, path }));
};

const kvParts = ({ spec }: Resource, world: Sources): Readonly<Record<string, string>> | undefined => {
  const kv = spec.storage?.kv;
  if (kv?.type !== "redis" || kv.endpoint === undefined) return undefined;
  const parsed = parseRedis(kv.endpoint, []);
  if ("failure" in parsed) return undefined;
  const password = valueOf(world, kv.password) ?? parsed.address.password;
  return { [KV_USERINFO]: redisUserInfo(parsed.address.user, password) };
};

const connectionFailures = ({ sql }: Connections): ReadonlyArray<SecretValueUnusable> =>
  Result.isFailure(sql) ? [sql.failure] : [];

const partsOf = ({ sql, kv }: Connections): ConnectionParts => ({
  sql: Result.isSuccess(sql) ? sql.success : undefined,
  kv,
});

const secretsDigestOf = ({ secretValues }: Found, { operator, resource }: Sources): string =>
  secretsDigest(operator.hmacKey, stringAt(resource, "metadata", "namespace") ?? "", secretValues);

const podAnnotations = ({ spec }: Resource, found: Found, world: Sources): Readonly<Record<string, string>> => ({
  // `Never` leaves it out, so that pods keep the value they started with.
  ...(spec.workload?.restartPolicyOnSecretChange === "Never" || found.secretValues.length === 0
    ? {}
    : { [SECRETS_ANNOTATION]: secretsDigestOf(found, world) }),
  ...(found.caBundlePem === undefined ? {} : { [CA_ANNOTATION]: sha256Hex(found.caBundlePem) }),
});

/** `suspend` and the number of pods are no inputs of the template: a change of them restarts nothing and ends no turn. */
const inputsOf = ({ spec }: Resource, found: Found, world: Sources): Inputs => {
  const raw = put(objectAt(world.resource, "spec"), ["workload", "replicas"], undefined);
  const kept = Object.fromEntries(Object.entries(raw).filter(([key]) => key !== "suspend"));
  return {
    user: sha256Hex(JSON.stringify([sortedKeys(kept), found.configMapDigest])),
    secrets: spec.workload?.restartPolicyOnSecretChange === "Never" ? "" : secretsDigestOf(found, world),
    secretKey: keyId(world.operator.hmacKey, stringAt(world.resource, "metadata", "namespace") ?? ""),
  };
};

const pinsOf = ({ distribution }: Derived): string => {
  const content = distribution.base?.content;
  return sha256Hex(JSON.stringify([distribution.image, typeof content === "string" ? sha256Hex(content) : ""]));
};
