/** What the Helm chart renders, without a cluster. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Result from "effect/Result";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { type Choices, DEFAULT } from "../../tools/package/choices.ts";
import { prometheusRule } from "../../tools/package/alerts.ts";
import { dashboard, serviceMonitor } from "../../tools/package/extras.ts";
import { serverDashboard } from "../../tools/package/server_dashboard.ts";
import { COMBINATIONS } from "../../tools/package/helm/combinations.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { strictNetworkPolicy } from "../../tools/package/network_policy.ts";
import { writeGuard } from "../../tools/package/write_guard.ts";
import { asFlags, byName, CHART, DIGEST, expected, IN_NAMESPACE, withHelm, writeChart } from "./helm.ts";

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
    const labelled = [serviceMonitor(), prometheusRule(), dashboard(), serverDashboard()].map((object) => ({
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
