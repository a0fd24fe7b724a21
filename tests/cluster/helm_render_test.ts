/** What the Helm chart renders, without a cluster. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Result from "effect/Result";
import { relatedImageVariable } from "../../core/config/servers/distribution.ts";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { readSettings, SETTING_ROWS, SETTINGS_DEFAULT, settingsData } from "../../core/operator/settings.ts";
import { type Choices, DEFAULT } from "../../tools/package/choices.ts";
import { dashboard, prometheusRule, serviceMonitor } from "../../tools/package/extras.ts";
import { COMBINATIONS } from "../../tools/package/helm/combinations.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { strictNetworkPolicy } from "../../tools/package/network_policy.ts";
import { writeGuard } from "../../tools/package/write_guard.ts";
import { byName, CHART, expected, type Helm, helmOn, writeChart } from "./helm.ts";

const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

const withHelm = async (test: (helm: Helm, home: string) => Promise<void>): Promise<void> => {
  const home = await Deno.makeTempDir();
  try {
    await test(await helmOn(home), home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
};

const IN_NAMESPACE = ["--namespace", NAMESPACE];

Deno.test("the chart without values renders the objects of deploy/install.yaml", () =>
  withHelm(async (helm) => {
    const file = await Deno.readTextFile(new URL("../../deploy/install.yaml", import.meta.url));
    const installed = Result.getOrThrow(readManifests(file)).filter(isObject)
      .filter(({ kind }) => kind !== "Namespace");
    const rendered = (await helm.template(CHART, ...IN_NAMESPACE)).map((object) => {
      if (object.kind !== "CustomResourceDefinition") return object;
      const { annotations, ...metadata } = objectAt(object, "metadata");
      deepStrictEqual(annotations, { "helm.sh/resource-policy": "keep" });
      return { ...object, metadata };
    });
    deepStrictEqual(byName(rendered), byName(installed));
  }));

/** Every combination of what `installation()` distinguishes, with more than one watched namespace. */
const CHOICES: ReadonlyArray<Choices> = COMBINATIONS.filter(({ strict, keep }) => !strict && keep).map((
  { webhooks, certificates, secretPolling, watched },
  index,
) => ({
  ...DEFAULT,
  webhooks,
  certificates,
  secretPolling,
  // The operator's own namespace is one of them.
  watched: watched ? ["team-a", NAMESPACE, "123"] : [],
  image: index % 2 === 0 ? DEFAULT.image : `registry.example.com:5000/operator@${DIGEST}`,
  relatedImages: index % 3 === 0 ? [] : [
    { variable: "RELATED_IMAGE_OGX_STARTER", image: "registry.example.com:5000/ogx:1.4.1" },
    { variable: "RELATED_IMAGE_STARTER", image: `registry.example.com/starter@${DIGEST}` },
  ],
}));

const valuesOf = ({ image, watched, webhooks, certificates, secretPolling, relatedImages }: Choices): JsonObject => ({
  ...(image === DEFAULT.image ? {} : { image: { repository: image.split("@")[0] ?? "", digest: DIGEST } }),
  watchNamespaces: [...watched],
  webhooks: { enabled: webhooks, certificates },
  secretPolling,
  relatedImages: Object.fromEntries(
    relatedImages.map((
      { variable, image },
    ) => [variable.replace("RELATED_IMAGE_", "").toLowerCase().replace("_", "-"), image]),
  ),
});

const asFlags = (values: JsonObject): ReadonlyArray<string> =>
  Object.entries(values).flatMap(([key, value]) => ["--set-json", `${key}=${JSON.stringify(value)}`]);

Deno.test(`values render the objects that installation() returns for ${CHOICES.length} choices`, () =>
  withHelm(async (helm) => {
    for (const choices of CHOICES) {
      const values = valuesOf(choices);
      const rendered = await helm.template(CHART, ...IN_NAMESPACE, ...asFlags(values));
      deepStrictEqual(byName(rendered), expected(choices), JSON.stringify(values));
    }
  }));

Deno.test("a chart made for other choices renders them without values, in any namespace", () =>
  withHelm(async (helm, home) => {
    const choices = CHOICES.filter(({ image, watched, relatedImages }) =>
      image !== DEFAULT.image && watched.length > 0 && relatedImages.length > 0
    );
    ok(choices.length > 1);
    for (const [index, { watched, ...others }] of choices.entries()) {
      const wanted = { ...others, watched: watched.filter((name) => name !== NAMESPACE) };
      const chart = await writeChart(join(home, String(index)), wanted, OPERATOR_VERSION);
      // A namespace may look like a number.
      const rendered = await helm.template(chart, "--namespace", "4711");
      deepStrictEqual(byName(rendered), expected(wanted, "4711"));
    }
  }));

Deno.test("optional parts are those of the kustomize components", () =>
  withHelm(async (helm) => {
    const monitoring = { enabled: true, labels: { release: "prometheus" } };
    const rendered = byName(
      await helm.template(
        CHART,
        ...IN_NAMESPACE,
        ...asFlags({
          networkPolicy: { strict: true },
          writeGuard: { enabled: true },
          monitoring: { serviceMonitor: monitoring, prometheusRule: monitoring, dashboard: monitoring },
        }),
      ),
    );
    const labelled = [serviceMonitor(), prometheusRule(), dashboard()].map((object) => ({
      ...object,
      metadata: {
        ...objectAt(object, "metadata"),
        labels: { ...objectAt(object, "metadata", "labels"), release: "prometheus" },
      },
    }));
    const added = byName([strictNetworkPolicy(), ...labelled, ...writeGuard()]);
    deepStrictEqual(rendered, JSON.parse(JSON.stringify(sorted({ ...expected(DEFAULT), ...added }))));
    const without = await helm.template(
      CHART,
      ...asFlags({ networkPolicy: { enabled: false }, crds: { enabled: false } }),
    );
    strictEqual(without.length, Object.keys(expected(DEFAULT)).length - 2);
    const deletable = byName(await helm.template(CHART, ...IN_NAMESPACE, "--set", "crds.keep=false"));
    const definition = `CustomResourceDefinition  ${CRD_NAME}`;
    deepStrictEqual(deletable, {
      ...expected(DEFAULT),
      [definition]: put(objectAt(expected(DEFAULT), definition), ["metadata", "annotations"], undefined),
    });
  }));

const sorted = (objects: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(objects).toSorted(([one], [other]) => one < other ? -1 : 1));

Deno.test("values of the pods are in the template of the Deployment, and only there", () =>
  withHelm(async (helm) => {
    const pods = {
      imagePullSecrets: [{ name: "registry" }],
      nodeSelector: { "kubernetes.io/arch": "amd64", numeric: "1" },
      tolerations: [{ key: "dedicated", operator: "Equal", value: "true", effect: "NoSchedule" }],
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      priorityClassName: "1000",
    };
    const values = {
      ...pods,
      replicas: 3,
      resources: { limits: { cpu: 1, memory: "1Gi" } },
      extraArgs: ["--metrics-plain", "--webhook-name=a,b: c"],
      podLabels: { team: "yes" },
      podAnnotations: { "example.com/text": "{{ no template }}\n- second line: #" },
      image: { pullPolicy: "Always", tag: "1.0" },
    };
    const rendered = byName(await helm.template(CHART, ...IN_NAMESPACE, ...asFlags(values)));
    const key = `Deployment ${NAMESPACE} ${NAME}`;
    const { [key]: deployment, ...others } = rendered;
    const { [key]: _default, ...unchanged } = expected(DEFAULT);
    deepStrictEqual(others, unchanged);
    const template = objectAt(deployment, "spec", "template");
    const { containers, ...spec } = objectAt(template, "spec");
    deepStrictEqual(Object.fromEntries(Object.entries(spec).filter(([name]) => name in pods)), pods);
    const container = (containers as ReadonlyArray<JsonObject>)[0];
    deepStrictEqual(
      [container?.image, container?.imagePullPolicy, container?.resources],
      [DEFAULT.image.replace(/:.*/, ":1.0"), "Always", {
        requests: { cpu: "50m", memory: "128Mi" },
        ...values.resources,
      }],
    );
    deepStrictEqual(container?.args, ["run", "--webhook-address=:9443", ...values.extraArgs]);
    strictEqual(objectAt(deployment, "spec").replicas, 3);
    strictEqual(objectAt(template, "metadata", "labels").team, "yes");
    deepStrictEqual(objectAt(template, "metadata", "annotations"), {
      "kubectl.kubernetes.io/default-container": "operator",
      ...values.podAnnotations,
    });
  }));

Deno.test("settings become the ConfigMap that the operator reads, without complaints", () =>
  withHelm(async (helm) => {
    const settings = {
      "image-overrides": { starter: "mirror.example.com/starter:0.7.1" },
      featureFlags: { enableNetworkPolicy: { enabled: true } },
      "ingress.namespaceLabels": "kubernetes.io/metadata.name: traefik\n",
      rolloutOnUpgrade: "Paced",
      upgradeParallelism: 1000,
      "allow.privileged": true,
      "allow.ingressHosts": ["*.apps.example.com", "!x"],
      defaultInstance: { namespace: "team", name: "first", spec: { distribution: { name: "starter" } } },
    };
    const rendered = await helm.template(CHART, ...asFlags({ settings }));
    const map = rendered.filter(({ kind }) => kind === "ConfigMap");
    strictEqual(map.length, 1);
    const read = readSettings(settingsData(map[0] ?? {}), SETTINGS_DEFAULT, [...EMBEDDED_DISTRIBUTIONS.keys()]);
    deepStrictEqual(read.complaints, []);
    deepStrictEqual(
      [read.settings.upgradeParallelism, read.settings.networkPolicies, read.settings.allow.ingressHosts],
      [1000, true, ["*.apps.example.com", "!x"]],
    );
    strictEqual(read.settings.defaultInstance?.name, "first");
    // Every setting and every distribution is a value.
    const schema = JSON.parse(await Deno.readTextFile(`${CHART}/values.schema.json`)) as JsonObject;
    const known = (name: string) => Object.keys(objectAt(schema, "properties", name, "properties"));
    deepStrictEqual(known("settings"), SETTING_ROWS.map(({ key }) => key));
    deepStrictEqual(
      known("relatedImages").map(relatedImageVariable),
      [...EMBEDDED_DISTRIBUTIONS.keys()].map(relatedImageVariable),
    );
  }));

Deno.test("optional values may be null, and texts may hold whatever YAML and templates treat in a special way", () =>
  withHelm(async (helm) => {
    const names = ["settings", "relatedImages", "watchNamespaces", "podLabels", "podAnnotations", "nodeSelector"];
    const nulls = [...names, "tolerations", "affinity", "imagePullSecrets"].flatMap((
      name,
    ) => ["--set", `${name}=null`]);
    deepStrictEqual(byName(await helm.template(CHART, ...IN_NAMESPACE, ...nulls)), expected(DEFAULT));
    const text = `{{ fail "x" }} '"\\ \t# : - \u2028\u0007é\n---\n`;
    const values = { podAnnotations: { "example.com/text": text }, settings: { defaultInstance: text } };
    const rendered = await helm.template(CHART, ...asFlags(values));
    const map = rendered.find(({ kind }) => kind === "ConfigMap");
    strictEqual(objectAt(map, "data").defaultInstance, text);
    const deployment = rendered.find(({ kind }) => kind === "Deployment");
    strictEqual(objectAt(deployment, "spec", "template", "metadata", "annotations")["example.com/text"], text);
  }));

Deno.test("the values of docs/install.md for a cluster without internet access name every image", () =>
  withHelm(async (helm, home) => {
    const page = await Deno.readTextFile(new URL("../../docs/install.md", import.meta.url));
    const section = page.split("### A cluster without internet access\n")[1] ?? "";
    await Deno.writeTextFile(join(home, "values.yaml"), /```yaml\n([^`]*)```/.exec(section)?.[1] ?? "");
    const rendered = await helm.template(CHART, "--values", join(home, "values.yaml"));
    const text = JSON.stringify(rendered.find(({ kind }) => kind === "Deployment"));
    strictEqual(text.match(/mirror\.example\.com/g)?.length, 3);
    ok(!text.includes("docker.io"));
    ok(text.includes('"RELATED_IMAGE_OGX_STARTER"') && text.includes('"imagePullSecrets":[{"name":"mirror"}]'));
  }));

/** Values that a person might write by mistake, and the place that the error names. */
const MISTAKES: ReadonlyArray<readonly [flags: ReadonlyArray<string>, named: RegExp]> = [
  [["--set", "replica=2"], /'replica' not allowed/],
  [["--set-string", "replicas=2"], /at '\/replicas': got string, want integer/],
  [["--set", "image.tag=1"], /at '\/image\/tag': got number, want string/],
  [["--set", "image.repository=example.com/operator:1.0"], /at '\/image\/repository'/],
  [["--set", "image.repository=Operator"], /at '\/image\/repository'/],
  [["--set", "relatedImages.starter=https://example.com/starter"], /at '\/relatedImages\/starter'/],
  [["--set", "image.digest=0123"], /at '\/image\/digest'/],
  [["--set-string", `image.tag=1.0,image.digest=${DIGEST}`], /image\.tag is "1\.0" and image\.digest is "sha256:/],
  [["--set", "webhooks.enable=false"], /at '\/webhooks': additional properties 'enable' not allowed/],
  [["--set-string", "webhooks.enabled=false"], /at '\/webhooks\/enabled': got string, want boolean/],
  [["--set", "webhooks.certificates=certmanager"], /at '\/webhooks\/certificates': value must be one of/],
  [["--set", "webhooks=null"], /missing property 'webhooks'/],
  [["--set", "replicas=null"], /missing property 'replicas'/],
  [["--set", "watchNamespaces=team"], /at '\/watchNamespaces': got string, want array/],
  [["--set", "watchNamespaces={team,team}"], /at '\/watchNamespaces': items at 0 and 1 are equal/],
  [["--set", "watchNamespaces={Team}"], /at '\/watchNamespaces\/0'/],
  [
    ["--set", "settings.upgradeParalellism=2"],
    /at '\/settings': additional properties 'upgradeParalellism' not allowed/,
  ],
  [["--set", "relatedImages.startr=x"], /at '\/relatedImages': additional properties 'startr' not allowed/],
  [["--set-json", 'podLabels={"app.kubernetes.io/name":"x"}'], /at '\/podLabels\/app\.kubernetes\.io~1name'/],
  [["--set", "extraArgs={metrics-plain}"], /at '\/extraArgs\/0'/],
  [["--set", "nodeSelector.a=1"], /at '\/nodeSelector\/a': got number, want string/],
  [["--kube-version", "1.31.4"], /kubeVersion: >=1\.32\.0-0/],
];

Deno.test("a mistake in the values is an error that names the value", () =>
  withHelm(async (helm) => {
    for (const [flags, named] of MISTAKES) {
      const { code, stderr } = await helm.ended("template", "release", CHART, ...flags);
      strictEqual(code, 1, flags.join(" "));
      match(stderr, named, flags.join(" "));
    }
  }));

Deno.test("helm lint --strict finds nothing, and the package holds the chart", () =>
  withHelm(async (helm, home) => {
    await helm.run("lint", "--strict", CHART);
    await helm.run("lint", "--strict", CHART, ...asFlags(valuesOf(CHOICES.at(-1) ?? DEFAULT)));
    await helm.run("package", CHART, "--destination", home);
    const packed = await helm.template(`${home}/${NAME}-${OPERATOR_VERSION}.tgz`, ...IN_NAMESPACE);
    deepStrictEqual(byName(packed), expected(DEFAULT));
  }));

Deno.test("the chart works as a dependency of another chart", () =>
  withHelm(async (helm, home) => {
    const parent = join(home, "parent");
    await Deno.mkdir(parent);
    const dependency = {
      name: NAME,
      version: OPERATOR_VERSION,
      repository: `file://${CHART}`,
      condition: `${NAME}.enabled`,
    };
    const chart = { apiVersion: "v2", name: "parent", version: "1.0.0", dependencies: [dependency] };
    await Deno.writeTextFile(join(parent, "Chart.yaml"), JSON.stringify(chart));
    await Deno.writeTextFile(
      join(parent, "values.yaml"),
      JSON.stringify({ global: { team: "x" }, [NAME]: { enabled: true } }),
    );
    await helm.run("dependency", "build", parent);
    deepStrictEqual(byName(await helm.template(parent, ...IN_NAMESPACE)), expected(DEFAULT));
  }));

Deno.test("a version with build metadata is a valid label and tag", () =>
  withHelm(async (helm, home) => {
    const chart = await writeChart(join(home, "chart"), DEFAULT, "1.2.3+build.5");
    const deployment = (await helm.template(chart)).find(({ kind }) => kind === "Deployment");
    strictEqual(objectAt(deployment, "metadata", "labels")["app.kubernetes.io/version"], "1.2.3_build.5");
    const container = listAt(deployment, "spec", "template", "spec", "containers")[0];
    // The image is that of the choices.
    strictEqual(stringAt(container, "image"), DEFAULT.image);
  }));
