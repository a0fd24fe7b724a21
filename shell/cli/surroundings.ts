/** What the commands without a cluster read: the files that are named, and the base that replaces the distribution's own. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { DEFAULT_SURROUNDINGS } from "../../core/config/default_surroundings.ts";
import { type InputFile, type InputResource, readInputs } from "../../core/command/input.ts";
import { lines } from "../../core/command/outcome.ts";
import { externalProviders } from "../../core/config/external_providers.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../core/config/servers/distributions.ts";
import { serverOf, SUPPORTED_SERVERS } from "../../core/config/servers/families/families.ts";
import type { Surroundings } from "../../core/config/derive.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { platformIn, surroundingsIn } from "../../core/snapshot/operator.ts";
import { NOWHERE } from "../../core/resources/of_resource.ts";
import { isSettingsMap, readSettings, SETTINGS_DEFAULT, settingsData } from "../../core/operator/settings.ts";
import { readManifests } from "../../core/data/yaml.ts";
import {
  labelsInFiles,
  type NamedImages,
  providerLabelsInFiles,
  readLabelsFile,
  sortedFiles,
  unusedFiles,
} from "../../core/command/labels_file.ts";
import { manifestTexts, readBytes, readText } from "./files.ts";
import { write } from "./platform.ts";
import { usageError } from "./print.ts";

export const readFiles = Effect.fn("readFiles")(function* (
  { filename, moreFiles, recursive }: {
    readonly filename: ReadonlyArray<string>;
    readonly moreFiles: ReadonlyArray<string>;
    readonly recursive: boolean;
  },
) {
  const names = [...filename, ...moreFiles];
  if (names.length === 0) return yield* usageError("Specify a file with -f FILE, or -f - for standard input");
  return yield* manifestTexts(names, recursive);
});

/** OpenShift always has them. */
const MONITORING = ["PodMonitor", "PrometheusRule"] as const;

const GATEWAYS = ["HTTPRoute", "BackendTLSPolicy"] as const;

/** The facts of a cluster, from files and flags instead. */
export const clusterFacts = Effect.fn("clusterFacts")(function* (
  settingsFile: Option.Option<string>,
  { openshift, prometheusOperator }: { readonly openshift: boolean; readonly prometheusOperator: boolean } = {
    openshift: false,
    prometheusOperator: false,
  },
) {
  const settings = Option.isNone(settingsFile) ? SETTINGS_DEFAULT : yield* settingsIn(settingsFile.value);
  return {
    settled: surroundingsIn(settings, new Map()),
    platform: {
      ...NOWHERE.platform,
      openshift,
      served: [
        // Of no effect unless a gateway is named.
        ...GATEWAYS,
        ...(openshift ? ["Route" as const] : []),
        ...(openshift || prometheusOperator ? MONITORING : []),
      ],
      ...platformIn(settings),
    },
  };
});

const settingsIn = Effect.fnUntraced(function* (file: string) {
  const { text } = yield* readText(file);
  const documents = Result.getOrElse(readManifests(text), () => []);
  const map = documents.find(isSettingsMap) as JsonObject | undefined;
  if (map === undefined) return yield* usageError(`${file}: expected a ConfigMap with operator settings`);
  const { settings, complaints } = readSettings(settingsData(map), {}, [
    ...EMBEDDED_DISTRIBUTIONS.keys(),
  ]);
  // As the operator does: an entry that it cannot read is reported, and does not count.
  if (complaints.length > 0) write(Deno.stderr, lines(complaints.map((complaint) => `${file}: warning: ${complaint}`)));
  return settings;
});

/** What labels in files say: as the operator would know it from registries. Warns of files that say nothing about the resources. */
export const labelsIn = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  resources: ReadonlyArray<InputResource>,
) {
  const read = yield* Effect.forEach(files, labelsFile);
  const sorted = sortedFiles(read);
  if (Result.isFailure(sorted)) return yield* usageError(`--image-labels: ${sorted.failure}`);
  const { ofServers, ofProviders } = sorted.success;
  const named = resources.flatMap(imagesOf);
  const unused = unusedFiles(sorted.success, named);
  write(Deno.stderr, lines(unused.map((sentence) => `--image-labels: ${sentence}`)));
  const found: Pick<Surroundings, "providerLabels"> & { readonly labels?: ReturnType<typeof labelsInFiles> } = {
    ...(ofServers.length === 0
      ? {}
      : { labels: labelsInFiles(ofServers, named.flatMap(({ ofServer }) => ofServer ?? [])) }),
    ...(ofProviders.length === 0 ? {} : { providerLabels: providerLabelsInFiles(ofProviders) }),
  };
  return found;
});

const imagesOf = ({ resource }: InputResource): ReadonlyArray<NamedImages> =>
  Result.isFailure(resource) ? [] : [{
    ofServer: resource.success.spec.distribution.image,
    ofProviders: externalProviders(resource.success.spec).map(({ provider }) => provider.image),
  }];

const labelsFile = Effect.fnUntraced(function* (file: string) {
  const { text } = yield* readText(file);
  const [document = null] = Result.getOrElse(readManifests(text), () => []);
  return readLabelsFile(document) ??
    (yield* usageError(`${file}: expected labels of an image, as skopeo inspect or crane config print them`));
});

export const surroundings = Effect.fn("surroundings")(function* (
  version: Option.Option<string>,
  baseFile: Option.Option<string>,
  labelsFiles: ReadonlyArray<string> = [],
  manifests: ReadonlyArray<InputFile> = [],
) {
  if (Option.isSome(version) && serverOf(version.value) === undefined) {
    return yield* usageError(
      `--server-version: unsupported server version "${version.value}"; use one of ${SUPPORTED_SERVERS.join(", ")}`,
    );
  }
  const document = Option.isNone(baseFile) ? undefined : yield* readBytes(baseFile.value);
  const found: Surroundings = {
    ...DEFAULT_SURROUNDINGS,
    ...(Option.isNone(version) ? {} : { serverVersion: version.value }),
    ...(labelsFiles.length === 0 ? {} : yield* labelsIn(labelsFiles, readInputs(manifests).resources)),
    ...(document === undefined ? {} : { base: { origin: Option.getOrElse(baseFile, () => "-"), content: document } }),
  };
  return found;
});
