/** Values of the Helm chart, sensible and odd ones, without a cluster. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { relatedImageVariable } from "../../core/config/servers/distribution.ts";
import { type JsonObject, objectAt } from "../../core/data/json.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { readSettings, SETTING_ROWS, settingsData } from "../../core/operator/settings.ts";
import { DEFAULT } from "../../tools/package/choices.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { asFlags, byName, CHART, DIGEST, expected, IN_NAMESPACE, withHelm } from "./helm.ts";

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
    deepStrictEqual(Object.fromEntries(Object.entries(spec).filter(([name]) => name in pods)), {
      ...pods,
      // Maps are merged with the default; null removes an entry.
      nodeSelector: { "kubernetes.io/os": "linux", ...pods.nodeSelector },
    });
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
    const read = readSettings(settingsData(map[0] ?? {}), {}, [...EMBEDDED_DISTRIBUTIONS.keys()]);
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
    const names = ["settings", "relatedImages", "watchNamespaces", "podLabels", "podAnnotations"];
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

Deno.test("the values of docs/helm.md for a cluster without internet access name every image", () =>
  withHelm(async (helm, home) => {
    const page = await Deno.readTextFile(new URL("../../docs/helm.md", import.meta.url));
    const section = page.split("## A cluster without internet access\n")[1] ?? "";
    await Deno.writeTextFile(join(home, "values.yaml"), /```yaml\n([^`]*)```/.exec(section)?.[1] ?? "");
    const rendered = await helm.template(CHART, "--values", join(home, "values.yaml"));
    const text = JSON.stringify(rendered.find(({ kind }) => kind === "Deployment"));
    strictEqual(text.match(/mirror\.example\.com/g)?.length, 2);
    ok(!text.includes("docker.io"));
    ok(text.includes('"RELATED_IMAGE_STARTER"') && text.includes('"imagePullSecrets":[{"name":"mirror"}]'));
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
