/** The script that installs external providers, with the Python of real servers and small wheels. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { load } from "js-yaml";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { providerProblems } from "../../core/command/provider.ts";
import { problemsInLabels } from "../../core/config/provider_judgement.ts";
import type { ProviderProblem } from "../../core/config/provider_description.ts";
import { providerLabels, providerLabelsIn } from "../../core/image/provider_labels.ts";
import { folderAt } from "../../shell/cli/commands/provider.ts";
import { exampleFiles } from "../../tools/install/provider_wheels.ts";
import { installServer, type ServerVersion } from "../../tools/install/python_server.ts";
import { ended, must } from "../../tools/install/run_program.ts";
import { type Description, description, makeWheel, providerFiles, type WheelContent } from "../provider_wheel.ts";
import { until } from "../waiting.ts";

const SCRIPT = fileURLToPath(new URL("../../core/resources/prepare_providers.py", import.meta.url));

interface Image {
  readonly api?: string;
  readonly description?: Partial<Description> | string | undefined;
  readonly wheels?: ReadonlyArray<WheelContent>;
  /** Further files by path. */
  readonly files?: Readonly<Record<string, string>>;
}

interface Report {
  readonly ok: boolean;
  readonly id?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly providers?: ReadonlyArray<{ readonly id: string; readonly version: string; readonly type: string }>;
  readonly warnings?: ReadonlyArray<string>;
}

interface Run {
  readonly code: number;
  readonly report: Report;
  readonly reportText: string;
  /** The final config; undefined if there is none. */
  readonly config: Record<string, unknown> | undefined;
  readonly folder: string;
  readonly stderr: string;
}

const CONFIG = {
  version: 2,
  distro_name: "test",
  storage: { backends: { kv_default: { type: "kv_sqlite", db_path: "${env.DIR:=/x}/kv.db" } } },
  odd: ["yes", "0x10", "1.0", "é", null, "a: b", "2024-01-01"],
};

/** Installs the images, by provider id, and hands on what came of it. */
const prepared = async (
  server: ServerVersion,
  images: Readonly<Record<string, Image>>,
  test: (run: Run, again: () => Promise<Run>, checked: ReadonlyMap<string, Checked>) => void | Promise<void>,
): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    const { python } = await installServer(server);
    const listed = Object.entries(images).map(([id, { api = "inference" }]) => ({ id, api, image: `example/${id}:1` }));
    const providers: Record<string, unknown[]> = {
      inference: [{ provider_id: "first", provider_type: "remote::openai", config: { api_key: "${env.KEY:=}" } }],
    };
    for (const { id, api } of listed) {
      const entry = { provider_id: id, provider_type: `external::${id}`, config: { of: id } };
      providers[api] = [...providers[api] ?? [], entry];
    }
    await Deno.mkdir(join(folder, "source"));
    await Deno.writeTextFile(join(folder, "source", "config.yaml"), JSON.stringify({ ...CONFIG, providers }));
    await Deno.writeTextFile(
      join(folder, "source", "external-providers.json"),
      JSON.stringify({ providers: listed }),
    );
    for (const [id, image] of Object.entries(images)) await writeImage(join(folder, "images", id), id, image);
    const checked = await checkedIn(join(folder, "images"), listed, server.split(" ")[1] ?? "");
    const run = () => runScript(python, folder);
    const first = await run();
    compare(first.report, checked);
    await test(first, run, checked);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

interface Checked {
  /** What `provider check` says of the folder. */
  readonly problems: ReadonlyArray<string>;
  /** What is judged by the labels that `provider pack` would give the image. */
  readonly ofLabels: ReadonlyArray<ProviderProblem>;
}

/** By id, in the order of installation. */
const checkedIn = async (
  images: string,
  listed: ReadonlyArray<{ readonly id: string; readonly api: string; readonly image: string }>,
  serverVersion: string,
): Promise<ReadonlyMap<string, Checked>> => {
  const folders = await Promise.all(listed.map(({ id }) => Effect.runPromise(folderAt(join(images, id)))));
  const providers = listed.map((entry, index) => {
    const { description = "", wheels = [] } = folders[index] ?? {};
    const labels = Object.fromEntries(providerLabels(description, wheels.flatMap((wheel) => wheelOf(wheel))));
    return { ...entry, labels: providerLabelsIn(wheels.some(Result.isFailure) ? {} : labels) };
  });
  return new Map(providers.map(({ id, api, labels }, index) => {
    const folder = folders[index];
    const problems = folder === undefined ? [] : providerProblems(folder, undefined).map(({ message }) => message);
    const ofLabels = problemsInLabels(folder?.description === undefined ? Result.succeed(undefined) : labels, {
      api,
      serverVersion,
    });
    return [id, { problems, ofLabels }];
  }));
};

const wheelOf = <A>(wheel: Result.Result<A, string>): ReadonlyArray<A> =>
  Result.isSuccess(wheel) ? [wheel.success] : [];

/** Reasons that need no Python, and sentences whose end is that of another YAML or zip reader. */
const DECIDABLE = [
  "ProviderMetadataMissing",
  "ProviderMetadataInvalid",
  "ProviderPackagesMissing",
  "ProviderPackagesInvalid",
];
/** Needs all of the wheel, or the Python of the server. */
const UNDECIDABLE =
  / is damaged: | standard library of Python|has the name of the package|has an unreadable requirement/;
const OWN_END = /^(.* is not valid YAML|.* is not a valid wheel): .*/;

/** All judge the same images in the same words, each as far as it can. */
const compare = (
  { ok: isInstalled, id = "", reason = "", message = "" }: Report,
  checked: Awaited<ReturnType<typeof checkedIn>>,
) => {
  if (isInstalled) {
    deepStrictEqual([...checked.values()].flatMap(({ problems, ofLabels }) => [...problems, ...ofLabels]), []);
    return;
  }
  const text = message.replace(/^External provider "[^"]*" \(image [^)]*\): /, "").replace(OWN_END, "$1");
  const [first] = checked.get(id)?.ofLabels ?? [];
  if (first !== undefined && !UNDECIDABLE.test(message)) {
    const said = first.message.replace(OWN_END, "$1");
    strictEqual(first.reason, reason);
    if (![text, said].some((each) => each.endsWith(" is not valid YAML"))) strictEqual(said, text);
  }
  if (!DECIDABLE.includes(reason) || UNDECIDABLE.test(message)) return;
  const problems = (checked.get(id)?.problems ?? []).map((problem) => problem.replace(OWN_END, "$1"));
  const isYaml = [text, ...problems].every((problem) => !problem.endsWith(" is not valid YAML"));
  // What one YAML reader refuses, the other may read, and find useless.
  ok(isYaml ? problems.includes(text) : problems.length > 0, `${text}\n${problems.join("\n")}`);
};

const writeImage = async (folder: string, id: string, image: Image): Promise<void> => {
  const { wheels = [], files = {} } = image;
  await Deno.mkdir(join(folder, "packages"), { recursive: true });
  for (const wheel of wheels) await makeWheel(join(folder, "packages"), wheel);
  for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, path), text);
  if ("description" in image && image.description === undefined) return;
  const own = { packageName: id, providerType: `remote::${id}`, api: image.api ?? "inference" };
  const text = typeof image.description === "string"
    ? image.description
    : description({ ...own, ...image.description }, "1.2");
  await Deno.writeTextFile(join(folder, "lls-provider-spec.yaml"), text);
};

const runScript = async (python: string, folder: string): Promise<Run> => {
  const paths = ["source", "images", "packages", "config", "report"].map((name) => `--${name}=${join(folder, name)}`);
  const env = { HOME: folder, PATH: Deno.env.get("PATH") ?? "" };
  const { code, stderr } = await ended(python, [SCRIPT, ...paths], { env });
  const reportText = await Deno.readTextFile(join(folder, "report")).catch(() => "{}");
  const written = await Deno.readTextFile(join(folder, "config", "config.yaml")).catch(() => undefined);
  return {
    code,
    report: JSON.parse(reportText),
    reportText,
    config: written === undefined ? undefined : load(written) as Record<string, unknown>,
    folder,
    stderr,
  };
};

const LLAMA_STACK = "llama-stack 0.7.3";
const own = (name: string, more: Partial<WheelContent> = {}): WheelContent => ({
  name,
  files: providerFiles(name, { server: "llama_stack_api" }),
  ...more,
});

Deno.test("the example of the documentation is installed on the server of its distribution", async () => {
  const files = await exampleFiles();
  const [, required = "none"] = /^dependencies = \["(.+)"\]$/m.exec(files["pyproject.toml"] ?? "") ?? [];
  const python = Object.entries(files).filter(([name]) => name.endsWith(".py"));
  const { serverVersion } = EMBEDDED_DISTRIBUTIONS.get("ogx-starter") ?? {};
  await prepared(`ogx ${serverVersion}` as ServerVersion, {
    gateway: {
      description: files["lls-provider-spec.yaml"],
      wheels: [{
        name: "gateway-provider",
        version: "0.1.0",
        files: Object.fromEntries(python),
        metadata: [`Requires-Dist: ${required}`],
      }],
    },
  }, ({ code, report }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.providers, [{ id: "gateway", version: "0.1.0", type: "remote::gateway" }]);
  });
});

for (const [server, api] of [[LLAMA_STACK, "llama_stack_api"], ["ogx 1.5.0", "ogx_api"]] as const) {
  Deno.test(`two providers are installed with ${server}, and everything else of the config stays`, () =>
    prepared(server, {
      one: { wheels: [own("one", { files: providerFiles("one", { server: api }) })] },
      two: {
        api: "vector_io",
        wheels: [
          own("two", { files: providerFiles("two", { server: api, api: "vector_io", extra: "import helping" }) }),
          { name: "helping", files: { "helping-1.0.data/purelib/helping.py": "", "helping-1.0.data/scripts/x": "" } },
        ],
      },
    }, async ({ code, report, config, folder, stderr }) => {
      strictEqual(code, 0, `${report.message} ${stderr}`);
      deepStrictEqual(report.providers, [
        { id: "one", version: "1.2", type: "remote::one" },
        { id: "two", version: "1.2", type: "remote::two" },
      ]);
      deepStrictEqual(config, {
        ...CONFIG,
        providers: {
          inference: [
            { provider_id: "first", provider_type: "remote::openai", config: { api_key: "${env.KEY:=}" } },
            { provider_id: "one", provider_type: "remote::one", module: "one", config: { of: "one" } },
          ],
          vector_io: [{ provider_id: "two", provider_type: "remote::two", module: "two", config: { of: "two" } }],
        },
      });
      ok((await Deno.stat(join(folder, "packages", "helping.py"))).isFile);
      const names = await Array.fromAsync(Deno.readDir(join(folder, "packages")), ({ name }) => name);
      ok(!names.some((name) => name.endsWith(".data")), names.join());
      // The copies of the images are no longer needed.
      strictEqual(await Deno.stat(join(folder, "images")).catch(() => undefined), undefined);
    }));
}

Deno.test("after a failure the same run succeeds once the image is correct, without leftovers of the first", () =>
  prepared(LLAMA_STACK, {
    one: { wheels: [own("one", { files: { "one/provider.py": "raise ValueError('not today')", "one/left.py": "" } })] },
  }, async (first, again) => {
    strictEqual(first.report.reason, "ProviderImportFailed");
    match(first.report.message ?? "", /one\.provider cannot be loaded: ValueError: not today/);
    strictEqual(first.config, undefined);
    await makeWheel(join(first.folder, "images", "one", "packages"), own("one"));
    const second = await again();
    strictEqual(second.code, 0, JSON.stringify(second.report));
    strictEqual(await Deno.stat(join(first.folder, "packages", "one", "left.py")).catch(() => undefined), undefined);
  }));

Deno.test("a wheel whose bytes were changed is reported as damaged", () =>
  prepared(LLAMA_STACK, { one: { wheels: [own("one")] } }, async (first, again) => {
    strictEqual(first.code, 0, JSON.stringify(first.report));
    await writeImage(join(first.folder, "images", "one"), "one", { wheels: [own("one")] });
    const path = join(first.folder, "images", "one", "packages", "one-1.0-py3-none-any.whl");
    const bytes = await Deno.readFile(path);
    // Behind the header of the first file: 30 bytes and its name.
    const start = 30 + "one/__init__.py".length;
    await Deno.writeFile(path, bytes.map((byte, index) => index >= start && index < start + 20 ? byte ^ 0x55 : byte));
    const second = await again();
    deepStrictEqual([second.code, second.report.reason], [1, "ProviderPackagesInvalid"]);
    match(second.report.message ?? "", /one-1\.0-py3-none-any\.whl is damaged: /);
  }));

Deno.test("a failure that nobody foresaw is reported too", () =>
  prepared(LLAMA_STACK, { one: { wheels: [own("one")] } }, async (first, again) => {
    await Deno.remove(join(first.folder, "source", "config.yaml"));
    const second = await again();
    deepStrictEqual([second.code, second.report.reason], [1, "InstallationFailed"]);
    match(second.report.message ?? "", /^The external providers were not installed: FileNotFoundError: /);
  }));

Deno.test("a link to a file of the container is no file of the image", () =>
  prepared(LLAMA_STACK, { one: { wheels: [own("one")] } }, async (first, again) => {
    strictEqual(first.code, 0, JSON.stringify(first.report));
    const image = join(first.folder, "images", "one");
    await writeImage(image, "one", { description: undefined, wheels: [own("one")] });
    await Deno.symlink(join(first.folder, "source", "config.yaml"), join(image, "lls-provider-spec.yaml"));
    const second = await again();
    deepStrictEqual([second.code, second.report.reason], [1, "ProviderMetadataMissing"]);
  }));

interface Failing {
  readonly name: string;
  readonly images: Readonly<Record<string, Image>>;
  readonly reason: string;
  readonly says: RegExp;
  readonly server?: ServerVersion;
}

const SPEC = {
  apiVersion: "llamastack.io/v1alpha1",
  kind: "ProviderPackage",
  metadata: { name: "own", version: "1", vendor: "v" },
  spec: { packageName: "own", providerType: "remote::own", api: "inference" },
};
const described = (more: object) => ({
  own: { description: JSON.stringify({ ...SPEC, ...more }), wheels: [own("own")] },
});
const ARCH = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";

const OWN = providerFiles("own", { server: "llama_stack_api" });
/** As servers had it before they had lists. */
const LISTED = {
  "own/__init__.py": "class Config: pass\ndef get_adapter_impl(): pass",
  "own/provider.py": [
    "class Spec: api, provider_type, module, config_class = 'inference', 'remote::own', 'own', 'own.Config'",
    "def get_provider_spec(): return [Spec]",
  ].join("\n"),
};
/** Code that writes to the file of the result itself, half a megabyte at a time. */
const WRITES = (text: string): string =>
  `import os, sys\nos.write(int(sys.argv[1]), b'${text}' * ${text.length > 3 ? "(1 << 18)" : "1"})\nos._exit(0)`;
/** Lists of lists of lists, each with nine times the one before. */
const LEVELS = [..."bcdefghij"].map((level, index) => [level, "abcdefghij"[index] ?? ""] as const);
const BOMB = [
  "a: &a [x, x]",
  ...LEVELS.map(([level, inner]) => `${level}: &${level} [${Array(9).fill(`*${inner}`).join(", ")}]`),
  "apiVersion: *j",
].join("\n");
const MERGES = [
  "a: &a { x: x }",
  ...LEVELS.map(([level, inner]) => `${level}: &${level} { <<: [${Array(9).fill(`*${inner}`).join(", ")}] }`),
].join("\n");

const FAILING: ReadonlyArray<Failing> = [
  {
    name: "no description",
    images: { own: { description: undefined, wheels: [own("own")] } },
    reason: "ProviderMetadataMissing",
    says: /^External provider "own" \(image example\/own:1\): the image has no file \/lls-provider\/lls-provider-spec/,
  },
  {
    name: "a description that is no YAML",
    images: { own: { description: "a: [", wheels: [own("own")] } },
    reason: "ProviderMetadataInvalid",
    says: /is not valid YAML: .*line 1/,
  },
  {
    name: "a description of another kind",
    images: described({ kind: "Other" }),
    reason: "ProviderMetadataInvalid",
    says: /kind must be "ProviderPackage", and is "Other"/,
  },
  {
    name: "a description without a package",
    images: described({ spec: { ...SPEC.spec, packageName: undefined } }),
    reason: "ProviderMetadataInvalid",
    says: /spec\.packageName must be a dotted name of a Python package, and is nothing/,
  },
  {
    name: "a package name that is code",
    images: described({ spec: { ...SPEC.spec, packageName: "own; import os" } }),
    reason: "ProviderMetadataInvalid",
    says: /spec\.packageName must be/,
  },
  {
    name: "a provider type without remote or inline",
    images: described({ spec: { ...SPEC.spec, providerType: "own" } }),
    reason: "ProviderMetadataInvalid",
    says: /spec\.providerType must be such as remote::name or inline::name, and is "own"/,
  },
  {
    name: "another API than it is listed under",
    images: { own: { api: "tool_runtime", description: { api: "vector_io" }, wheels: [own("own")] } },
    reason: "ProviderApiMismatch",
    says: /a provider of the vector_io API, but it is listed under tool_runtime; list it under vectorIo/,
  },
  {
    name: "code of another API than described",
    images: { own: { api: "eval", wheels: [own("own")] } },
    reason: "ProviderApiMismatch",
    says: /its code is a provider of the inference API, but it is listed under eval/,
  },
  {
    name: "a wheel that is named and missing",
    images: { own: { description: { more: { wheelPath: "/lls-provider/packages/x.whl" } }, wheels: [own("own")] } },
    reason: "ProviderPackagesMissing",
    says: /the image has no file \/lls-provider\/packages\/x\.whl/,
  },
  {
    name: "a path out of the folder",
    images: { own: { description: { more: { wheelPath: "../../config.yaml" } }, wheels: [own("own")] } },
    reason: "ProviderPackagesMissing",
    says: /the image has no file \.\.\/\.\.\/config\.yaml/,
  },
  {
    name: "no wheel",
    images: { own: {} },
    reason: "ProviderPackagesMissing",
    says: /the image has no wheel in \/lls-provider\/packages/,
  },
  {
    name: "a file that is no wheel",
    images: { own: { files: { "packages/own-1.0-py3-none-any.whl": "not a zip" } } },
    reason: "ProviderPackagesInvalid",
    says: /own-1\.0-py3-none-any\.whl is not a valid wheel/,
  },
  {
    name: "a wheel that writes out of its folder",
    images: { own: { wheels: [own("own"), { name: "evil", files: { "../config/config.yaml": "" } }] } },
    reason: "ProviderPackagesInvalid",
    says: /has a file outside of its folder/,
  },
  {
    name: "a wheel that contains a package of the server",
    images: { own: { wheels: [own("own"), { name: "evil", files: { "llama_stack/__init__.py": "" } }] } },
    reason: "ProviderPackagesInvalid",
    says: /contains the package llama_stack of the server/,
  },
  {
    name: "a damaged wheel",
    images: { own: { wheels: [own("own", { claimed: { "own/__init__.py": "other" } })] } },
    reason: "ProviderPackagesInvalid",
    says: /is damaged: own\/__init__\.py/,
  },
  {
    name: "a file where another wheel has a folder",
    images: {
      own: { wheels: [own("own"), { name: "a", files: { same: "" } }, { name: "b", files: { "same/x.py": "" } }] },
    },
    reason: "InstallationFailed",
    says: /^External provider "own" .*: b-1\.0-py3-none-any\.whl cannot be unpacked: (File exists|Not a directory)/,
  },
  {
    name: "a wheel for another architecture",
    images: { own: { wheels: [own("own", { tag: `cp312-cp312-manylinux_2_28_${ARCH}` })] } },
    reason: "ProviderArchitectureMismatch",
    says: new RegExp(`is built for manylinux_2_28_${ARCH}, but this node is linux`),
  },
  {
    name: "a wheel for another Python",
    images: { own: { wheels: [own("own", { tag: "cp39-cp39-any" })] } },
    reason: "ProviderPythonMismatch",
    says: /does not fit Python 3\.\d+ of the server/,
  },
  {
    name: "a wheel that excludes this Python",
    images: { own: { wheels: [own("own", { metadata: ["Requires-Python: <3.10"] })] } },
    reason: "ProviderPythonMismatch",
    says: /needs Python <3\.10; the server runs Python 3/,
  },
  {
    name: "a provider for another version of the server",
    images: { own: { wheels: [own("own", { metadata: ["Requires-Dist: llama-stack<0.7"] })] } },
    reason: "ProviderServerMismatch",
    says: /it requires llama-stack<0\.7, but the server is Llama Stack 0\.7\.3/,
  },
  {
    name: "a provider of Llama Stack on OGX, by its requirements",
    server: "ogx 1.5.0",
    images: { own: { wheels: [own("own", { metadata: ["Requires-Dist: llama-stack>=0.7"] })] } },
    reason: "ProviderServerMismatch",
    says: /it requires llama-stack>=0\.7, but the server is OGX 1\.5\.0/,
  },
  {
    name: "a provider of Llama Stack on OGX, by its code",
    server: "ogx 1.5.0",
    images: { own: { wheels: [own("own")] } },
    reason: "ProviderServerMismatch",
    says: /it imports llama_stack_api, which the server OGX 1\.5\.0 does not have/,
  },
  {
    name: "an image with another version of the server",
    images: { own: { wheels: [own("own"), { name: "llama-stack", version: "0.6", files: {} }] } },
    reason: "ProviderServerMismatch",
    says: /brings llama-stack 0\.6, but the server is Llama Stack 0\.7\.3; remove that wheel/,
  },
  {
    name: "a missing dependency",
    images: { own: { wheels: [own("own", { metadata: ["Requires-Dist: nowhere>=2"] })] } },
    reason: "ProviderDependencyMissing",
    says: /own 1\.0 requires nowhere>=2, which neither the image nor the server has/,
  },
  {
    name: "a missing dependency of an extra",
    images: {
      own: {
        wheels: [
          own("own", { metadata: ["Requires-Dist: helping[more]"] }),
          { name: "helping", files: {}, metadata: ['Requires-Dist: nowhere; extra == "more"'] },
        ],
      },
    },
    reason: "ProviderDependencyMissing",
    says: /requires nowhere, which neither/,
  },
  {
    name: "an import that no wheel declares",
    images: {
      own: {
        wheels: [own("own", { files: providerFiles("own", { server: "llama_stack_api", extra: "import nowhere" }) })],
      },
    },
    reason: "ProviderDependencyMissing",
    says: /it imports nowhere, which neither the image nor the server has/,
  },
  {
    name: "a package without the module provider",
    images: { own: { wheels: [own("own", { files: { "own/__init__.py": "" } })] } },
    reason: "ProviderImportFailed",
    says: /its packages contain no module own\.provider/,
  },
  {
    name: "no get_provider_spec",
    images: { own: { wheels: [own("own", { files: { "own/__init__.py": "", "own/provider.py": "" } })] } },
    reason: "ProviderImportFailed",
    says: /own\.provider cannot be loaded: it has no function get_provider_spec/,
  },
  {
    name: "code that ends the process",
    images: {
      own: { wheels: [own("own", { files: { "own/__init__.py": "", "own/provider.py": "import os; os._exit(7)" } })] },
    },
    reason: "ProviderImportFailed",
    says: /its import ended the process with code 7/,
  },
  {
    name: "two versions of one package in two images",
    images: {
      a: { wheels: [own("a"), { name: "shared", version: "1.0", files: {} }] },
      b: { wheels: [own("b"), { name: "shared", version: "2.0", files: {} }] },
    },
    reason: "ProviderConflict",
    says:
      /^External provider "b" \(image example\/b:1\): the image brings shared 2\.0, and that of external provider "a" \(example\/a:1\) brings shared 1\.0/,
  },
  {
    name: "two versions of one package in one image",
    images: {
      own: { wheels: [own("own"), ...["1.0", "2.0"].map((version) => ({ name: "twice", version, files: {} }))] },
    },
    reason: "ProviderPackagesInvalid",
    says: /has two wheels of twice: 1\.0 and 2\.0/,
  },
  ...[
    ["an absolute path for modules", "own-1.0.data/purelib//tmp/x.py"],
    ["a path through its own folder", "own/./provider.py"],
    ["a path up from modules", "own-1.0.data/platlib/../../x.py"],
    ["an empty part of a path", "own//x.py"],
  ].map(([name = "", path = ""]): Failing => ({
    name: `a wheel with ${name}`,
    images: { own: { wheels: [own("own", { files: { ...OWN, [path]: "" } })] } },
    reason: "ProviderPackagesInvalid",
    says: /own-1\.0-py3-none-any\.whl has a file outside of its folder: /,
  })),
  ...[
    "llama_stack_api.py",
    "llama_stack_api.cpython-312-x86_64-linux-gnu.so",
    "own-1.0.data/purelib/llama_stack_api/__init__.py",
  ].map((path): Failing => ({
    name: `a wheel that replaces the server by ${path}`,
    images: { own: { wheels: [own("own", { files: { ...OWN, [path]: "" } })] } },
    reason: "ProviderPackagesInvalid",
    says: /contains the package llama_stack_api of the server/,
  })),
  {
    name: "a wheel with the metadata of another package",
    images: {
      own: { wheels: [own("own", { files: { ...OWN, "own-1.0.data/purelib/ogx-9.dist-info/METADATA": "" } })] },
    },
    reason: "ProviderPackagesInvalid",
    says: /contains the metadata of another package: ogx-9\.dist-info/,
  },
  {
    name: "a wheel whose METADATA is that of another package",
    images: { own: { wheels: [own("own", { metadata: ["Name: pydantic"] })] } },
    reason: "ProviderPackagesInvalid",
    says: /own-1\.0-py3-none-any\.whl is not a valid wheel: its METADATA is that of pydantic/,
  },
  {
    name: "a wheel with a file name that no file system takes",
    images: { own: { wheels: [own("own", { files: { ...OWN, [`own/${"é".repeat(128)}.py`]: "" } })] } },
    reason: "ProviderPackagesInvalid",
    says: /has a file whose name is too long: own\/é/,
  },
  {
    name: "a wheel that replaces a module of Python",
    images: { own: { wheels: [own("own", { files: { ...OWN, "json/__init__.py": "" } })] } },
    reason: "ProviderPackagesInvalid",
    says: /contains json, a module of the standard library of Python/,
  },
  {
    name: "an encrypted wheel",
    images: { own: { wheels: [own("own", { isEncrypted: true })] } },
    reason: "ProviderPackagesInvalid",
    says: /is not a valid wheel: it is encrypted/,
  },
  {
    name: "a wheel with compression that wheels do not have",
    images: { own: { wheels: [own("own", { compression: "lzma" })] } },
    reason: "ProviderPackagesInvalid",
    says: /is not a valid wheel: it is compressed in an unknown way/,
  },
  ...["own-1.0-py3-none-any(1).whl", "own-1.0-py3-none.whl", "own-one-py3-none-any.whl"].map((file): Failing => ({
    name: `a wheel called ${file}`,
    images: { own: { files: { [`packages/${file}`]: "" } } },
    reason: "ProviderPackagesInvalid",
    says: /\.whl is not a valid wheel/,
  })),
  {
    name: "a wheel named as one of the server, with another content",
    images: {
      own: { wheels: [{ name: "httpx", files: OWN }, { name: "a", files: {}, metadata: ["Requires-Dist: httpx"] }] },
    },
    reason: "ProviderPackagesInvalid",
    says: /httpx-1\.0-py3-none-any\.whl has the name of the package httpx of the server, and another content/,
  },
  {
    name: "a requirement that cannot be evaluated",
    images: { own: { wheels: [own("own", { metadata: ["Requires-Dist: foo; os_name ~= 'x'"] })] } },
    reason: "ProviderPackagesInvalid",
    says: /^External provider "own" .* has an unreadable requirement: foo; os_name/,
  },
  ...[
    ["a tag without a meaning", "kind: !!bool x", /is not valid YAML/],
    ["a time that is none", "kind: !!timestamp x", /is not valid YAML/],
    ["a number of 5000 digits", `apiVersion: ${"1".repeat(5000)}`, /is not valid YAML|apiVersion must be/],
    [
      "a value that contains itself",
      "apiVersion: llamastack.io/v1alpha1\nkind: &a [*a]",
      /kind must be .*, and is a list|is not valid YAML/,
    ],
    ["a value of millions of values", BOMB, /apiVersion must be .*, and is a list|is not valid YAML/],
    ["millions of merged values", MERGES, /is not valid YAML/],
    [
      "a byte that is no text",
      JSON.stringify({ ...SPEC, kind: "\u0000" }),
      /kind must be "ProviderPackage", and is "\\u0000"/,
    ],
    ["a text of a megabyte", `# ${"x".repeat(1 << 20)}`, /lls-provider-spec\.yaml is larger than 65536 bytes/],
  ].map(([name, description, says]): Failing => ({
    name: `a description with ${name}`,
    images: { own: { description: String(description), wheels: [own("own")] } },
    reason: "ProviderMetadataInvalid",
    says: says as RegExp,
  })),
  ...[
    ["wheelPath", 5, /spec\.wheelPath must be a path/],
    ["dependencyWheels", "x.whl", /spec\.dependencyWheels must be a list of paths/],
    ["ignoredDependencies", [{}], /spec\.ignoredDependencies must be a list of names/],
  ].map(([field, value, says]): Failing => ({
    name: `a description with ${field} of another kind`,
    images: described({ spec: { ...SPEC.spec, [String(field)]: value } }),
    reason: "ProviderMetadataInvalid",
    says: says as RegExp,
  })),
  {
    name: "two providers with one type and different code",
    images: Object.fromEntries(
      ["a", "b"].map((id) => [id, {
        description: { providerType: "remote::shared" },
        wheels: [own(id, { files: providerFiles(id, { server: "llama_stack_api", type: "remote::shared" }) })],
      }]),
    ),
    reason: "ProviderConflict",
    says:
      /^External provider "b" \(image example\/b:1\): its type remote::shared is that of external provider "a" \(example\/a:1\) too/,
  },
  ...[
    ["a provider that the config uses", "remote::openai", "remote::openai", ', which its provider "first" uses'],
    ["a provider of the server, by its code alone", "remote::own", "remote::vllm", ""],
  ].map(([name = "", written = "", type = "", by]): Failing => ({
    name: `a type of ${name}`,
    images: {
      own: {
        description: { providerType: written },
        wheels: [own("own", { files: providerFiles("own", { server: "llama_stack_api", type }) })],
      },
    },
    reason: "ProviderConflict",
    says: new RegExp(`its type ${type} is one of the server Llama Stack 0\\.7\\.3${by}; give it a type of its own`),
  })),
  {
    name: "a type in the code that is none",
    images: {
      own: {
        wheels: [own("own", { files: providerFiles("own", { server: "llama_stack_api", type: "remote::a b" }) })],
      },
    },
    reason: "ProviderSpecInvalid",
    says: /has the type "remote::a b"; it must be such as remote::name/,
  },
  {
    name: "a config class that does not exist",
    images: { own: { wheels: [own("own", { files: { ...OWN, "own/__init__.py": "def get_adapter_impl(): pass" } })] } },
    reason: "ProviderSpecInvalid",
    says: /own\.provider has the config_class own\.Config, which cannot be imported: AttributeError/,
  },
  {
    name: "a list of specs on a server that takes one",
    server: "llama-stack 0.2.24",
    images: { own: { wheels: [own("own", { files: LISTED })] } },
    reason: "ProviderSpecInvalid",
    says: /returns a list, which Llama Stack 0\.2\.24 does not support; return one spec/,
  },
  {
    name: "a result that is none",
    images: { own: { wheels: [own("own", { files: { ...OWN, "own/provider.py": WRITES("[1]") } })] } },
    reason: "ProviderImportFailed",
    says: /reported nothing that can be understood/,
  },
  {
    name: "a result of megabytes",
    images: { own: { wheels: [own("own", { files: { ...OWN, "own/provider.py": WRITES("x".repeat(9)) } })] } },
    reason: "ProviderImportFailed",
    says: /its import reported too much/,
  },
  {
    name: "an error with what UTF-8 cannot express",
    images: {
      own: {
        wheels: [own("own", { files: { ...OWN, "own/provider.py": "raise ValueError('\\ud800 \\U0001F600')" } })],
      },
    },
    reason: "ProviderImportFailed",
    says: /ValueError: \? 😀$/,
  },
  {
    name: "two providers with one Python package",
    images: {
      a: { wheels: [own("a")] },
      b: { wheels: [own("b"), { name: "b-extra", files: { "a/__init__.py": "other" } }] },
    },
    reason: "ProviderConflict",
    says: /both contain a\/__init__\.py/,
  },
];

for (const { name, images, reason, says, server = LLAMA_STACK } of FAILING) {
  Deno.test(`the script rejects ${name}, and writes no config`, () =>
    prepared(server, images, ({ code, report, config, reportText }) => {
      deepStrictEqual([code, report.ok, report.reason], [1, false, reason], JSON.stringify(report));
      match(report.message ?? "", says);
      strictEqual(config, undefined);
      ok(new TextEncoder().encode(reportText).length <= 4096);
    }));
}

Deno.test("a dependency of the server stays if it is good enough, and is replaced with a warning if it is not", () =>
  prepared(LLAMA_STACK, {
    own: {
      wheels: [
        own("own", { metadata: ["Requires-Dist: idna>=2", "Requires-Dist: certifi<2000"] }),
        { name: "idna", version: "2.0", files: { "idna/old.py": "" } },
        { name: "certifi", version: "1999.1", files: { "certifi/old.py": "" } },
      ],
    },
  }, async ({ code, report, folder }) => {
    strictEqual(code, 0, JSON.stringify(report));
    const names = await Array.fromAsync(Deno.readDir(join(folder, "packages")), ({ name }) => name);
    deepStrictEqual(["idna", "certifi"].map((name) => names.includes(name)), [false, true]);
    match((report.warnings ?? []).join("\n"), /certifi 1999\.1 replaces [0-9.]+ of the server/);
  }));

Deno.test("the type of the code counts, with a warning, and an ignored dependency may be missing", () =>
  prepared(LLAMA_STACK, {
    own: {
      description: { providerType: "remote::written", more: { ignoredDependencies: ["No_Where"] } },
      wheels: [own("own", { metadata: ["Requires-Dist: no-where"] })],
    },
  }, ({ code, report, config }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.providers?.map(({ type }) => type), ["remote::own"]);
    match((report.warnings ?? []).join(), /declares type remote::written; its code, which counts, has remote::own/);
    ok(JSON.stringify(config).includes('"provider_type":"remote::own"'));
  }));

Deno.test("every report fits into what Kubernetes keeps, and loses the least important parts first", async () => {
  const { python } = await installServer(LLAMA_STACK);
  const folder = fileURLToPath(new URL("../../core/resources", import.meta.url));
  const { code, stdout, stderr } = await ended(python, [
    "-B",
    "-c",
    BOUNDED,
    folder,
    JSON.stringify(TEXTS),
    JSON.stringify(MOST),
  ]);
  strictEqual(code, 0, stderr);
  const [few, many, most, failed, ...short] = JSON.parse(stdout) as ReadonlyArray<string>;
  for (const text of [few, many, most, failed]) ok(new TextEncoder().encode(text).length <= 4096);
  const parts = (text = "") => Object.keys(JSON.parse(text));
  deepStrictEqual([few, many, most, failed].map(parts), [
    ["ok", "providers", "warnings"],
    ["ok", "providers"],
    ["ok"],
    ["ok", "id", "reason", "message"],
  ]);
  ok(failed?.includes("€".repeat(1000)));
  strictEqual(short.length, TEXTS.length * MOST.length);
  for (const [index, text] of short.entries()) {
    const bytes = new TextEncoder().encode(text).length;
    const most = MOST[index % MOST.length] ?? 0;
    ok(bytes <= most && bytes > most - 16, `${bytes} of ${most}`);
    const { id, reason, message } = JSON.parse(text) as Report;
    deepStrictEqual([id, reason], ["own", "ProviderImportFailed"]);
    match(message ?? "", /^External provider "own": ./);
  }
});

/** What 61, 12 and 7 containers leave to each, in bytes, and characters that take more or less of it. */
const MOST = [200, 1024, 1755];
const TEXTS = ["plain ", "設定が無効です", "😀", '"\\\n', "\u001b[31m", "\ud800"].map((text) =>
  text.repeat(2000).slice(0, 2000)
);

const BOUNDED = `
import json, sys
TEXTS, MOST = json.loads(sys.argv[2]), json.loads(sys.argv[3])
sys.path.insert(0, sys.argv[1])
import prepare_providers
def of(count, warnings):
    providers = [{"id": f"provider-{i:037}", "version": "1.0.0", "type": "remote::x"} for i in range(count)]
    report = {"ok": True, "providers": providers, "warnings": ["w" * 200] * warnings}
    return prepare_providers.bounded(report, 4096).decode()
def failed(most, text):
    about = 'External provider "own" (image example/own:1): '
    report = {"ok": False, "id": "own", "reason": "ProviderImportFailed", "message": about + text}
    return prepare_providers.bounded(report, most).decode()
print(json.dumps([of(2, 2), of(48, 4), of(144, 1), failed(4096, "\u20ac" * 1400), *(failed(most, text) for text in TEXTS for most in MOST)]))
`;

Deno.test("a process that a provider leaves behind is ended, and does not hold up the installation", () =>
  prepared(LLAMA_STACK, {
    own: {
      wheels: [
        own("own", { files: { ...OWN, "own/__init__.py": `${LEFT_BEHIND}\n${OWN["own/__init__.py"]}` } }),
      ],
    },
  }, async ({ code, report, folder }) => {
    strictEqual(code, 0, JSON.stringify(report));
    const pid = await Deno.readTextFile(join(folder, "packages", "own", "pid"));
    // Of a process that ended and that nobody waits for, the state Z remains.
    const state = () => Deno.readTextFile(`/proc/${pid}/stat`).catch(() => ") Z");
    await until("it has ended", async () => /\) [ZX]/.test(await state()));
  }));

const LEFT_BEHIND = `
import os, time
pid = os.fork()
if pid == 0:
    time.sleep(3600)
    os._exit(0)
with open(os.path.join(os.path.dirname(__file__), "pid"), "w") as file:
    file.write(str(pid))
`;

Deno.test("files keep the permission to execute, and folders that nobody may write are replaced", () =>
  prepared(LLAMA_STACK, {
    own: { wheels: [own("own", { files: { ...OWN, "own/tool": "" }, executable: ["own/tool"] })] },
  }, async (first, again) => {
    strictEqual(first.code, 0, JSON.stringify(first.report));
    const packages = join(first.folder, "packages");
    const modeOf = async (path: string) => ((await Deno.stat(join(packages, path))).mode ?? 0) & 0o111;
    deepStrictEqual([await modeOf("own/tool"), await modeOf("own/provider.py")], [0o111, 0]);
    await writeImage(join(first.folder, "images", "own"), "own", { wheels: [own("own")] });
    for (const path of [join(packages, "own"), join(first.folder, "images", "own", "packages")]) {
      await Deno.chmod(path, 0o555);
    }
    const second = await again();
    strictEqual(second.code, 0, JSON.stringify(second.report));
    strictEqual(await Deno.stat(join(packages, "own", "tool")).catch(() => undefined), undefined);
    strictEqual(await Deno.stat(join(first.folder, "images")).catch(() => undefined), undefined);
  }));

Deno.test("what builders do in different ways is accepted", () =>
  prepared(LLAMA_STACK, {
    own: {
      description: [
        "apiVersion: llamastack.io/v1alpha1",
        "kind: ProviderPackage",
        "metadata: { name: own, version: 2024-01-05, vendor: v }",
        "spec:",
        "  { packageName: own, providerType: 'remote::own', api: inference, wheelPath: ./packages/own-1.0-py3-none-any.whl }",
      ].join("\n"),
      wheels: [
        own("own", {
          files: {
            "own/__init__.py": OWN["own/__init__.py"] ?? "",
            "own-1.0.data/purelib/own/provider/__init__.py": OWN["own/provider.py"] ?? "",
          },
          metadata: ["Author: Jörg"],
          encoding: "latin-1",
        }),
      ],
    },
  }, ({ code, report }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.providers?.map(({ version }) => version), ["2024-01-05"]);
  }));

Deno.test("a package in place of one of the server is installed with a warning, and one in a shared folder without", () =>
  prepared(LLAMA_STACK, {
    own: { wheels: [own("own", { files: { ...OWN, "idna/__init__.py": "", "certifi/own.txt": "" } })] },
  }, ({ code, report }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.warnings, [
      'External provider "own": own-1.0-py3-none-any.whl contains idna, and replaces that of idna of the server',
    ]);
  }));

Deno.test("two entries may use one provider, each with a config of its own", () =>
  prepared(LLAMA_STACK, {
    a: { description: { packageName: "own", providerType: "remote::own" }, wheels: [own("own")] },
    b: { description: { packageName: "own", providerType: "remote::own" }, wheels: [own("own")] },
  }, ({ code, report }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.providers?.map(({ type }) => type), ["remote::own", "remote::own"]);
  }));

Deno.test("two versions of one provider are a conflict", () =>
  prepared(LLAMA_STACK, {
    a: { description: { packageName: "own", providerType: "remote::own" }, wheels: [own("own")] },
    b: { description: { packageName: "own", providerType: "remote::own" }, wheels: [own("own", { version: "2.0" })] },
  }, ({ report }) => {
    strictEqual(report.reason, "ProviderConflict");
    match(report.message ?? "", /the image brings own 2\.0, and that of external provider "a"/);
  }));

Deno.test("provider check and the script do not follow links out of the image, and wait for no pipe", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const image = join(folder, "image");
    await writeImage(join(folder, "other"), "own", { wheels: [own("own")] });
    await writeImage(image, "own", { wheels: [] });
    const wheel = "own-1.0-py3-none-any.whl";
    await Deno.symlink(join(folder, "other", "packages", wheel), join(image, "packages", wheel));
    await must("mkfifo", [join(image, "packages", "pipe-1.0-py3-none-any.whl")]);
    const problems = async () =>
      providerProblems(await Effect.runPromise(folderAt(image)), undefined).map(({ message }) => message);
    deepStrictEqual(await problems(), [
      `${wheel} is not a valid wheel: it is not a file of the image`,
      "pipe-1.0-py3-none-any.whl is not a valid wheel: it is not a file of the image",
    ]);
    await Deno.remove(join(image, "lls-provider-spec.yaml"));
    await must("mkfifo", [join(image, "lls-provider-spec.yaml")]);
    deepStrictEqual(await problems(), ["the image has no file /lls-provider/lls-provider-spec.yaml"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what a provider prints cannot change the result", () =>
  prepared(LLAMA_STACK, {
    own: {
      wheels: [
        own("own", {
          files: providerFiles("own", { server: "llama_stack_api", extra: "print('{\"specs\": []}', flush=True)" }),
        }),
      ],
    },
  }, ({ code, report }) => {
    strictEqual(code, 0, JSON.stringify(report));
    deepStrictEqual(report.providers?.map(({ type }) => type), ["remote::own"]);
  }));
