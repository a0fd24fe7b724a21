/** Small wheels for tests, as the wheel format has them. */
import { join } from "node:path";
import { findPython } from "../tools/install/python_server.ts";
import { must } from "../tools/install/run_program.ts";

export interface WheelContent {
  readonly name: string;
  readonly version?: string;
  /** Texts by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Lines of METADATA such as `Requires-Dist: a`. */
  readonly metadata?: ReadonlyArray<string>;
  /** Python, ABI and platform. */
  readonly tag?: string;
  /** Texts by path that RECORD claims in place of the real ones. */
  readonly claimed?: Readonly<Record<string, string>>;
}

/** Writes the wheel into the folder and returns the name of its file. */
export const makeWheel = async (
  folder: string,
  { name, version = "1.0", files, metadata = [], tag = "py3-none-any", claimed = {} }: WheelContent,
): Promise<string> => {
  const info = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const file = `${name.replaceAll("-", "_")}-${version}-${tag}.whl`;
  const all = {
    ...files,
    [`${info}/METADATA`]: ["Metadata-Version: 2.1", `Name: ${name}`, `Version: ${version}`, ...metadata, ""].join("\n"),
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  };
  const { path } = await findPython();
  await must(path, ["-c", ZIP, join(folder, file), `${info}/RECORD`, JSON.stringify(all), JSON.stringify(claimed)]);
  return file;
};

const ZIP = `
import base64, hashlib, json, sys, zipfile
path, record, files, claimed = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, text in files.items():
        archive.writestr(name, text)
    lines = [f"{name},sha256={digest(claimed.get(name, text))},{len(text)}" for name, text in files.items()]
    archive.writestr(record, "\\n".join([*lines, f"{record},,"]) + "\\n")
`;

export interface Description {
  readonly packageName: string;
  readonly providerType: string;
  readonly api: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The text of lls-provider-spec.yaml; JSON is YAML as well. */
export const description = ({ packageName, providerType, api, more = {} }: Description, version = "1.0"): string =>
  JSON.stringify({
    apiVersion: "llamastack.io/v1alpha1",
    kind: "ProviderPackage",
    metadata: { name: "test", version, vendor: "tests" },
    spec: { packageName, providerType, api, ...more },
  });

/** The code of a provider that loads on `server` and does nothing. */
export const providerFiles = (
  name: string,
  { api = "inference", type = `remote::${name}`, server = "ogx_api", extra = "" } = {},
): Readonly<Record<string, string>> => ({
  [`${name}/__init__.py`]: [
    extra,
    "class Config:",
    "    pass",
    "async def get_adapter_impl(config, deps):",
    "    raise NotImplementedError",
    "",
  ].join("\n"),
  [`${name}/provider.py`]: [
    `from ${server} import Api, RemoteProviderSpec`,
    "def get_provider_spec():",
    `    return RemoteProviderSpec(api=Api.${api}, provider_type="${type}", adapter_type="${name}",`,
    `        module="${name}", config_class="${name}.Config")`,
    "",
  ].join("\n"),
});
