/** A derived resource → the blueprint of its objects. */
import type { Resource } from "../api/decode.ts";
import { foldersOf } from "../config/data_folders.ts";
import { type Derived, familyOf } from "../config/derive.ts";
import { metricsOf } from "../config/metrics.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { keyNamed } from "../config/own_config.ts";
import { KEY_DEFAULT } from "../config/own_config_key.ts";
import { isStartedByAuthor } from "../config/source.ts";
import { sha256Hex } from "../data/digest.ts";
import { objectAt, stringAt } from "../data/json.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import { onceForEach } from "../data/once_for_each.ts";
import { BASE_KEY, LABELS_ANNOTATION, recordOf } from "./labels_record.ts";
import { externalFiles } from "./external_containers.ts";
import { configMapName } from "./names.ts";
import type { Blueprint, ConfigFile, Platform } from "./blueprint.ts";
import type { ConfigContent } from "./config_map.ts";

/** What the cluster adds to a resource; offline all of it has defaults. */
export interface Place {
  readonly namespace: string;
  readonly uid: string | undefined;
  readonly platform: Platform;
  readonly podAnnotations: Readonly<Record<string, string>>;
  /** Of the certificate that the server shows, where it has been read. */
  readonly certificateNames?: ReadonlyArray<string> | undefined;
  /** Of the CA for a gateway, where it has been read. */
  readonly missingGatewayCa?: Blueprint["missingGatewayCa"];
  /** Of its CA bundle, where that has been read. */
  readonly caBundleDigest?: Blueprint["caBundleDigest"];
  /** Whether the server has metrics if the resource says nothing about them. */
  readonly isMonitored: boolean;
}

/** Without a cluster: plain Kubernetes, the namespace that `kubectl` would use. */
export const NOWHERE: Place = {
  namespace: NAMESPACE_DEFAULT,
  uid: undefined,
  platform: {
    openshift: false,
    served: [],
    operatorNamespace: "llama-stack-operator-system",
    networkPolicies: false,
  },
  podAnnotations: {},
  isMonitored: false,
};

export const blueprintOf = (resource: Resource, derived: Derived, place: Place): Blueprint => ({
  name: resource.name,
  namespace: place.namespace,
  uid: place.uid,
  spec: resource.spec,
  image: derived.distribution.image,
  family: familyOf(derived),
  configFile: configFileOf(resource, derived),
  env: derived.env,
  isMonitored: place.isMonitored,
  metrics: metricsOf(resource.spec, familyOf(derived), place.isMonitored),
  folders: foldersOf(resource.spec),
  usesSqlite: usesSqlite(derived),
  platform: place.platform,
  certificateNames: place.certificateNames,
  missingGatewayCa: place.missingGatewayCa,
  caBundleDigest: place.caBundleDigest,
  podAnnotations: place.podAnnotations,
});

/** The generated content of a resource's ConfigMap, where there is one. */
export const configContentOf = (derived: Derived): ConfigContent | undefined => {
  switch (derived._tag) {
    case "Generated":
      return generatedContent(derived);
    case "Override":
      return derived.content;
    case "DistributionDefault":
      return undefined;
  }
};

type Generated = Extract<Derived, { readonly _tag: "Generated" }>;
type Override = Extract<Derived, { readonly _tag: "Override" }>;

/** Name of the ConfigMap with the generated config. */
const generatedName = (name: string, derived: Generated): string =>
  configMapName(name, generatedContent(derived).digest);

/** With the labels that it was made from; another image with the same config has another ConfigMap, so that both can be kept. */
const generatedContent = onceForEach(({ config, distribution: { labels } }: Generated): ConfigContent => {
  const files = externalFiles(config.external);
  const data = { "config.yaml": config.yaml, ...files };
  const record = labels === undefined ? undefined : recordOf(labels, data);
  const inputs = [
    ...(config.external.length === 0 ? [] : [files]),
    ...(labels?.config === undefined ? [] : [sha256Hex(record?.base ?? ""), labels.digest]),
  ];
  return {
    data: record?.base === undefined ? data : { ...data, [BASE_KEY]: record.base },
    digest: inputs.length === 0 ? config.digest : sha256Hex(JSON.stringify([config.digest, ...inputs])),
    ...(record === undefined ? {} : { annotations: { [LABELS_ANNOTATION]: record.annotation } }),
  };
});

const configFileOf = ({ name, spec }: Resource, derived: Derived): ConfigFile | undefined => {
  switch (derived._tag) {
    case "Generated":
      return {
        configMapName: generatedName(name, derived),
        key: "config.yaml",
        others: Object.keys(externalFiles(derived.config.external)).sort(),
      };
    case "Override":
      return ownFileOf(name, spec, derived);
    case "DistributionDefault":
      return undefined;
  }
};

/** Every key is a file, since the config or a command of the author may refer to it. */
const ownFileOf = (name: string, spec: Spec, { content, key, configMapName: original }: Override): ConfigFile => {
  // If the user's ConfigMap has not been read, its copy has no name yet: use the original.
  if (content === undefined) return { configMapName: original, key, others: [] };
  const { data, binaryData, digest } = content;
  const isAlsoByName = key !== keyNamed(spec) || isStartedByAuthor(spec);
  return {
    configMapName: configMapName(name, digest),
    key,
    others: Object.keys({ ...data, ...binaryData })
      .filter((other) => other !== KEY_DEFAULT && (isAlsoByName || other !== key)).sort(),
  };
};

/**
 * Only a generated config can be inspected; the image's own config and user-provided ones are assumed to use sqlite,
 * which is the safe side.
 */
const usesSqlite = (derived: Derived): boolean =>
  derived._tag !== "Generated" ||
  Object.values(objectAt(derived.config.tree, "storage", "backends")).some((backend) =>
    /sqlite/.test(stringAt(backend, "type") ?? "")
  );
