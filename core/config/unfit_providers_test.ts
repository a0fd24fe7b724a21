import { deepStrictEqual, match, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { providerLabelsIn } from "../image/provider_labels.ts";
import { decoded, SURROUNDINGS } from "../../tests/given.ts";
import { derive, type Surroundings } from "./derive.ts";
import type { LabelsOfProvider } from "./unfit_providers.ts";

const labelled = (text: string) =>
  providerLabelsIn({ "io.llamastack.provider.description": new TextEncoder().encode(text).toBase64() });
const ofSafety = labelled(
  'apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nmetadata: { name: a, version: "1", vendor: v }\n' +
    'spec: { packageName: a, providerType: "remote::a", api: safety }\n',
);
const failuresOf = (providerLabels: LabelsOfProvider, more: Partial<Surroundings> = {}) => {
  const spec = { externalProviders: { eval: [{ providerId: "own", image: "registry.example.com/own:1" }] } };
  const derived = derive(decoded(spec), { ...SURROUNDINGS, ...more, providerLabels });
  return Result.isFailure(derived) ? derived.failure.failures : [];
};

Deno.test("a provider whose labels show that it does not fit is a failure at its entry, with the end of the sentence of the pod", () => {
  const [failure, ...others] = failuresOf(() => ofSafety);
  deepStrictEqual(others, []);
  ok(failure?._tag === "ExternalProviderUnfit");
  deepStrictEqual([failure.path, failure.reason], [["spec", "externalProviders", "eval", 0], "ProviderApiMismatch"]);
  match(
    failure.message,
    /^spec\.externalProviders\.eval\[0\]: External provider "own" \(image registry\.example\.com\/own:1\), according to its labels: the image contains/,
  );
});

Deno.test("nothing is judged where nothing is known", () => {
  deepStrictEqual(failuresOf(() => undefined), []);
  deepStrictEqual(failuresOf(() => Result.succeed(undefined)), []);
  // The operator would not read them.
  deepStrictEqual(failuresOf(() => ofSafety, { imageLabels: "Never" }), []);
});

Deno.test("texts of labels are shown on one line, without control characters, and not all of them", () => {
  const hostile = labelled(`kind: "\\e[31m\\n\\u202E${"x".repeat(5000)}"\n`);
  const failures = failuresOf(() => hostile);
  ok(failures.length > 1 && failures.length <= 8);
  ok(failures.every(({ message }) => message.length < 1200 && !/[\p{Cc}\u202E]/u.test(message)));
});
