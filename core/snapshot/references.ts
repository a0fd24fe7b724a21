/** Every Secret and ConfigMap that a resource names, each with the field that names it. */
import type { Spec } from "../api/v1alpha2.ts";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import { KEY_DEFAULT, KEY_FORMERLY } from "../config/own_config_key.ts";
import { isStartedByAuthor } from "../config/source.ts";
import { externalProviders } from "../config/external_providers.ts";
import type { Surroundings } from "../config/derive.ts";
import { mayRead } from "../config/not_allowed.ts";
import type { FieldPath } from "../data/field_path.ts";

export interface Reference {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  /** Undefined: the namespace of the resource. */
  readonly namespace: string | undefined;
  /** Undefined: all keys. */
  readonly key: string | undefined;
  /** Used where the object lacks the key. */
  readonly orKey?: string;
  readonly path: FieldPath;
  /** The pod starts without it. */
  readonly optional: boolean;
  /** The other keys are used, too: all keys of the user-provided config are mounted. */
  readonly wholeObject?: true;
  /** Not read by the pod: a change of it restarts nothing, and its absence keeps no pod from starting. */
  readonly operatorOnly?: true;
}

/** ConfigMap with the CAs of a namespace, as Open Data Hub names it. */
export const TRUSTED_BUNDLE = "odh-trusted-ca-bundle";

/** One object with all that is used of it. */
export interface ReferencedObject {
  readonly kind: Reference["kind"];
  readonly name: string;
  readonly namespace: string | undefined;
  /** Undefined: all keys. */
  readonly keys: ReadonlyArray<string> | undefined;
}

/** Each object once, in the order in which the resource names them. */
export const referencedObjects = (references: ReadonlyArray<Reference>): ReadonlyArray<ReferencedObject> => {
  const objects = new Map<string, { readonly of: Reference; readonly keys: Set<string>; all: boolean }>();
  for (const reference of references) {
    const { kind, name, namespace = "", key, wholeObject } = reference;
    const id = `${kind} ${namespace}/${name}`;
    const known = objects.get(id) ?? { of: reference, keys: new Set<string>(), all: false };
    if (key !== undefined) known.keys.add(key);
    known.all ||= key === undefined || wholeObject === true;
    objects.set(id, known);
  }
  return [...objects.values()].map(({ of: { kind, name, namespace }, keys, all }) => ({
    kind,
    name,
    namespace,
    keys: all ? undefined : [...keys],
  }));
};

/**
 * The objects that may be read for a resource of that namespace; others are rejected, and must not even be requested.
 */
export const permitted = (
  references: ReadonlyArray<Reference>,
  namespace: string | undefined,
  { allow }: Pick<Surroundings, "allow">,
): ReadonlyArray<Reference> => references.filter((reference) => mayRead(reference.namespace, namespace, allow));

export const referencesOf = (spec: Spec): ReadonlyArray<Reference> => [
  ...providerReferences(spec),
  ...externalReferences(spec),
  ...storageReferences(spec),
  ...networkReferences(spec),
  ...authReferences(spec),
  ...baseConfigReference(spec),
  ...ownConfigReference(spec),
  ...overrideReferences(spec),
  // Last: if all of it is too large to be read, what pods need has been read.
  ...gatewayReference(spec),
];

const secret = (
  ref: { readonly secretKeyRef: { readonly name: string; readonly key: string } } | undefined,
  path: FieldPath,
): ReadonlyArray<Reference> =>
  ref === undefined ? [] : [{
    kind: "Secret",
    name: ref.secretKeyRef.name,
    namespace: undefined,
    key: ref.secretKeyRef.key,
    path,
    optional: false,
  }];

const providerReferences = (spec: Spec): ReadonlyArray<Reference> =>
  PROVIDER_LISTS.flatMap(({ field }) =>
    (spec.providers?.[field] ?? []).flatMap(({ apiKey, secretRefs }, index) => {
      const path: FieldPath = ["spec", "providers", field, index];
      return [
        ...secret(apiKey, [...path, "apiKey"]),
        ...Object.entries(secretRefs ?? {}).flatMap(([name, ref]) => secret(ref, [...path, "secretRefs", name])),
      ];
    })
  );

const externalReferences = (spec: Spec): ReadonlyArray<Reference> =>
  externalProviders(spec).flatMap(({ provider: { secretRefs = {} }, path }) =>
    Object.entries(secretRefs).flatMap(([name, ref]) => secret(ref, [...path, "secretRefs", name]))
  );

const storageReferences = ({ storage }: Spec): ReadonlyArray<Reference> => [
  ...secret(storage?.kv?.password, ["spec", "storage", "kv", "password"]),
  ...secret(storage?.sql?.connectionString, ["spec", "storage", "sql", "connectionString"]),
  ...(storage?.backends ?? []).flatMap(({ secretRefs = {} }, index) =>
    Object.entries(secretRefs).flatMap(([name, ref]) =>
      secret(ref, ["spec", "storage", "backends", index, "secretRefs", name])
    )
  ),
];

const authReferences = ({ auth }: Spec): ReadonlyArray<Reference> => [
  ...secret(auth?.oidc?.jwksToken, ["spec", "auth", "oidc", "jwksToken"]),
  ...secret(auth?.introspection?.clientSecret, ["spec", "auth", "introspection", "clientSecret"]),
];

/** Key of a CA bundle where the resource names none. */
const CA_KEYS_DEFAULT = ["ca-bundle.crt"];

const networkReferences = ({ networking }: Spec): ReadonlyArray<Reference> => {
  const { tls } = networking ?? {};
  const bundle = tls?.caBundle;
  const keys = bundle?.configMapKeys === undefined || bundle.configMapKeys.length === 0
    ? CA_KEYS_DEFAULT
    : bundle.configMapKeys;
  const tlsPath: FieldPath = ["spec", "networking", "tls", "secretName"];
  const { clientSecretName } = tls ?? {};
  return [
    ...(clientSecretName === undefined ? [] : ["tls.crt", "tls.key"].map((key): Reference => ({
      kind: "Secret",
      name: clientSecretName,
      namespace: undefined,
      key,
      path: ["spec", "networking", "tls", "clientSecretName"],
      optional: false,
    }))),
    ...(tls?.enabled === true && tls.secretName !== undefined
      ? ["tls.crt", "tls.key"].map((key): Reference => ({
        kind: "Secret",
        name: tls.secretName ?? "",
        namespace: undefined,
        key,
        path: tlsPath,
        optional: false,
      }))
      : []),
    ...(tls?.enabled === true && tls.secretName !== undefined
      ? [{
        kind: "Secret" as const,
        name: tls.secretName,
        namespace: undefined,
        key: "ca.crt",
        path: tlsPath,
        optional: true,
        operatorOnly: true as const,
      }]
      : []),
    ...(bundle === undefined ? [] : keys.map((key, index): Reference => ({
      kind: "ConfigMap",
      name: bundle.configMapName,
      namespace: bundle.configMapNamespace,
      key,
      path: [
        "spec",
        "networking",
        "tls",
        "caBundle",
        ...(bundle.configMapKeys === undefined ? ["configMapName"] : ["configMapKeys", index]),
      ],
      optional: false,
    }))),
  ];
};

const gatewayReference = ({ networking: { tls, expose } = {} }: Spec): ReadonlyArray<Reference> => {
  const name = expose?.gateway?.caConfigMapName;
  return name === undefined || expose?.enabled === false || tls?.enabled !== true ? [] : [{
    kind: "ConfigMap",
    name,
    namespace: undefined,
    key: "ca.crt",
    path: ["spec", "networking", "expose", "gateway", "caConfigMapName"],
    optional: false,
    operatorOnly: true,
  }];
};

const baseConfigReference = ({ baseConfig }: Spec): ReadonlyArray<Reference> =>
  baseConfig === undefined ? [] : [{
    kind: "ConfigMap",
    name: baseConfig.configMapName,
    namespace: undefined,
    key: baseConfig.key ?? KEY_DEFAULT,
    path: ["spec", "baseConfig"],
    optional: false,
  }];

const ownConfigReference = (spec: Spec): ReadonlyArray<Reference> => {
  if (spec.overrideConfig === undefined) return [];
  const { configMapName: name, key = KEY_DEFAULT } = spec.overrideConfig;
  const isNamed = key !== KEY_DEFAULT;
  return [{
    kind: "ConfigMap",
    name,
    namespace: undefined,
    key: !isNamed && isStartedByAuthor(spec) ? undefined : key,
    ...(isNamed ? {} : { orKey: KEY_FORMERLY }),
    path: ["spec", "overrideConfig"],
    optional: false,
    wholeObject: true,
  }];
};

const overrideReferences = ({ workload }: Spec): ReadonlyArray<Reference> => {
  const base: FieldPath = ["spec", "workload", "overrides"];
  const env = (workload?.overrides?.env ?? []).flatMap(({ valueFrom }, index): ReadonlyArray<Reference> => {
    const path: FieldPath = [...base, "env", index];
    return ([["Secret", valueFrom?.secretKeyRef], ["ConfigMap", valueFrom?.configMapKeyRef]] as const).flatMap(
      ([kind, ref]) =>
        ref === undefined || ref.name === undefined
          ? []
          : [{ kind, name: ref.name, namespace: undefined, key: ref.key, path, optional: ref.optional === true }],
    );
  });
  const envFrom = (workload?.overrides?.envFrom ?? []).flatMap(
    ({ secretRef, configMapRef }, index): ReadonlyArray<Reference> => {
      const path: FieldPath = [...base, "envFrom", index];
      return ([["Secret", secretRef], ["ConfigMap", configMapRef]] as const).flatMap(([kind, ref]) =>
        ref === undefined || ref.name === undefined
          ? []
          : [{ kind, name: ref.name, namespace: undefined, key: undefined, path, optional: ref.optional === true }]
      );
    },
  );
  return [...env, ...envFrom];
};
