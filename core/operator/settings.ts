/**
 * The operator's own settings: the ConfigMap `llama-stack-operator-config` of its namespace → typed values.
 *
 * It is over 300 lines because all settings can be read in one table.
 */
import { isImageReference } from "../data/image_reference.ts";
import { LABELS_MAX, PARALLELISM_MAX, PATTERNS_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import { EMBEDDED_SCHEMAS } from "../api/embedded.ts";
import { closest, didYouMean } from "../data/closest.ts";
import { shown, yamlMap } from "./setting_text.ts";
import { type DefaultInstance, readDefaultInstance } from "./default_instance.ts";
import { decodeParentRefs } from "../api/gateway_rules.ts";
import { PARENT_REFS_MAX, type ParentRef } from "../api/v1alpha2.ts";
import { labelsIn } from "../api/object_labels.ts";
import { type Registries, REGISTRIES_DEFAULT, REGISTRY_ROWS } from "./registries.ts";
import { type Allowances, ALLOWANCES_DEFAULT } from "./allowances.ts";
import { isList, isObject, type Json, type JsonObject, member, objectAt, stringAt } from "../data/json.ts";
import { readYaml11 } from "../data/yaml.ts";

export const SETTINGS_CONFIG_MAP = "llama-stack-operator-config";

export interface Settings {
  /** Image by name of a distribution. */
  readonly imageOverrides: ReadonlyMap<string, string>;
  /** A NetworkPolicy for every server, not only for resources that request one; `Existing`: for those that have one. */
  readonly networkPolicies: boolean | "Existing";
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
  /** Whether labels are read: for images without an embedded base and for overridden images, for every image, or for none. */
  readonly imageLabels: "Auto" | "Always" | "Never";
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
  /** Instead of the default, which would permit what the entry may forbid, if the entry is invalid and never was valid. */
  readonly closed?: { readonly settings: Settings; readonly words: string };
}

interface Reading {
  readonly settings: Settings;
  /** The errors, each as the end of a sentence that begins with the key. */
  readonly complaints: ReadonlyArray<string>;
  /** The entry has no effect. */
  readonly isRefused?: true;
  /** A text with the values that apply, where that of the entry is valid only in part. */
  readonly valid?: string;
}

/** The last valid text of each entry, by key. */
export type ValidTexts = Readonly<Record<string, string>>;

const refused = (before: Settings, ...complaints: ReadonlyArray<string>): Reading => ({
  settings: before,
  complaints,
  isRefused: true,
});

/** Every key that is read; `deno task gen` writes this table into docs/settings.md. */
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
    closed: {
      settings: { ...SETTINGS_DEFAULT, networkPolicies: "Existing" },
      words: "servers that have a NetworkPolicy keep it",
    },
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
        onFailure: (complaint) => refused(before, complaint),
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
        onFailure: (complaint) => refused(before, `: ${complaint}`),
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
 * keeps its last valid value, of `last`; the other entries still apply. `valid` is `last` for the next reading.
 */
export const readSettings = (
  data: Readonly<Record<string, string>> | undefined,
  last: ValidTexts,
  distributions: ReadonlyArray<string>,
): { readonly settings: Settings; readonly complaints: ReadonlyArray<string>; readonly valid: ValidTexts } => {
  const textIn = (texts: ValidTexts, key: string) => {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    return text === undefined || text.trim() === "" ? undefined : text;
  };
  const keys = SETTING_ROWS.map(({ key }) => key);
  const strangers = Object.keys(data ?? {}).filter((key) => !keys.includes(key));
  const complaints = strangers.map((key) => `${key} is not a setting${didYouMean(key, keys)}`);
  // An entry whose key was misspelled in an edit is not one that was deleted.
  const misspelled = strangers.flatMap((stranger) => closest(stranger, keys, 1));
  let settings = SETTINGS_DEFAULT;
  const valid: Record<string, string> = {};
  for (const { key, field, part, read, closed } of SETTING_ROWS) {
    const known = textIn(last, key);
    const text = textIn(data ?? {}, key);
    if (text === undefined && (known === undefined || !misspelled.includes(key))) continue;
    const former = known === undefined ? undefined : read(known, SETTINGS_DEFAULT);
    const before = former?.isRefused === true ? undefined : former?.settings;
    const reading = text === undefined
      ? refused(before ?? SETTINGS_DEFAULT, ": the entry is missing")
      : read(text, before ?? closed?.settings ?? SETTINGS_DEFAULT);
    const isKept = reading.isRefused === true;
    const applies = before !== undefined
      ? "the last valid value still applies"
      : `${closed?.words ?? "the default applies"}, because no valid value is known`;
    complaints.push(...reading.complaints.map((words) => `${key}${words}${isKept ? `; ${applies}` : ""}`));
    const usable = !isKept ? reading.valid ?? text : before === undefined ? undefined : known;
    if (usable !== undefined) valid[key] = usable;
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
  return { settings, complaints: [...complaints, ...strange, ...unknown], valid };
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
    closed: {
      settings: { ...SETTINGS_DEFAULT, allow: { ...ALLOWANCES_DEFAULT, [part]: [] } },
      words: "it allows nothing",
    },
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
  if (typeof map === "string") return refused(before, map);
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
  const settings = { ...before, imageOverrides: found };
  return complaints.length === 0
    ? { settings, complaints }
    : { settings, complaints, valid: JSON.stringify(Object.fromEntries(found)) };
};

const featureFlags = (text: string, before: Settings): Reading => {
  const map = yamlMap(text);
  if (typeof map === "string") return refused(before, map);
  const strange = Object.keys(map).filter((key) => key !== "enableNetworkPolicy")
    .map((key) => `.${key} is not a feature flag${didYouMean(key, ["enableNetworkPolicy"])}`);
  const flag = map.enableNetworkPolicy;
  const isMisspelled = Object.keys(map).some((key) => didYouMean(key, ["enableNetworkPolicy"]) !== "");
  if (flag === undefined && isMisspelled) return refused(before, ...strange);
  if (flag !== undefined && !isObject(flag)) {
    return refused(before, ...strange, ".enableNetworkPolicy: expected a map such as {enabled: true}");
  }
  const enabled = member(objectAt(map, "enableNetworkPolicy"), "enabled");
  return enabled === undefined || typeof enabled === "boolean"
    ? { settings: { ...before, networkPolicies: enabled === true }, complaints: strange }
    : refused(before, ...strange, `.enableNetworkPolicy.enabled: ${shown(enabled)} is neither true nor false`);
};

const namespaceLabels = (
  text: string,
  before: Settings,
  field: "ingressNamespaceLabels" | "monitoringNamespaceLabels",
): Reading => {
  const map = yamlMap(text);
  if (typeof map === "string") return refused(before, map);
  const labels = labelsIn(map);
  return labels === undefined
    ? refused(before, `: expected at most ${LABELS_MAX} labels`)
    : { settings: { ...before, [field]: labels }, complaints: [] };
};

const parentRefs = (text: string, before: Settings): Reading => {
  const read = Result.flatMap(readYaml11(text), decodeParentRefs);
  return Result.isSuccess(read)
    ? { settings: { ...before, gatewayParentRefs: read.success }, complaints: [] }
    : refused(
      before,
      `: expected a list of at most ${PARENT_REFS_MAX} Gateways, each once, with name, namespace and sectionName`,
    );
};

const names = (text: string, before: Settings, part: Exclude<keyof Allowances, "privileged">): Reading => {
  const read = readYaml11(text);
  const list = Result.isSuccess(read) && isList(read.success) ? read.success : undefined;
  return list !== undefined && list.length <= PATTERNS_MAX && list.every((value) => typeof value === "string")
    ? {
      settings: { ...before, allow: { ...before.allow, [part]: list } },
      complaints: part === "volumes" ? unknownVolumes(list) : [],
    }
    : refused(before, `: expected a list of at most ${PATTERNS_MAX} names`);
};

const VOLUME_KINDS = Object.keys(EMBEDDED_SCHEMAS.Volume.properties ?? {}).filter((key) => key !== "name");

const unknownVolumes = (kinds: ReadonlyArray<string>): ReadonlyArray<string> =>
  kinds.filter((kind) => !VOLUME_KINDS.includes(kind))
    .map((kind) => `: ${shown(kind)} is not a kind of volume${didYouMean(kind, VOLUME_KINDS)}`);

const privileged = (text: string, before: Settings): Reading =>
  ["true", "false"].includes(text.trim())
    ? { settings: { ...before, allow: { ...before.allow, privileged: text.trim() === "true" } }, complaints: [] }
    : refused(before, `: ${shown(text.trim())} is neither true nor false`);

/** The settings that are one of a few words. */
type WordField = { [Field in keyof Settings]: Settings[Field] extends string ? Field : never }[keyof Settings];

const word = <Field extends WordField>(
  text: string,
  before: Settings,
  field: Field,
  words: ReadonlyArray<Settings[Field]>,
): Reading =>
  (words as ReadonlyArray<string>).includes(text.trim())
    ? { settings: { ...before, [field]: text.trim() }, complaints: [] }
    : refused(before, `: ${shown(text.trim())} is neither ${words.join(" nor ")}`);

const parallelism = (text: string, before: Settings): Reading => {
  const count = Number(text.trim());
  return Number.isInteger(count) && count >= 1 && count <= PARALLELISM_MAX
    ? { settings: { ...before, upgradeParallelism: count }, complaints: [] }
    : refused(before, `: ${shown(text.trim())} is not a number from 1 to ${PARALLELISM_MAX}`);
};

/** The ConfigMap among the documents of a file, for the command line. */
export const isSettingsMap = (document: Json): boolean =>
  isObject(document) && stringAt(document, "kind") === "ConfigMap";
