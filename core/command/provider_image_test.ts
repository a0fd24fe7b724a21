import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { providerLabels } from "../image/provider_labels.ts";
import { providerImageCommand } from "./provider_image.ts";

const TEXT = `apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata: { name: own, version: "1.2", vendor: "x\\nforged: line" }
spec: { packageName: own, providerType: "remote::own", api: vector_io }
`;
const WHEEL = {
  file: "own-1.2-py3-none-any.whl",
  name: "own",
  version: "1.2",
  requires: ["ogx-api", "httpx"],
  files: [],
};
const LABELS = Object.fromEntries(providerLabels(TEXT, [{ ...WHEEL, author: undefined }]));
const checked = (labels: ReadonlyArray<Readonly<Record<string, string>>>, serverVersion?: string) =>
  providerImageCommand({
    name: "registry.example.com/own@sha256:1",
    platforms: labels.map((Labels, index) => ({
      architecture: ["amd64", "arm64"][index] ?? "",
      config: { config: { Labels } },
    })),
  }, { serverVersion });

Deno.test("provider check shows what the labels of an image say, and what the server must have", () => {
  const { stdout, code } = checked([LABELS, LABELS], "1.5.0");
  strictEqual(code, 0, stdout);
  deepStrictEqual(stdout.trimEnd().split("\n"), [
    "registry.example.com/own@sha256:1: own 1.2 is a provider of the vector_io API: remote::own in own",
    "  own-1.2-py3-none-any.whl",
    "The server must have: httpx, ogx-api",
  ]);
});

Deno.test("provider check exits 1 for problems in the labels of an image", () => {
  const { stdout, code } = checked([LABELS], "0.7.3");
  strictEqual(code, 1);
  match(stdout, /^registry\.example\.com\/own@sha256:1: it requires ogx-api, but the server is Llama Stack 0\.7\.3/);
  strictEqual(checked([{ "io.llamastack.provider.wheels": "%" }]).code, 1);
  match(checked([LABELS], "9.9").stderr, /9\.9 is not a supported version/);
  const other = { ...WHEEL, author: undefined };
  const evaluation = Object.fromEntries(providerLabels(TEXT.replace("vector_io", "eval"), [other]));
  strictEqual(checked([evaluation]).code, 0);
  match(checked([evaluation], "1.5.0").stdout, /it is a provider of the eval API, which OGX 1\.5\.0 does not have\n$/);
});

Deno.test("provider check exits 3 for an image that says nothing, and tells what to do", () => {
  const none = checked([{}]);
  strictEqual(none.code, 3);
  match(none.stdout, /nothing is known of it without pulling it\nBuild it with the labels that `llama-stack-operator/);
  const different = checked([LABELS, {}]);
  strictEqual(different.code, 3);
  match(different.stdout, /the labels of the architectures amd64 and arm64 of the image differ/);
});

Deno.test("provider check says that the wheels are not known without their label", () => {
  const { stdout, code } = checked([{ ...LABELS, "io.llamastack.provider.wheels": undefined } as never]);
  strictEqual(code, 0);
  match(stdout, /The image has no label io\.llamastack\.provider\.wheels, so that its wheels are not known/);
});
