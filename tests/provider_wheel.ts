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
  /** Paths of files with permission to execute. */
  readonly executable?: ReadonlyArray<string>;
  readonly compression?: "deflated" | "lzma";
  /** Of METADATA. */
  readonly encoding?: "utf-8" | "latin-1";
  /** Whether the archive says that it is encrypted. */
  readonly isEncrypted?: boolean;
}

/** Writes the wheel into the folder and returns the name of its file. */
export const makeWheel = async (
  folder: string,
  content: WheelContent,
): Promise<string> => {
  const { name, version = "1.0", files, metadata = [], tag = "py3-none-any", claimed = {} } = content;
  const info = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const file = `${name.replaceAll("-", "_")}-${version}-${tag}.whl`;
  const all = {
    ...files,
    [`${info}/METADATA`]: [
      "Metadata-Version: 2.1",
      ...(metadata.some((line) => line.startsWith("Name: ")) ? [] : [`Name: ${name}`]),
      `Version: ${version}`,
      ...metadata,
      "",
    ].join("\n"),
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  };
  const { path } = await findPython();
  const { executable = [], compression = "deflated", encoding = "utf-8", isEncrypted = false } = content;
  const options = { executable, compression: compression.toUpperCase(), encoding, isEncrypted, claimed };
  await must(path, ["-c", ZIP, join(folder, file), `${info}/RECORD`, JSON.stringify(all), JSON.stringify(options)]);
  return file;
};

const ZIP = `
import base64, hashlib, json, sys, zipfile
path, record, files, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
data = {name: text.encode(options["encoding"] if name.endswith("/METADATA") else "utf-8") for name, text in files.items()}
claimed = {name: text.encode() for name, text in options["claimed"].items()}
digest = lambda bytes: base64.urlsafe_b64encode(hashlib.sha256(bytes).digest()).decode().rstrip("=")
with zipfile.ZipFile(path, "w") as archive:
    def write(name, bytes):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = getattr(zipfile, "ZIP_" + options["compression"])
        entry.external_attr = (0o100755 if name in options["executable"] else 0o100644) << 16
        archive.writestr(entry, bytes)
    for name, bytes in data.items():
        write(name, bytes)
    lines = [f"{name},sha256={digest(claimed.get(name, bytes))},{len(bytes)}" for name, bytes in data.items()]
    write(record, ("\\n".join([*lines, f"{record},,"]) + "\\n").encode())
if options["isEncrypted"]:
    with open(path, "r+b") as file:
        bytes = bytearray(file.read())
        at = bytes.find(b"PK\\1\\2")
        while at >= 0:
            bytes[at + 8] |= 1
            at = bytes.find(b"PK\\1\\2", at + 4)
        file.seek(0)
        file.write(bytes)
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
