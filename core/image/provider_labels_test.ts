import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import {
  DESCRIPTION_LABEL,
  providerLabels,
  providerLabelsIn,
  providersAgreed,
  WHEELS_LABEL,
} from "./provider_labels.ts";

const base64 = (text: string) => new TextEncoder().encode(text).toBase64();
const GATEWAY = {
  file: "gateway_provider-0.1.0-py3-none-any.whl",
  name: "gateway-provider",
  version: "0.1.0",
  requires: ["ogx-api>=1.5"],
  files: [],
  author: undefined,
};
const made = () => Object.fromEntries(providerLabels("kind: ProviderPackage\n", [GATEWAY]));

Deno.test("labels that were made are read back with names and versions of the wheels", () => {
  const { description, wheels } = Result.getOrThrow(providerLabelsIn(made())) ?? {};
  strictEqual(description, "kind: ProviderPackage\n");
  const { file, name, version, requires } = GATEWAY;
  deepStrictEqual(wheels?.map(({ wheel }) => Result.getOrThrow(wheel)), [{ file, name, version, requires }]);
});

Deno.test("an image without these labels says nothing, and each of them may be missing", () => {
  strictEqual(Result.getOrThrow(providerLabelsIn({ "com.ogx.distribution.name": "a" })), undefined);
  const only = (label: string) => Result.getOrThrow(providerLabelsIn({ [label]: made()[label] ?? "" }));
  strictEqual(only(DESCRIPTION_LABEL)?.wheels, undefined);
  strictEqual(only(WHEELS_LABEL)?.description, undefined);
});

for (
  const [what, label, value, says] of [
    ["no Base64", DESCRIPTION_LABEL, "%", /description of the image: expected UTF-8 text in Base64/],
    ["no UTF-8", DESCRIPTION_LABEL, btoa("\xff"), /expected UTF-8 text/],
    ["too long a text", DESCRIPTION_LABEL, base64("x".repeat(50_000)), /it has 66668 characters/],
    ["no JSON", WHEELS_LABEL, base64("["), /expected a list of wheels in JSON/],
    ["a wheel without requirements", WHEELS_LABEL, base64('[{"file": "a-1-py3-none-any.whl"}]'), /expected {"file"/],
    ["a requirement that is no text", WHEELS_LABEL, base64('[{"file": "a.whl", "requires": [1]}]'), /expected {"file"/],
    ["a path", WHEELS_LABEL, base64('[{"file": "../a.whl", "requires": []}]'), /expected {"file"/],
  ] as const
) {
  Deno.test(`a label with ${what} cannot be used`, () => {
    const read = providerLabelsIn({ [label]: value });
    ok(Result.isFailure(read));
    match(read.failure.message, says);
  });
}

Deno.test("a text that is too long for a label gets none", () => {
  deepStrictEqual(providerLabels("x".repeat(50_000), [GATEWAY]).map(([label]) => label), [WHEELS_LABEL]);
});

Deno.test("architectures agree if these labels are the same, whatever the others are", () => {
  const of = (architecture: string, labels: Record<string, string>) => ({ architecture, labels });
  deepStrictEqual(
    Result.getOrThrow(providersAgreed([of("amd64", { ...made(), a: "1" }), of("arm64", { ...made(), a: "2" })])),
    made(),
  );
  const different = providersAgreed([of("amd64", made()), of("arm64", {})]);
  ok(Result.isFailure(different));
  strictEqual(different.failure.message, "the labels of the architectures amd64 and arm64 of the image differ");
});
