/**
 * Why providers cannot be installed, as far as the labels of their images say it: the rules, reasons and sentences of
 * prepare_providers.py. What depends on what is installed in the server image is left to it: the Python, and whether packages
 * of two providers conflict, since none of them is installed if the server has one that is good enough. The type is too,
 * since that of the code counts.
 */
import * as Result from "effect/Result";
import { productOf, serverName } from "./servers/families/families.ts";
import {
  DESCRIPTION_FILE,
  IMAGE_FOLDER,
  pathInFolder,
  type ProviderProblem,
  type ProviderReason,
  readDescription,
  tabProblems,
} from "./provider_description.ts";
import type { LabelledWheel, ListedWheel, ReadProviderLabels } from "../image/provider_labels.ts";
import { productOfPackage, unconditional } from "../image/wheel.ts";

export interface JudgedFor {
  /** As the config of the server calls it; undefined where the image is in no resource. */
  readonly api: string | undefined;
  /** Undefined: any server. */
  readonly serverVersion: string | undefined;
}

/** Of one image; empty if it says nothing. */
export const problemsInLabels = (
  labels: ReadProviderLabels,
  { api, serverVersion }: JudgedFor,
): ReadonlyArray<ProviderProblem> => {
  // The image itself may be in order.
  if (Result.isFailure(labels)) return [];
  const { description, wheels } = labels.success ?? {};
  return [
    ...(description === undefined ? [] : ofDescription(description, api, wheels?.map(({ file }) => file))),
    ...(wheels === undefined ? [] : problemsOfNames(wheels).certain),
    ...(wheels ?? []).map(({ wheel }) => wheel).filter(Result.isSuccess).flatMap(({ success }) =>
      otherServer(success, serverVersion)
    ),
  ];
};

/** What whoever builds the image should correct, although the pod may accept it: Python reads more YAML, and more names of wheels. */
export const unusableLabels = (labels: ReadProviderLabels): ReadonlyArray<ProviderProblem> => {
  if (Result.isFailure(labels)) return [problem("ProviderMetadataInvalid", labels.failure.message)];
  const { description, wheels } = labels.success ?? {};
  const read = description === undefined ? undefined : readDescription(description, undefined);
  return [
    ...(description === undefined ? [] : tabProblems(description)),
    ...(read === undefined || Result.isSuccess(read) ? [] : [problem("ProviderMetadataInvalid", read.failure)]),
    ...(wheels === undefined ? [] : problemsOfNames(wheels).others),
  ];
};

/** Python also accepts other letters than those of ASCII in names of wheels: what they cause may be none. */
const problemsOfNames = (listed: ReadonlyArray<ListedWheel>) => {
  const plain = listed.filter(({ file }) => ASCII.test(file));
  const of = (some: ReadonlyArray<ListedWheel>) => problemsOfWheels(some.map(({ wheel }) => wheel));
  const certain = plain.length === 0 && listed.length > 0 ? [] : of(plain);
  const known = new Set(certain.map(({ message }) => message));
  return { certain, others: of(listed).filter(({ message }) => !known.has(message)) };
};

// deno-lint-ignore no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

const problem = (reason: ProviderReason, message: string): ProviderProblem => ({ reason, message });

const ofDescription = (
  text: string,
  api: string | undefined,
  /** Names of the wheels; undefined: they are not known. */
  files: ReadonlyArray<string> | undefined,
): ReadonlyArray<ProviderProblem> =>
  Result.match(readDescription(text, api), {
    // Python's reader accepts more: duplicate keys, further tags, deeper nesting.
    onFailure: () => [],
    onSuccess: ({ problems, paths }) => [
      ...problems,
      ...paths.filter((path) => {
        const [, file] = /^packages\/([^/]+\.whl)$/.exec(pathInFolder(path)) ?? [];
        return file !== undefined && files !== undefined && !files.includes(file);
      }).map(missingFile),
    ],
  });

/** Of a path in the description. */
export const missingFile = (path: string): ProviderProblem =>
  problem("ProviderPackagesMissing", `the image has no file ${path.slice(0, 200)}, which ${DESCRIPTION_FILE} names`);

type Named = Pick<LabelledWheel, "name" | "version">;

/** Of all wheels of one image; failures are sentences. */
export const problemsOfWheels = (
  wheels: ReadonlyArray<Result.Result<Named, string>>,
): ReadonlyArray<ProviderProblem> => [
  ...(wheels.length === 0
    ? [problem("ProviderPackagesMissing", `the image has no wheel in ${IMAGE_FOLDER}packages`)]
    : []),
  ...wheels.filter(Result.isFailure).map(({ failure }) => problem("ProviderPackagesInvalid", failure)),
  ...twice(wheels.filter(Result.isSuccess).map(({ success }) => success)),
];

/** Wheels of one package. */
export const twice = (wheels: ReadonlyArray<Named>): ReadonlyArray<ProviderProblem> =>
  wheels.flatMap((wheel, index) => {
    const other = wheels.slice(0, index).find(({ name }) => name === wheel.name);
    return other === undefined ? [] : [
      problem(
        "ProviderPackagesInvalid",
        `the image has two wheels of ${wheel.name}: ${other.version} and ${wheel.version}; remove one of them`,
      ),
    ];
  });

/** What is written for the other product: a server has the packages of one of them only. */
export const otherServer = (
  { name, version, requires }: Pick<LabelledWheel, "name" | "version" | "requires">,
  serverVersion: string | undefined,
): ReadonlyArray<ProviderProblem> => {
  if (serverVersion === undefined) return [];
  const isOther = (packageName: string) => {
    const product = productOfPackage(packageName);
    return product !== undefined && product !== productOf(serverVersion);
  };
  const server = serverName(serverVersion);
  const requirement = requires.find((text) => isOther(unconditional(text) ?? ""));
  if (requirement !== undefined) {
    return [
      problem(
        "ProviderServerMismatch",
        `it requires ${
          shownRequirement(requirement)
        }, but the server is ${server}; use a version of the provider for ` +
          "this server",
      ),
    ];
  }
  return isOther(name)
    ? [
      problem(
        "ProviderServerMismatch",
        `the image brings ${name} ${version}, but the server is ${server}; remove that wheel`,
      ),
    ]
    : [];
};

/** As Python writes it: without spaces, the conditions in order. The text is a label's, and may be anything. */
export const shownRequirement = (text: string): string => {
  const short = text.slice(0, REQUIREMENT_CHARACTERS_READ).replaceAll(/\s+/g, "");
  const [, name, extras = "", versions = ""] = /^([\w.-]+)(\[[^\]]*\])?\(?([^()@]*)\)?$/.exec(short) ?? [];
  if (name === undefined) return text.trim().slice(0, REQUIREMENT_CHARACTERS_SHOWN);
  return `${name}${extras}${versions.split(",").toSorted().join(",")}`.slice(0, REQUIREMENT_CHARACTERS_SHOWN);
};

/** Real ones are shorter; the rest of a longer one is not read. */
const REQUIREMENT_CHARACTERS_READ = 1000;
const REQUIREMENT_CHARACTERS_SHOWN = 200;
