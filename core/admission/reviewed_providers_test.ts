import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { manifest, SURROUNDINGS } from "../../tests/given.ts";
import type { JsonObject } from "../data/json.ts";
import { providerLabelsIn } from "../image/provider_labels.ts";
import { SETTINGS_DEFAULT } from "../operator/settings.ts";
import type { Change } from "./change.ts";
import { judge } from "./judgement.ts";
import { notRunning, reviewedProviders } from "./reviewed_providers.ts";

const resource = (lists: JsonObject, more: JsonObject = {}) => manifest({ externalProviders: lists, ...more });
const change = (object: JsonObject, before?: JsonObject): Change => ({
  namespace: "team",
  object,
  before,
  writtenIn: "v1alpha2",
});
const ids = (object: JsonObject, before?: JsonObject) =>
  reviewedProviders(change(object, before), SETTINGS_DEFAULT).map(({ id }) => id);
const A = { providerId: "a", image: "registry.example.com/a:1" };
const B = { providerId: "b", image: "registry.example.com/b:1" };

Deno.test("new entries are reviewed, those with another image or in another list, and no others", () => {
  deepStrictEqual(ids(resource({ eval: [A], safety: [B] })), ["b", "a"]);
  deepStrictEqual(ids(resource({ eval: [A, B] }), resource({ eval: [A] })), ["b"]);
  deepStrictEqual(ids(resource({ eval: [{ ...A, image: "registry.example.com/a:2" }] }), resource({ eval: [A] })), [
    "a",
  ]);
  deepStrictEqual(ids(resource({ safety: [A] }), resource({ eval: [A] })), ["a"]);
  deepStrictEqual(ids(resource({ eval: [{ ...A, config: { x: 1 } }, B] }), resource({ eval: [B, A] })), []);
  deepStrictEqual(
    reviewedProviders(change(resource({ eval: [A] })), { ...SETTINGS_DEFAULT, imageLabels: "Never" }),
    [],
  );
});

Deno.test("the registry is asked as for the pods, with the pull Secrets that the resource names", () => {
  const overrides = { imagePullSecrets: [{ name: "pull" }], serviceAccountName: "runner" };
  const [found] = reviewedProviders(change(resource({ eval: [A] }, { workload: { overrides } })), SETTINGS_DEFAULT);
  const { namespace, serviceAccount, pullSecrets, reference } = found?.question ?? {};
  deepStrictEqual([namespace, serviceAccount, pullSecrets, reference], ["team", "runner", ["pull"], A.image]);
});

Deno.test("judge() rejects an entry at its field, but not one that is unchanged", () => {
  const labels = providerLabelsIn({ "io.llamastack.provider.wheels": btoa("[]") });
  const surroundings = { ...SURROUNDINGS, providerLabels: () => labels };
  const judged = (object: JsonObject, before?: JsonObject) =>
    judge(change(object, before), surroundings, "Warn", new Map()).rejections;
  const [found, ...others] = judged(resource({ eval: [A] }));
  deepStrictEqual(others, []);
  strictEqual(found?.field, "spec.externalProviders.eval[0]");
  match(found.message, /^spec\.externalProviders\.eval\[0\]: External provider "a" .*the image has no wheel/);
  const edit = resource({ eval: [A] }, { workload: { replicas: 2 } });
  strictEqual(judged(edit, resource({ eval: [A] })).length, 0);
});

Deno.test("notRunning() leaves out what the Deployment of the resource has, and nothing else", () => {
  const reviewed = reviewedProviders(change(resource({ eval: [A] })), SETTINGS_DEFAULT);
  const [{ id = "", image = "" } = {}] = reviewed;
  const running = (of: string, name = `install-provider-${id}`) => ({
    spec: { template: { spec: { initContainers: [{ name, image: of }] } } },
  });
  deepStrictEqual(notRunning(reviewed, running(image)), []);
  for (const other of [undefined, running("other:1"), running(image, "install-provider-other")]) {
    deepStrictEqual(notRunning(reviewed, other), reviewed);
  }
});
