import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { endsSoon } from "../../tests/measured.ts";
import { type JudgedFor, problemsInLabels, unusableLabels } from "./provider_judgement.ts";
import { providerLabelsIn, type ReadProviderLabels } from "../image/provider_labels.ts";

const base64 = (text: string) => new TextEncoder().encode(text).toBase64();
const TEXT = (api: string, more = "") =>
  `apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata: { name: own, version: "1", vendor: v }
spec: { packageName: own, providerType: "remote::own", api: ${api}${more} }
`;
type Wheels = Readonly<Record<string, ReadonlyArray<string>>>;
const labels = (description: string | undefined, wheels: Wheels | undefined): ReadProviderLabels =>
  providerLabelsIn({
    ...(description === undefined ? {} : { "io.llamastack.provider.description": base64(description) }),
    ...(wheels === undefined ? {} : {
      "io.llamastack.provider.wheels": base64(
        JSON.stringify(
          Object.entries(wheels).map(([name, requires]) => ({
            file: name.endsWith(".whl") ? name : `${name}-py3-none-any.whl`,
            requires,
          })),
        ),
      ),
    }),
  });
const OWN: Wheels = { "own-1.0": ["ogx-api>=1.5"] };
const judged = (read: ReadProviderLabels, more: Partial<JudgedFor> = {}) =>
  problemsInLabels(read, { api: "inference", serverVersion: "1.5.0", ...more });
const text = (read: ReadProviderLabels, more?: Partial<JudgedFor>) =>
  judged(read, more).map(({ reason, message }) => `${reason}: ${message}`).join("\n");

Deno.test("a provider that fits has no problem, and neither has an image that says nothing", () => {
  deepStrictEqual(judged(labels(TEXT("inference"), OWN)), []);
  deepStrictEqual(judged(labels(undefined, undefined)), []);
});

Deno.test("an API is compared as the config calls it; agents and responses are one", () => {
  match(
    text(labels(TEXT("vector_io"), OWN)),
    /^ProviderApiMismatch: the image contains a provider of the vector_io API, but it is listed under inference; list it under vectorIo$/,
  );
  deepStrictEqual(judged(labels(TEXT("agents"), OWN), { api: "responses" }), []);
  match(text(labels(TEXT("responses"), OWN), { api: "inference" }), /list it under agents$/);
  match(text(labels(TEXT("responses"), OWN), { api: "agents" }), /^ProviderApiMismatch/);
  match(text(labels(TEXT("other"), OWN), { api: undefined }), /spec\.api must be one of/);
});

Deno.test("a provider for the other product is found by what it requires without a condition", () => {
  match(
    text(labels(TEXT("inference"), { "own-1.0": ["httpx", "ogx-api (<2, >=1.5)"] }), { serverVersion: "0.7.3" }),
    /^ProviderServerMismatch: it requires ogx-api<2,>=1\.5, but the server is Llama Stack 0\.7\.3; use a version of the/,
  );
  match(
    text(labels(undefined, { "llama_stack-0.7": [] })),
    /^ProviderServerMismatch: the image brings llama-stack 0\.7/,
  );
  for (const requirement of ['ogx-api; extra == "dev"', 'ogx-api; python_version < "3.12"', "ogx-client"]) {
    deepStrictEqual(judged(labels(undefined, { "own-1.0": [requirement] }), { serverVersion: "0.7.3" }), []);
  }
  deepStrictEqual(judged(labels(undefined, OWN), { serverVersion: undefined }), []);
});

Deno.test("wheels are judged by their names, and the description by their list", () => {
  match(text(labels(undefined, {})), /^ProviderPackagesMissing: the image has no wheel in/);
  match(text(labels(undefined, { "a.whl": [] })), /^ProviderPackagesInvalid: a\.whl is not a valid wheel: its name/);
  match(
    text(labels(undefined, { "a-1.0": [], "a-2.0": [] })),
    /^ProviderPackagesInvalid: the image has two wheels of a/,
  );
  const path = ", wheelPath: /lls-provider/packages/own-2.0-py3-none-any.whl";
  match(text(labels(TEXT("inference", path), OWN)), /^ProviderPackagesMissing: the image has no file .*own-2\.0/);
  deepStrictEqual(judged(labels(TEXT("inference", path), undefined)), []);
});

Deno.test("labels that cannot be read say nothing about an image that may work, and are shown to who builds it", () => {
  const says = (read: ReadProviderLabels) => {
    deepStrictEqual(judged(read), []);
    return unusableLabels(read).map(({ reason, message }) => `${reason}: ${message}`).join();
  };
  match(says(providerLabelsIn({ "io.llamastack.provider.wheels": "%" })), /^ProviderMetadataInvalid: label/);
  // Python takes the last one of two equal keys, and knows more tags.
  match(says(labels(`${TEXT("inference")}kind: ProviderPackage\n`, OWN)), /duplicated mapping key/);
  match(says(labels(`${TEXT("inference")}icon: !!binary aGVsbG8=\n`, OWN)), /unknown scalar tag/);
  match(says(labels(undefined, { "ö-1.0-py3-none-any.whl": [] })), /^ProviderPackagesInvalid: ö/);
  deepStrictEqual(judged(labels(undefined, { "own-1.0": Array(2000).fill("a") })), []);
});

Deno.test("a requirement of any form is judged in time that grows with its length", async () => {
  for (const filler of [" ", "[", "(", ".-", "a", "\t"]) {
    const requirement = `ogx-api${filler.repeat(20_000 / filler.length)}@`;
    await endsSoon(() => judged(labels(undefined, { "own-1.0": [requirement] }), { serverVersion: "0.7.3" }));
  }
});

Deno.test("nothing is judged where labels cannot be read", () => {
  const broken = providerLabelsIn({ "io.llamastack.provider.wheels": "%" });
  strictEqual(Result.isFailure(broken), true);
  deepStrictEqual(problemsInLabels(broken, { api: "eval", serverVersion: "0.7.3" }), []);
});
