import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { RESTRICTIONS, TYPOS } from "../../tests/restrictive_settings.ts";
import { OPERATOR } from "../../tests/snapshots.ts";
import { operatorWith } from "../snapshot/operator.ts";
import { readSettings, SETTING_ROWS, SETTINGS_DEFAULT, type ValidTexts } from "./settings.ts";

const NAMES = ["starter", "ogx-starter"];
const read = (data: Record<string, string> | undefined, last: ValidTexts = {}) => readSettings(data, last, NAMES);

Deno.test("every setting, and every part of one, has a row", () => {
  const parts = (["allow", "registries"] as const).flatMap((field) =>
    Object.keys(SETTINGS_DEFAULT[field]).map((part) => `${field}.${part}`)
  );
  const whole = Object.keys(SETTINGS_DEFAULT).filter((field) => !parts.some((part) => part.startsWith(`${field}.`)));
  const rows = SETTING_ROWS.map(({ field, part }) => part === undefined ? field : `${field}.${part}`);
  deepStrictEqual([...new Set(rows)].toSorted(), [...whole, ...parts].toSorted());
});

Deno.test("readSettings() reads each key, and uses defaults without a ConfigMap", () => {
  const { settings, complaints, valid } = read({
    "image-overrides": "starter: mirror.example/ls/distribution-starter:0.7.3\nogx-starter: m.example:5000/o@sha256:" +
      "a".repeat(64),
    featureFlags: "enableNetworkPolicy:\n  enabled: true\n",
    "ingress.namespaceLabels": "kubernetes.io/metadata.name: traefik",
    "gateway.parentRefs": "[{name: public, namespace: gateways}]",
    "monitoring.namespaceLabels": "kubernetes.io/metadata.name: monitoring",
    rolloutOnUpgrade: "Paced\n",
    upgradeParallelism: "2",
    "admission.references": "Reject",
    namespaceCaBundle: "Ignore",
    defaultInstance: "namespace: team\nname: llama\nspec: {distribution: {name: starter}}",
    "allow.privileged": "true",
    "allow.volumes": "[configMap, secret]",
    imageLabels: "Always",
    "registries.plainHttp": "[registry.local:5000]",
    "registries.mirrors": "quay.io/team: [mirror.example.com/team, 'other.example.com:5000']",
  });
  deepStrictEqual(complaints, []);
  deepStrictEqual([...settings.imageOverrides.keys()], NAMES);
  deepStrictEqual({ ...settings, imageOverrides: null }, {
    imageOverrides: null,
    gatewayParentRefs: [{ name: "public", namespace: "gateways" }],
    networkPolicies: true,
    ingressNamespaceLabels: { "kubernetes.io/metadata.name": "traefik" },
    monitoringNamespaceLabels: { "kubernetes.io/metadata.name": "monitoring" },
    rolloutOnUpgrade: "Paced",
    upgradeParallelism: 2,
    admissionReferences: "Reject",
    namespaceCaBundle: "Ignore",
    defaultInstance: { namespace: "team", name: "llama", spec: { distribution: { name: "starter" } } },
    allow: { ...SETTINGS_DEFAULT.allow, privileged: true, volumes: ["configMap", "secret"] },
    imageLabels: "Always",
    registries: {
      authorities: "",
      plainHttp: ["registry.local:5000"],
      internal: [],
      mirrors: new Map([["quay.io/team", ["mirror.example.com/team", "other.example.com:5000"]]]),
    },
  });
  const deleted = read(undefined, valid);
  deepStrictEqual([deleted.settings, deleted.valid], [SETTINGS_DEFAULT, {}]);
});

Deno.test("readSettings() keeps the last valid value of an invalid entry only, and names the entry", () => {
  const before = read({
    "image-overrides": "starter: a/b:1\nogx-starter: c/d:2",
    upgradeParallelism: "7",
  });
  const { settings, complaints, valid } = read({
    "image-overrides": "starter: 'not an image'\nogx-starter: c/d:3",
    upgradeParallelism: "many",
    rolloutOnUpgrade: "Paced",
  }, before.valid);
  deepStrictEqual([...settings.imageOverrides], [["starter", "a/b:1"], ["ogx-starter", "c/d:3"]]);
  deepStrictEqual([settings.upgradeParallelism, settings.rolloutOnUpgrade], [7, "Paced"]);
  strictEqual(complaints.length, 2);
  ok(
    complaints[0]?.includes('image-overrides.starter: "not an image" is not an image reference; a/b:1 still applies'),
    complaints.join(),
  );
  ok(
    complaints[1]?.endsWith('"many" is not a number from 1 to 1000; the last valid value still applies'),
    complaints.join(),
  );
  // As the next leader does, which knows the texts alone.
  const broken = read({ "image-overrides": "starter: [" }, valid);
  deepStrictEqual([...broken.settings.imageOverrides], [["starter", "a/b:1"], ["ogx-starter", "c/d:3"]]);
  deepStrictEqual(broken.valid, { "image-overrides": '{"starter":"a/b:1","ogx-starter":"c/d:3"}' });
  ok(broken.complaints[0]?.includes("invalid YAML"));
});

for (
  const [key, value, words] of [
    [
      "featureFlags",
      "enableNetworkPolicy: {enabled: sometimes}",
      "neither true nor false; servers that have a NetworkPolicy keep it",
    ],
    ["featureFlags", "enableNetworkPolicies: {enabled: true}", "did you mean enableNetworkPolicy"],
    ["featureFlags", "[]", "expected a map"],
    ["gateway.parentRefs", "name: public", "expected a list of at most 8 Gateways"],
    ["gateway.parentRefs", "[{name: public}, {name: public, sectionName: a}]", "each once"],
    ["gateway.parentRefs", "[{name: public, port: 80}]", "sectionName; the default applies, because no valid value"],
    ["rolloutOnUpgrade", "Never", "neither Held nor Paced; the default applies"],
    ["upgradeParallelism", "0", "not a number from 1 to 1000; the default applies"],
    ["imageLabels", "Sometimes", "neither Auto nor Always nor Never; the default applies"],
    ["allow.ingressHosts", "[*.apps.example.com]", "it allows nothing, because no valid value is known"],
    ["allow.privileged", "yes", "neither true nor false; the default applies"],
    ["registries.authorities", "no certificate", "expected certificates in PEM; the default applies"],
    ["registries.internal", "['a b']", "expected a list of at most"],
    ["registries.plainHttp", "https://a", "expected a list of at most"],
    ["registries.mirrors", "quay.io: mirror.example.com", "expected a map of prefixes"],
    ["image-overides", "", "did you mean image-overrides"],
    ["image-overrides", "startr: a/b:1", 'unknown distribution "startr"; did you mean starter'],
  ] as const
) {
  Deno.test(`readSettings() complains of ${key}: ${value}`, () => {
    const { complaints } = read({ [key]: value });
    ok(complaints.join().includes(words), complaints.join());
  });
}

Deno.test("readSettings() keeps what restricts over any number of invalid readings, and takes it back with the entry", () => {
  const first = read(RESTRICTIONS);
  const next = read(TYPOS, first.valid);
  const later = read(TYPOS, next.valid);
  deepStrictEqual([next.settings, later.settings], [first.settings, first.settings]);
  deepStrictEqual(later.valid, RESTRICTIONS);
  strictEqual(later.complaints.filter((line) => line.endsWith("; the last valid value still applies")).length, 3);
  deepStrictEqual(read({}, later.valid).settings, SETTINGS_DEFAULT);
});

Deno.test("readSettings() opens nothing for an invalid entry without a valid value that it knows", () => {
  for (const last of [{}, TYPOS]) {
    const { settings, valid } = read({ ...TYPOS, "allow.volumes": "secret" }, last);
    strictEqual(settings.networkPolicies, "Existing");
    const { ingressHosts, serviceAccounts, volumes, ingressAnnotations } = settings.allow;
    deepStrictEqual([ingressHosts, serviceAccounts, volumes], [[], [], []]);
    deepStrictEqual(ingressAnnotations, SETTINGS_DEFAULT.allow.ingressAnnotations);
    deepStrictEqual(valid, {});
  }
});

Deno.test("readSettings() does not take a misspelled key for a deleted entry", () => {
  const { valid, settings } = read(RESTRICTIONS);
  const misspelled = read({
    featureFlags: "enableNetworkPolicies: {enabled: true}",
    "allow.ingresHosts": RESTRICTIONS["allow.ingressHosts"],
    "allow.serviceAccounts": RESTRICTIONS["allow.serviceAccounts"],
  }, valid);
  deepStrictEqual(misspelled.settings, settings);
  deepStrictEqual(misspelled.valid, valid);
  ok(misspelled.complaints.includes("allow.ingressHosts: the entry is missing; the last valid value still applies"));
  // A flag of nobody is no misspelled one.
  strictEqual(read({ featureFlags: "telemetry: {}" }, valid).settings.networkPolicies, false);
});

Deno.test("operatorWith() passes every setting to decisions", () => {
  const settings = {
    ...SETTINGS_DEFAULT,
    networkPolicies: true,
    upgradeParallelism: 9,
    gatewayParentRefs: read({ "gateway.parentRefs": "[{name: public, namespace: infra}]" }).settings.gatewayParentRefs,
    imageOverrides: new Map([["starter", "a/b:1"]]),
  };
  const made = operatorWith(OPERATOR, settings, ["Route"]);
  deepStrictEqual([made.platform.networkPolicies, made.platform.served, made.upgradeParallelism], [true, ["Route"], 9]);
  deepStrictEqual(made.platform.gatewayParentRefs, [{ name: "public", namespace: "infra" }]);
  strictEqual(made.surroundings.overrides.settings.get("starter"), "a/b:1");
});

Deno.test("readSettings() rejects labels that no namespace can have", () => {
  for (const text of ["a: [b]", "'a b': c", "a: 5", "a: 'b c'"]) {
    const { settings, complaints } = read({ "ingress.namespaceLabels": text });
    deepStrictEqual(settings.ingressNamespaceLabels, {});
    ok(complaints[0]?.startsWith("ingress.namespaceLabels: expected at most 16 labels"), text);
  }
});

Deno.test("readSettings() names kinds of volumes that do not exist", () => {
  deepStrictEqual(read({ "allow.volumes": "[hostpath, nfs]" }).complaints, [
    'allow.volumes: "hostpath" is not a kind of volume; did you mean hostPath?',
  ]);
});
