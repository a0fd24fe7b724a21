import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { exampleFiles } from "../../tools/install/provider_wheels.ts";
import { type Wheel, wheelOf } from "../image/wheel.ts";
import {
  type PackOptions,
  providerCheckCommand,
  type ProviderFolder,
  providerPackCommand,
  providerProblems,
} from "./provider.ts";

const wheel = (file: string, files: ReadonlyArray<string>, metadata: ReadonlyArray<string> = []) =>
  wheelOf({
    file,
    files,
    metadata: new Map([["x.dist-info/METADATA", ["Metadata-Version: 2.1", ...metadata].join("\n")]]),
  });
const GATEWAY = wheel("gateway_provider-0.1.0-py3-none-any.whl", [
  "gateway_provider/__init__.py",
  "gateway_provider/provider.py",
], [
  "Name: gateway-provider",
  "Requires-Dist: ogx-api>=1.4",
  "Requires-Dist: httpx",
  'Requires-Dist: pytest; extra == "dev"',
]);
const EXAMPLE = wheel("gateway_provider-0.1.0-py3-none-any.whl", ["gateway_provider/provider.py"], [
  "Requires-Dist: ogx-api>=1.4",
]);
const HELPING = wheel("helping-2.0-cp313-cp313-manylinux_2_28_x86_64.whl", ["helping.py"]);

const OPTIONS: PackOptions = {
  api: "inference",
  providerType: "remote::gateway",
  packageName: undefined,
  vendor: "Team",
  base: "busybox:1.37",
  format: "containerfile",
};
const pack = (
  wheels: ReadonlyArray<Result.Result<Wheel, string>>,
  options: Partial<PackOptions> = {},
  folder = "dist",
) =>
  providerPackCommand(
    wheels.map((item) => ({
      path: `${folder}/${Result.isSuccess(item) ? item.success.file : "broken.whl"}`,
      wheel: item,
    })),
    { ...OPTIONS, ...options },
  );

Deno.test("provider pack prints the two files of the documentation", async () => {
  const files = await exampleFiles();
  deepStrictEqual(pack([EXAMPLE]), { stdout: files.Containerfile, stderr: "", code: 0 });
  strictEqual(pack([EXAMPLE], { format: "description" }).stdout, files["lls-provider-spec.yaml"]);
});

Deno.test("provider pack copies every wheel, and finds the one of the provider", () => {
  const { stdout } = pack([HELPING, GATEWAY]);
  strictEqual(stdout.split("\n").filter((line) => line.startsWith("COPY")).length, 3);
  match(pack([HELPING, GATEWAY], { format: "description" }).stdout, /packageName: "gateway_provider"/);
});

for (
  const [name, outcome, says] of [
    ["an unknown API", pack([GATEWAY], { api: "vectorIo" }), /--api vectorIo: use one of inference, safety/],
    ["a type without prefix", pack([GATEWAY], { providerType: "gateway" }), /use remote::NAME or inline::NAME/],
    ["a wheel outside of the folder", pack([GATEWAY], {}, ".."), /relative path below the folder/],
    ["a wheel at an absolute path", pack([GATEWAY], {}, "/dist"), /relative path below the folder/],
    ["no provider", pack([HELPING]), /no wheel contains a package with a module provider/],
    [
      "a package that is not there",
      pack([GATEWAY], { packageName: "other" }),
      /no wheel contains the module other\.provider/,
    ],
    ["two versions", pack([GATEWAY, GATEWAY]), /two wheels of gateway-provider/],
    [
      "two providers",
      pack([GATEWAY, wheel("b-1-py3-none-any.whl", ["b/provider.py"])]),
      /name one package with --package: gateway_provider, b/,
    ],
    ["a broken wheel", pack([wheel("b.whl", [])]), /b\.whl is not a valid wheel/],
  ] as const
) {
  Deno.test(`provider pack rejects ${name}`, () => {
    deepStrictEqual([outcome.code, outcome.stdout], [1, ""]);
    match(outcome.stderr, says);
  });
}

const folder = async (more: Partial<ProviderFolder> = {}): Promise<ProviderFolder> => ({
  name: "image",
  description: (await exampleFiles())["lls-provider-spec.yaml"],
  wheels: [GATEWAY, HELPING],
  files: ["lls-provider-spec.yaml", "packages/gateway_provider-0.1.0-py3-none-any.whl"],
  ...more,
});

Deno.test("provider check shows what the image contains, and what the server must have", async () => {
  const { stdout, code } = providerCheckCommand(await folder(), { serverVersion: "1.5.0" });
  strictEqual(code, 0, stdout);
  deepStrictEqual(stdout.trimEnd().split("\n"), [
    "image: gateway-provider 0.1.0 is a provider of the inference API: remote::gateway in gateway_provider",
    "  gateway_provider-0.1.0-py3-none-any.whl",
    "  helping-2.0-cp313-cp313-manylinux_2_28_x86_64.whl",
    "The server must have: httpx, ogx-api>=1.4",
  ]);
});

Deno.test("provider check compares with a server version, and names the supported ones", async () => {
  const { stdout, code } = providerCheckCommand(await folder(), { serverVersion: "0.7.3" });
  strictEqual(code, 1);
  match(stdout, /^image: it requires ogx-api>=1\.4, but the server is Llama Stack 0\.7\.3; use a version of/);
  match(providerCheckCommand(await folder(), { serverVersion: "9.9" }).stderr, /9\.9 is not a supported version/);
});

Deno.test("provider check finds everything that is wrong at once", async () => {
  const text = [
    "kind: Other",
    "spec: { packageName: 'a b', providerType: x, api: vectorIo, wheelPath: packages/no.whl }",
  ];
  const found = providerProblems(
    await folder({ description: text.join("\n"), wheels: [wheel("a.whl", [])] }),
    undefined,
  ).map(({ message }) => message);
  for (
    const says of [
      /apiVersion must be .*, and is nothing/,
      /kind must be "ProviderPackage", and is "Other"/,
      /metadata\.vendor must be a text/,
      /spec\.packageName must be a dotted name of a Python package, and is "a b"/,
      /spec\.providerType must be such as/,
      /spec\.api must be one of .*, and is "vectorIo"/,
      /has no file packages\/no\.whl/,
      /a\.whl is not a valid wheel/,
    ]
  ) ok(found.some((problem) => says.test(problem)), `${says} of ${found.join("\n")}`);
  deepStrictEqual(providerProblems(await folder({ description: undefined }), undefined), [
    { reason: "ProviderMetadataMissing", message: "the image has no file /lls-provider/lls-provider-spec.yaml" },
  ]);
  deepStrictEqual(providerProblems(await folder({ wheels: [HELPING] }), undefined), [
    { reason: "ProviderImportFailed", message: "its packages contain no module gateway_provider.provider" },
  ]);
});
