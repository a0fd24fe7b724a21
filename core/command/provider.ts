/** `provider check` and `provider pack`: images of external providers, for those who build them. */
import * as Result from "effect/Result";
import { serverOf, SUPPORTED_SERVERS } from "../config/servers/families/families.ts";
import {
  canonicalNames,
  DESCRIBED_APIS,
  DESCRIPTION_FILE,
  IMAGE_FOLDER,
  PACKAGE_NAME,
  pathInFolder,
  PROVIDER_TYPE,
  type ProviderDescription,
  readDescription,
} from "../image/provider_description.ts";
import { productOf, providerPackages, unconditional, type Wheel } from "../image/wheel.ts";
import { lines, type Outcome } from "./outcome.ts";

/** The content of `/lls-provider`, as a folder. */
export interface ProviderFolder {
  readonly name: string;
  /** Of lls-provider-spec.yaml; undefined if there is none. */
  readonly description: string | undefined;
  /** Of the folder `packages`, in the order of their names; a failure is a sentence. */
  readonly wheels: ReadonlyArray<Result.Result<Wheel, string>>;
  /** All files by their path in the folder. */
  readonly files: ReadonlyArray<string>;
}

export interface CheckOptions {
  /** Undefined: any server. */
  readonly serverVersion: string | undefined;
}

/** The text of what is wrong, without the name of the folder; empty if nothing is. */
export const providerProblems = (folder: ProviderFolder, server: string | undefined): ReadonlyArray<string> => {
  if (folder.description === undefined) return [`the image has no file ${IMAGE_FOLDER}${DESCRIPTION_FILE}`];
  const read = readDescription(folder.description);
  const wheels = folder.wheels.filter(Result.isSuccess).map(({ success }) => success);
  const invalid = folder.wheels.filter(Result.isFailure).map(({ failure }) => failure);
  const general = [
    ...(folder.wheels.length === 0 ? [`the image has no wheel in ${IMAGE_FOLDER}packages`] : []),
    ...invalid,
    ...twice(wheels),
    ...wheels.flatMap((wheel) => otherProduct(wheel, server)),
  ];
  if (Result.isFailure(read)) return [read.failure, ...general];
  const { problems, paths, description: { packageName } } = read.success;
  return [
    ...problems,
    ...paths.filter((path) => !folder.files.includes(pathInFolder(path))).map((path) =>
      `the image has no file ${path.slice(0, 200)}, which ${DESCRIPTION_FILE} names`
    ),
    ...general,
    // A wheel that cannot be read may contain it.
    ...(packageName === "" || wheels.length === 0 || invalid.length > 0 ||
        wheels.some((wheel) => providerPackages(wheel).includes(packageName))
      ? []
      : [`its packages contain no module ${packageName}.provider`]),
  ];
};

const twice = (wheels: ReadonlyArray<Wheel>): ReadonlyArray<string> =>
  wheels.flatMap((wheel, index) => {
    const other = wheels.slice(0, index).find(({ name }) => name === wheel.name);
    return other === undefined
      ? []
      : [`the image has two wheels of ${wheel.name}: ${other.version} and ${wheel.version}; remove one of them`];
  });

const otherProduct = (wheel: Wheel, version: string | undefined): ReadonlyArray<string> => {
  const [wanted, server] = [productOf(wheel), version === undefined ? undefined : serverOf(version)];
  if (wanted === undefined || server === undefined || server.family.servers.startsWith(wanted)) return [];
  return [`${wheel.file} is written for ${wanted}, and not for ${server.family.servers}`];
};

export const providerCheckCommand = (folder: ProviderFolder, { serverVersion }: CheckOptions): Outcome => {
  if (serverVersion !== undefined && serverOf(serverVersion) === undefined) {
    return failed(`${serverVersion} is not a supported version; supported are ${SUPPORTED_SERVERS.join(", ")}`);
  }
  const problems = providerProblems(folder, serverVersion);
  if (problems.length > 0) {
    return { stdout: lines(problems.map((problem) => `${folder.name}: ${problem}`)), stderr: "", code: 1 };
  }
  const { description, ignored } = Result.getOrThrow(readDescription(folder.description ?? ""));
  const wheels = folder.wheels.map(Result.getOrThrow);
  const there = [...wheels.map(({ name }) => name), ...canonicalNames(ignored)];
  const needed = [...new Set(wheels.flatMap(({ requires }) => requires.flatMap((item) => unconditional(item) ?? [])))]
    .filter((name) => !there.includes(name)).sort();
  const { name, version, api, providerType, packageName } = description;
  return {
    stdout: lines([
      `${folder.name}: ${name} ${version} is a provider of the ${api} API: ${providerType} in ${packageName}`,
      ...wheels.map((wheel) => `  ${wheel.file}`),
      ...(needed.length === 0 ? [] : [`The server must have: ${needed.join(", ")}`]),
    ]),
    stderr: "",
    code: 0,
  };
};

export interface PackOptions {
  readonly api: string;
  readonly providerType: string;
  /** Undefined: the only package with a module `provider`. */
  readonly packageName: string | undefined;
  readonly vendor: string | undefined;
  readonly base: string;
  readonly format: "containerfile" | "description";
}

/** A wheel, and the path under which the Containerfile finds it. */
export interface PackedWheel {
  readonly path: string;
  readonly wheel: Result.Result<Wheel, string>;
}

export const providerPackCommand = (packed: ReadonlyArray<PackedWheel>, options: PackOptions): Outcome => {
  const { api, providerType, base, format } = options;
  const broken = packed.map(({ wheel }) => wheel).find(Result.isFailure);
  if (broken !== undefined) return failed(broken.failure);
  if (!DESCRIBED_APIS.includes(api)) return failed(`--api ${api}: use one of ${DESCRIBED_APIS.join(", ")}`);
  if (!PROVIDER_TYPE.test(providerType)) return failed(`--type ${providerType}: use remote::NAME or inline::NAME`);
  const outside = packed.find(({ path }) => !/^[A-Za-z0-9_.+!/-]+$/.test(path) || /^\/|(^|\/)\.\.(\/|$)/.test(path));
  if (outside !== undefined) {
    return failed(`${outside.path}: name wheels by a relative path below the folder of the Containerfile`);
  }
  const wheels = packed.map(({ wheel }) => Result.getOrThrow(wheel));
  const doubled = twice(wheels)[0];
  if (doubled !== undefined) return failed(doubled);
  const candidates = wheels.flatMap((wheel) => providerPackages(wheel).map((name) => ({ wheel, name })));
  const chosen = options.packageName === undefined
    ? candidates.filter(({ name }) => name.split(".").length === candidates[0]?.name.split(".").length)
    : candidates.filter(({ name }) => name === options.packageName);
  const [main, ...others] = chosen;
  if (main === undefined) {
    return failed(
      options.packageName === undefined || !PACKAGE_NAME.test(options.packageName)
        ? "no wheel contains a package with a module provider"
        : `no wheel contains the module ${options.packageName}.provider`,
    );
  }
  if (others.length > 0) {
    return failed(`name one package with --package: ${chosen.map(({ name }) => name).join(", ")}`);
  }
  const { wheel } = main;
  const description = { name: wheel.name, version: wheel.version, vendor: options.vendor ?? wheel.author ?? "unknown" };
  return {
    stdout: format === "description"
      ? descriptionText({ ...description, packageName: main.name, providerType, api })
      : lines([
        `FROM ${base}`,
        `COPY ${DESCRIPTION_FILE} ${IMAGE_FOLDER}`,
        ...packed.map(({ path }) => `COPY ${path} ${IMAGE_FOLDER}packages/`),
      ]),
    stderr: "",
    code: 0,
  };
};

/** Every value is quoted as in JSON, which is YAML as well. */
const descriptionText = (description: ProviderDescription): string => {
  const { name, version, vendor, packageName, providerType, api } = description;
  return lines([
    "apiVersion: llamastack.io/v1alpha1",
    "kind: ProviderPackage",
    "metadata:",
    ...Object.entries({ name, version, vendor }).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
    "spec:",
    ...Object.entries({ packageName, providerType, api }).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
  ]);
};

const failed = (sentence: string): Outcome => ({ stdout: "", stderr: lines([sentence]), code: 1 });
