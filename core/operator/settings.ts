/**
 * The operator's own settings: the ConfigMap `llama-stack-operator-config` of its namespace → typed values.
 *
 * It is over 300 lines because all settings can be read in one table.
 */
import { isImageReference } from "../api/image_reference.ts";
import { LABELS_MAX, PARALLELISM_MAX, PATTERNS_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { EMBEDDED_SCHEMAS } from "../api/embedded.ts";
import { didYouMean } from "../data/closest.ts";
import { shown, yamlMap } from "./setting_text.ts";
import { type DefaultInstance, readDefaultInstance } from "./default_instance.ts";
import { hasRepeatedParent } from "../api/gateway_rules.ts";
import { PARENT_REFS_MAX, ParentRef } from "../api/v1alpha2.ts";
import { labelsIn } from "../api/object_labels.ts";
import type { LabelUse } from "../image/image_labels.ts";
import { type Registries, REGISTRIES_DEFAULT, REGISTRY_ROWS } from "./registries.ts";
import { type Allowances, ALLOWANCES_DEFAULT } from "./allowances.ts";
import { isList, isObject, type Json, type JsonObject, member, objectAt, stringAt } from "../data/json.ts";
import { readYaml11 } from "../data/yaml.ts";

export const SETTINGS_CONFIG_MAP = "llama-stack-operator-config";

export interface Settings {
  /** Image by name of a distribution. */
  readonly imageOverrides: ReadonlyMap<string, string>;
  /** A NetworkPolicy for every server, not only for resources that request one. */
  readonly networkPolicies: boolean;
  /** Labels of the namespace of the ingress controller, which reaches exposed servers through their NetworkPolicy. */
  readonly ingressNamespaceLabels: Readonly<Record<string, string>>;
  /** Gateways of exposed servers that name none; empty: an Ingress or Route. */
  readonly gatewayParentRefs: ReadonlyArray<ParentRef>;
  /** Labels of the namespace of Prometheus, which reads the metrics of servers through their NetworkPolicy. */
  readonly monitoringNamespaceLabels: Readonly<Record<string, string>>;
  /** Whether a pod template changed only by a new operator version is held, or rolled out in the upgrade queue. */
  readonly rolloutOnUpgrade: "Held" | "Paced";
  /** Maximum number of concurrent upgrades, 1 – 1,000. */
  readonly upgradeParallelism: number;
  /** Whether admission warns of a missing Secret or ConfigMap, or refuses the resource. */
  readonly admissionReferences: "Warn" | "Reject";
  /** Whether servers trust the CA bundle that Open Data Hub puts into their namespace. */
  readonly namespaceCaBundle: "Use" | "Ignore";
  /** A resource that the operator creates once; undefined: none. */
  readonly defaultInstance: DefaultInstance | undefined;
  /** What authors of resources may make the operator do to nodes and network. */
  readonly allow: Allowances;
  /** Whether the base config of an image is read from its labels. */
  readonly imageLabels: LabelUse;
  /** How registries are reached. */
  readonly registries: Registries;
}

export const SETTINGS_DEFAULT: Settings = {
  imageOverrides: new Map(),
  networkPolicies: false,
  ingressNamespaceLabels: {},
  gatewayParentRefs: [],
  monitoringNamespaceLabels: {},
  rolloutOnUpgrade: "Held",
  upgradeParallelism: 5,
  admissionReferences: "Warn",
  namespaceCaBundle: "Use",
  defaultInstance: undefined,
  allow: ALLOWANCES_DEFAULT,
  imageLabels: "Auto",
  registries: REGISTRIES_DEFAULT,
};

/** One key of the ConfigMap, as the docs show it. */
export interface SettingRow {
  readonly key: string;
  readonly field: keyof Settings;
  /** Of `allow` or `registries`, the one value that it sets. */
  readonly part?: keyof Allowances | keyof Registries;
  readonly value: string;
  readonly meaning: string;
  /** `before`: the values so far, of which this row replaces its own. */
  readonly read: (text: string, before: Settings) => Reading;
}

interface Reading {
  readonly settings: Settings;
  /** The errors, each as the end of a sentence that begins with the key. */
  readonly complaints: ReadonlyArray<string>;
}

/** Every key that is read; docs/settings.md shows this table. */
export const SETTING_ROWS: ReadonlyArray<SettingRow> = [
  {
    key: "image-overrides",
    field: "imageOverrides",
    value: "YAML map, distribution name → image",
    meaning: "Images to use instead of those that the operator pins, e.g. from a mirror",
    read: (text, before) => imageOverrides(text, before),
  },
  {
    key: "featureFlags",
    field: "networkPolicies",
    value: "YAML map; `enableNetworkPolicy: {enabled: true}`",
    meaning: "A NetworkPolicy for every server, not only where a resource sets networking.allowedFrom",
    read: (text, before) => featureFlags(text, before),
  },
  {
    key: "ingress.namespaceLabels",
    field: "ingressNamespaceLabels",
    value: "YAML map of labels, e.g. `kubernetes.io/metadata.name: traefik`",
    meaning:
      "The namespace of the ingress controller or of the pods of the gateway, which may connect to exposed servers that have a NetworkPolicy",
    read: (text, before) => namespaceLabels(text, before, "ingressNamespaceLabels"),
  },
  {
    key: "gateway.parentRefs",
    field: "gatewayParentRefs",
    value: "YAML list, e.g. `[{name: public, namespace: gateways}]`; default none",
    meaning:
      "Gateways of exposed servers that name none. A server that has an Ingress or Route keeps it, until it sets networking.expose.gateway",
    read: (text, before) => parentRefs(text, before),
  },
  {
    key: "monitoring.namespaceLabels",
    field: "monitoringNamespaceLabels",
    value: "YAML map of labels, e.g. `kubernetes.io/metadata.name: monitoring`",
    meaning: "The namespace of Prometheus, which may read the metrics of servers that have a NetworkPolicy",
    read: (text, before) => namespaceLabels(text, before, "monitoringNamespaceLabels"),
  },
  {
    key: "rolloutOnUpgrade",
    field: "rolloutOnUpgrade",
    value: "`Held` (default) or `Paced`",
    meaning:
      "Whether a pod template changed only by a new version of the operator is held until the next edit, or rolled out in the upgrade queue",
    read: (text, before) => word(text, before, "rolloutOnUpgrade", ["Held", "Paced"]),
  },
  {
    key: "upgradeParallelism",
    field: "upgradeParallelism",
    value: "1 – 1000, default 5",
    meaning: "Maximum number of resources that are upgraded concurrently",
    read: (text, before) => parallelism(text, before),
  },
  {
    key: "admission.references",
    field: "admissionReferences",
    value: "`Warn` (default) or `Reject`",
    meaning: "Whether admission warns about a missing Secret or ConfigMap, or rejects the resource",
    read: (text, before) => word(text, before, "admissionReferences", ["Warn", "Reject"]),
  },
  {
    key: "namespaceCaBundle",
    field: "namespaceCaBundle",
    value: "`Use` (default) or `Ignore`",
    meaning:
      "Whether servers trust the ConfigMap odh-trusted-ca-bundle of their namespace if their resource names no CA bundle",
    read: (text, before) => word(text, before, "namespaceCaBundle", ["Use", "Ignore"]),
  },
  {
    key: "defaultInstance",
    field: "defaultInstance",
    value: "YAML map with `namespace`, `name` and `spec`; default none",
    meaning:
      "A LlamaStackDistribution that the operator creates once, when it starts or the setting is added, and never changes or deletes",
    read: (text, before) =>
      Result.match(readDefaultInstance(text), {
        onFailure: (complaint) => ({ settings: before, complaints: [complaint] }),
        onSuccess: (defaultInstance) => ({ settings: { ...before, defaultInstance }, complaints: [] }),
      }),
  },
  {
    key: "imageLabels",
    field: "imageLabels",
    value: "`Auto` (default), `Always` or `Never`",
    meaning:
      "Whether base configs are read from the labels of images: of those that the operator does not pin, of all, or of none.",
    read: (text, before) => word(text, before, "imageLabels", ["Auto", "Always", "Never"]),
  },
  ...REGISTRY_ROWS.map(({ part, value, meaning, read }): SettingRow => ({
    key: `registries.${part}`,
    field: "registries",
    part,
    value,
    meaning,
    read: (text, before) =>
      Result.match(read(text), {
        onFailure: (complaint) => ({
          settings: before,
          complaints: [`: ${complaint}; the last valid value still applies`],
        }),
        onSuccess: (found) => ({
          settings: { ...before, registries: { ...before.registries, [part]: found } },
          complaints: [],
        }),
      }),
  })),
  ...allowRows(),
];

/**
 * The settings from the ConfigMap; `data` is undefined if it does not exist, and then defaults apply. An invalid entry
 * keeps its last valid value; the other entries still apply.
 */
export const readSettings = (
  data: Readonly<Record<string, string>> | undefined,
  before: Settings,
  distributions: ReadonlyArray<string>,
): Reading => {
  const complaints = Object.keys(data ?? {}).filter((key) => !SETTING_ROWS.some((row) => row.key === key))
    .map((key) => `${key} is not a setting${didYouMean(key, SETTING_ROWS.map((row) => row.key))}`);
  let settings = SETTINGS_DEFAULT;
  for (const { key, field, part, read } of SETTING_ROWS) {
    const text = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
    if (text === undefined || text.trim() === "") continue;
    const reading = read(text, before);
    complaints.push(...reading.complaints.map((complaint) => `${key}${complaint}`));
    settings = part === undefined
      ? { ...settings, [field]: reading.settings[field] }
      : { ...settings, [field]: { ...Object(settings[field]), [part]: Object(reading.settings[field])[part] } };
  }
  const strange = [...settings.imageOverrides.keys()].filter((name) => !distributions.includes(name))
    .map((name) =>
      `image-overrides: unknown distribution "${name}"${
        didYouMean(name, distributions)
      }; resources with this name run the ` +
      "image as if they had set spec.distribution.image"
    );
  const wanted = stringAt(settings.defaultInstance?.spec ?? null, "distribution", "name");
  const unknown = wanted === undefined || distributions.includes(wanted)
    ? []
    : [`defaultInstance: unknown distribution "${wanted}"${didYouMean(wanted, distributions)}`];
  return { settings, complaints: [...complaints, ...strange, ...unknown] };
};

/** The rows of `allow.*`. A function declaration, because it is called above its definition. */
function allowRows(): ReadonlyArray<SettingRow> {
  const patterns = (part: Exclude<keyof Allowances, "privileged">, fallback: string, meaning: string): SettingRow => ({
    key: `allow.${part}`,
    field: "allow",
    part,
    value: `YAML list, default ${fallback}`,
    meaning,
    read: (text, before) => names(text, before, part),
  });
  return [
    patterns(
      "volumes",
      `\`[${ALLOWANCES_DEFAULT.volumes.join(", ")}]\``,
      "Kinds of volumes allowed in workload.overrides.volumes",
    ),
    {
      key: "allow.privileged",
      field: "allow",
      part: "privileged",
      value: "`true` or `false` (default)",
      meaning:
        "Whether workload.overrides may request what the restricted Pod Security Standard forbids: root, unconfined profiles, unsafe sysctls",
      read: (text, before) => privileged(text, before),
    },
    patterns(
      "ingressAnnotations",
      '`["*", "!*snippet*"]`',
      "Annotations that networking.expose may set; `*` matches any text, `!` excludes",
    ),
    patterns(
      "serviceAnnotations",
      '`["*"]`',
      "Annotations that networking.serviceAnnotations may set, in the same form",
    ),
    patterns(
      "ingressHosts",
      '`["*"]`',
      "Host names that networking.expose may request, e.g. `*.apps.example.com`. Annotations that can add or rewrite hosts, " +
        "such as `server-alias`, are then allowed only if one of the two settings above contains their whole name",
    ),
    patterns("serviceAccounts", '`["*"]`', "ServiceAccounts allowed in workload.overrides.serviceAccountName"),
    patterns(
      "caBundleNamespaces",
      "`[]`",
      "Further namespaces whose ConfigMaps networking.tls.caBundle may reference, e.g. for the CAs of a company",
    ),
  ];
}

/** `data` of a ConfigMap object. */
export const settingsData = (map: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(objectAt(map, "data")).map(([key, value]) => [key, String(value)]));

const imageOverrides = (text: string, before: Settings): Reading => {
  const map = yamlMap(text);
  if (typeof map === "string") return { settings: before, complaints: [map] };
  const found = new Map<string, string>();
  const complaints: Array<string> = [];
  for (const [name, image] of Object.entries(map)) {
    if (typeof image === "string" && isImageReference(image)) {
      found.set(name, image);
      continue;
    }
    const last = before.imageOverrides.get(name);
    if (last !== undefined) found.set(name, last);
    complaints.push(
      `.${name}: ${shown(image)} is not an image reference; ${
        last === undefined ? "the entry is ignored" : `${last} still applies`
      }`,
    );
  }
  return { settings: { ...before, imageOverrides: found }, complaints };
};

const featureFlags = (text: string, before: Settings): Reading => {
  const map = yamlMap(text);
  if (typeof map === "string") return { settings: before, complaints: [map] };
  const strange = Object.keys(map).filter((key) => key !== "enableNetworkPolicy")
    .map((key) => `.${key} is not a feature flag${didYouMean(key, ["enableNetworkPolicy"])}`);
  const flag = map.enableNetworkPolicy;
  if (flag !== undefined && !isObject(flag)) {
    return {
      settings: before,
      complaints: [...strange, ".enableNetworkPolicy: expected a map such as {enabled: true}"],
    };
  }
  const enabled = member(objectAt(map, "enableNetworkPolicy"), "enabled");
  if (enabled === undefined || typeof enabled === "boolean") {
    return { settings: { ...before, networkPolicies: enabled === true }, complaints: strange };
  }
  return {
    settings: before,
    complaints: [
      ...strange,
      `.enableNetworkPolicy.enabled: ${
        shown(enabled)
      } is neither true nor false; ${before.networkPolicies} still applies`,
    ],
  };
};

const namespaceLabels = (
  text: string,
  before: Settings,
  field: "ingressNamespaceLabels" | "monitoringNamespaceLabels",
): Reading => {
  const map = yamlMap(text);
  if (typeof map === "string") return { settings: before, complaints: [map] };
  const labels = labelsIn(map);
  return labels === undefined
    ? { settings: before, complaints: [`: expected at most ${LABELS_MAX} labels; the last valid value still applies`] }
    : { settings: { ...before, [field]: labels }, complaints: [] };
};

const parentRefs = (text: string, before: Settings): Reading => {
  const read = Result.flatMap(readYaml11(text), decodeParentRefs);
  const isUsable = Result.isSuccess(read) && !hasRepeatedParent(read.success as ReadonlyArray<Json>);
  return isUsable ? { settings: { ...before, gatewayParentRefs: read.success }, complaints: [] } : {
    settings: before,
    complaints: [
      `: expected a list of at most ${PARENT_REFS_MAX} Gateways, each once, with name, namespace and sectionName; the last ` +
      "valid value still applies",
    ],
  };
};

const decodeParentRefs = Schema.decodeUnknownResult(
  Schema.Array(ParentRef).check(Schema.isBetweenLength(0, PARENT_REFS_MAX)),
  { onExcessProperty: "error" },
);

const names = (text: string, before: Settings, part: Exclude<keyof Allowances, "privileged">): Reading => {
  const read = readYaml11(text);
  const list = Result.isSuccess(read) && isList(read.success) ? read.success : undefined;
  return list !== undefined && list.length <= PATTERNS_MAX && list.every((value) => typeof value === "string")
    ? {
      settings: { ...before, allow: { ...before.allow, [part]: list } },
      complaints: part === "volumes" ? unknownVolumes(list) : [],
    }
    : {
      settings: before,
      complaints: [`: expected a list of at most ${PATTERNS_MAX} names; the last valid value still applies`],
    };
};

const VOLUME_KINDS = Object.keys(EMBEDDED_SCHEMAS.Volume.properties ?? {}).filter((key) => key !== "name");

const unknownVolumes = (kinds: ReadonlyArray<string>): ReadonlyArray<string> =>
  kinds.filter((kind) => !VOLUME_KINDS.includes(kind))
    .map((kind) => `: ${shown(kind)} is not a kind of volume${didYouMean(kind, VOLUME_KINDS)}`);

const privileged = (text: string, before: Settings): Reading =>
  ["true", "false"].includes(text.trim())
    ? { settings: { ...before, allow: { ...before.allow, privileged: text.trim() === "true" } }, complaints: [] }
    : {
      settings: before,
      complaints: [`: ${shown(text.trim())} is neither true nor false; ${before.allow.privileged} still applies`],
    };

const word = (
  text: string,
  before: Settings,
  field: "rolloutOnUpgrade" | "admissionReferences" | "namespaceCaBundle" | "imageLabels",
  words: ReadonlyArray<string>,
): Reading =>
  words.includes(text.trim()) ? { settings: { ...before, [field]: text.trim() }, complaints: [] } : {
    settings: before,
    complaints: [`: ${shown(text.trim())} is neither ${words.join(" nor ")}; ${before[field]} still applies`],
  };

const parallelism = (text: string, before: Settings): Reading => {
  const count = Number(text.trim());
  return Number.isInteger(count) && count >= 1 && count <= PARALLELISM_MAX
    ? { settings: { ...before, upgradeParallelism: count }, complaints: [] }
    : {
      settings: before,
      complaints: [
        `: ${
          shown(text.trim())
        } is not a number from 1 to ${PARALLELISM_MAX}; ${before.upgradeParallelism} still applies`,
      ],
    };
};

/** The ConfigMap among the documents of a file, for the command line. */
export const isSettingsMap = (document: Json): boolean =>
  isObject(document) && stringAt(document, "kind") === "ConfigMap";
