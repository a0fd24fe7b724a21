import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { at, isObject, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { imageOf } from "./choices.ts";
import { bundleFiles, FIRST_VERSION } from "./olm.ts";

/** The objects of a bundle by kind. */
const objectsOf = (folder: string, version?: string): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(
    Object.entries(bundleFiles("", [], version)).filter(([path]) => path.startsWith(`${folder}/manifests/`))
      .flatMap(([, text]) => Result.getOrThrow(readManifests(text))).filter(isObject)
      .map((object) => [String(object.kind), object]),
  );

const csvOf = (folder: string, version?: string): JsonObject => objectsOf(folder, version).ClusterServiceVersion ?? {};

for (const folder of ["olm", "olm-namespaced"]) {
  Deno.test(`the bundle ${folder} lists every published image that a resource can select by name, and no other`, () => {
    const images = listAt(csvOf(folder), "spec", "relatedImages").map((item) => stringAt(item, "image"));
    ok(images.includes(imageOf(OPERATOR_VERSION)));
    for (const { releases } of EMBEDDED_DISTRIBUTIONS.values()) {
      for (const release of releases) {
        strictEqual(images.includes(release.image), release.unpublishedSince === undefined, release.image);
      }
    }
    const names = listAt(csvOf(folder), "spec", "relatedImages").map((item) => stringAt(item, "name"));
    strictEqual(new Set(names).size, names.length);
  });

  Deno.test(`the bundle ${folder} has what OLM supports of the rest of an installation, without a namespace`, () => {
    for (const kind of ["NetworkPolicy", "PodDisruptionBudget"]) {
      const object = objectsOf(folder)[kind];
      strictEqual(stringAt(object, "metadata", "name"), "llama-stack-operator");
      strictEqual(at(object, "metadata", "namespace"), undefined);
    }
  });

  Deno.test(`a later version of the bundle ${folder} may replace every earlier one, and runs its own image`, () => {
    const csv = csvOf(folder, "9.8.7");
    strictEqual(stringAt(csv, "metadata", "annotations", "olm.skipRange"), "<9.8.7");
    strictEqual(stringAt(csvOf(folder, FIRST_VERSION), "metadata", "annotations", "olm.skipRange"), undefined);
    const [deployment] = listAt(csv, "spec", "install", "spec", "deployments");
    const [container] = listAt(deployment, "spec", "template", "spec", "containers");
    strictEqual(stringAt(container, "image"), imageOf("9.8.7"));
  });

  Deno.test(`the bundle ${folder} names the oldest OpenShift that contains the oldest supported Kubernetes`, () => {
    strictEqual(stringAt(csvOf(folder), "spec", "minKubeVersion"), "1.32.0");
    const files = bundleFiles("", []);
    ok(files[`${folder}/metadata/annotations.yaml`]?.includes("com.redhat.openshift.versions: v4.19"));
    ok(files[`${folder}/bundle.Dockerfile`]?.includes("LABEL com.redhat.openshift.versions=v4.19"));
  });
}

Deno.test("nothing is served unconverted before OLM writes the conversion", () => {
  const definition = objectsOf("olm").CustomResourceDefinition;
  strictEqual(stringAt(definition, "spec", "conversion", "strategy"), "Webhook");
  deepStrictEqual(Object.keys(objectAt(definition, "spec", "conversion", "webhook", "clientConfig")), ["service"]);
  const served = listAt(objectsOf("olm-namespaced").CustomResourceDefinition, "spec", "versions")
    .filter((version) => at(version, "served") === true).map((version) => stringAt(version, "name"));
  deepStrictEqual(served, ["v1alpha2"]);
});
