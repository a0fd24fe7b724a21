/** `provider check` and `provider pack`: images of external providers, for those who build them. */
import * as Result from "effect/Result";
import { apiOn, serverName, serverOf, SUPPORTED_SERVERS } from "../config/servers/families/families.ts";
import {
  DESCRIBED_APIS,
  DESCRIPTION_FILE,
  IMAGE_FOLDER,
  PACKAGE_NAME,
  pathInFolder,
  PROVIDER_TYPE,
  type ProviderDescription,
  type ProviderProblem,
  type ReadDescription,
  readDescription,
  tabProblems,
} from "../config/provider_description.ts";
import { missingFile, otherServer, problemsOfWheels, shownRequirement, twice } from "../config/provider_judgement.ts";
import { type LabelledWheel, providerLabels } from "../image/provider_labels.ts";
import { canonicalProject, providerPackages, unconditional, type Wheel } from "../image/wheel.ts";
import { isImageReference } from "../data/image_reference.ts";
import { onOneLine } from "../data/printable.ts";
import { failed, lines, type Outcome } from "./outcome.ts";

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

/** What is wrong; empty if nothing is. */
export const providerProblems = (
  folder: ProviderFolder,
  serverVersion: string | undefined,
): ReadonlyArray<ProviderProblem> => {
  if (folder.description === undefined) {
    const message = `the image has no file ${IMAGE_FOLDER}${DESCRIPTION_FILE}`;
    return [{ reason: "ProviderMetadataMissing", message }];
  }
  const read = readDescription(folder.description);
  const wheels = folder.wheels.filter(Result.isSuccess).map(({ success }) => success);
  const general = [
    ...problemsOfWheels(folder.wheels),
    ...wheels.flatMap((wheel) => otherServer(wheel, serverVersion)),
  ];
  if (Result.isFailure(read)) return [{ reason: "ProviderMetadataInvalid", message: read.failure }, ...general];
  const { problems, paths, description: { packageName } } = read.success;
  return [
    ...problems,
    ...tabProblems(folder.description),
    ...apiProblems(read.success, serverVersion),
    ...paths.filter((path) => !folder.files.includes(pathInFolder(path))).map(missingFile),
    ...general,
    // A wheel that cannot be read may contain it.
    ...(packageName === "" || wheels.length === 0 || wheels.length < folder.wheels.length ||
        wheels.some((wheel) => providerPackages(wheel).includes(packageName))
      ? []
      : [
        {
          reason: "ProviderImportFailed",
          message: `its packages contain no module ${packageName}.provider`,
        } as const,
      ]),
  ];
};

/** What the pod would only find when it imports the provider. */
export const apiProblems = (
  { description: { api } }: ReadDescription,
  serverVersion: string | undefined,
): ReadonlyArray<ProviderProblem> => {
  const server = serverVersion === undefined ? undefined : serverOf(serverVersion);
  return server === undefined || api === "" || apiOn(server, api) !== undefined ? [] : [{
    reason: "ProviderServerMismatch",
    message: `it is a provider of the ${api} API, which ${serverName(server.version)} does not have`,
  }];
};

export const providerCheckCommand = (folder: ProviderFolder, { serverVersion }: CheckOptions): Outcome => {
  const unsupported = unsupportedServer(serverVersion);
  if (unsupported !== undefined) return failed(unsupported);
  const problems = providerProblems(folder, serverVersion);
  if (problems.length > 0) return problemsOutcome(folder.name, problems);
  const read = Result.getOrThrow(readDescription(folder.description ?? ""));
  return {
    stdout: lines(summaryOf(folder.name, read, folder.wheels.map(Result.getOrThrow))),
    stderr: "",
    code: 0,
  };
};

/** A sentence; undefined if no version is named, or a supported one. */
export const unsupportedServer = (version: string | undefined): string | undefined =>
  version === undefined || serverOf(version) !== undefined
    ? undefined
    : `${version} is not a supported version; supported are ${SUPPORTED_SERVERS.join(", ")}`;

export const problemsOutcome = (name: string, problems: ReadonlyArray<ProviderProblem>): Outcome => ({
  stdout: lines(problems.map(({ message }) => `${name}: ${shown(message)}`)),
  stderr: "",
  code: 1,
});

/** What an image contains, and what the server must have for it. */
export const summaryOf = (
  image: string,
  { description, ignored }: ReadDescription,
  wheels: ReadonlyArray<LabelledWheel>,
): ReadonlyArray<string> => {
  const there = [...wheels.map(({ name }) => name), ...ignored.map(canonicalProject)];
  const needed = [
    ...new Set(
      wheels.flatMap(({ requires }) =>
        requires.filter((item) => {
          const name = unconditional(item);
          return name !== undefined && !there.includes(name);
        }).map(shownRequirement)
      ),
    ),
  ].sort();
  const { name, version, api, providerType, packageName } = description;
  return [
    `${image}: ${shown(`${name} ${version}`)} is a provider of the ${api} API: ${providerType} in ${packageName}`,
    ...wheels.map((wheel) => `  ${wheel.file}`),
    ...(needed.length === 0 ? [] : [`The server must have: ${needed.join(", ")}`]),
  ];
};

/** An image may contain any text. */
const shown = (text: string): string => onOneLine(text, SHOWN_CHARACTERS_MAX);
const SHOWN_CHARACTERS_MAX = 2000;

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
  if (!isImageReference(base)) {
    return failed(`--base ${onOneLine(base, SHOWN_CHARACTERS_MAX)}: not a valid image reference`);
  }
  if (options.vendor?.trim() === "") return failed("--vendor must not be empty");
  const outside = packed.find(({ path }) => !/^[A-Za-z0-9_.+!/-]+$/.test(path) || /^\/|(^|\/)\.\.(\/|$)/.test(path));
  if (outside !== undefined) {
    return failed(`${outside.path}: name wheels by a relative path below the folder of the Containerfile`);
  }
  const wheels = packed.map(({ wheel }) => Result.getOrThrow(wheel));
  const doubled = twice(wheels)[0];
  if (doubled !== undefined) return failed(doubled.message);
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
  const text = descriptionText({ ...description, packageName: main.name, providerType, api });
  if (format === "description") return { stdout: text, stderr: "", code: 0 };
  const labels = providerLabels(text, wheels);
  return {
    stdout: lines([
      `FROM ${base}`,
      // The user of the pod reads them, whatever their permissions are here.
      `COPY --chmod=644 ${DESCRIPTION_FILE} ${IMAGE_FOLDER}`,
      ...packed.map(({ path }) => `COPY --chmod=644 ${path} ${IMAGE_FOLDER}packages/`),
      ...labels.map(([label, value]) => `LABEL ${label}="${value}"`),
    ]),
    stderr: labels.length < 2
      ? lines(["the description or the wheels are too long for a label, which is left out"])
      : "",
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
