/** A decoded resource → the config of its server: generated, provided by the user, or built into the image. */
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type { Settings } from "../operator/settings.ts";
import { notAllowedIn } from "./not_allowed.ts";
import type { Resource } from "../api/decode.ts";
import {
  type ImageOverrides,
  type ResolvedDistribution,
  resolveDistribution,
  type RunningServer,
} from "./servers/distribution.ts";
import type { DistributionTable } from "./servers/distribution_table.ts";
import { fittingServers, waysAround } from "./servers/fitting_servers.ts";
import { isMirroredIn, publicationWarnings } from "./servers/publication.ts";
import { contradictionsIn } from "./servers/base.ts";
import { publishedDistribution } from "../image/published_image.ts";
import type { BaseSource, ImageLabels } from "./servers/image_labels.ts";
import { labelled, ofRequestedImage, readsLabels } from "./servers/labelled.ts";
import { specCautions } from "./stages/cautions.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { generatedName, missingBase, ownBase } from "./base_config.ts";
import { Derived, familyOf, warningsOf, withWarnings } from "./derived.ts";
import { metricsWarnings } from "./metrics.ts";
import { baseFindings } from "./base_findings.ts";
import { cautionsOf } from "./built_in_config.ts";
import { type DataFolders, foldersOf } from "./data_folders.ts";
import { doubledItems } from "./doubled_items.ts";
import { ownConfigWarnings } from "./own_config_warnings.ts";
import { factsOf, secretValueIn } from "./draft.ts";
import { containerEnv } from "./environment.ts";
import { type Server, serverOf, SUPPORTED_SERVERS } from "./servers/families/families.ts";
import { generation } from "./pipeline.ts";
import { type Rejection, rejection } from "../failure/rejection.ts";
import { type LabelsOfProvider, unfitProviders } from "./unfit_providers.ts";
import { chooseSource } from "./source.ts";
import { keyNamed, type OwnConfig, ownConfigOf } from "./own_config.ts";
import type { ConfigMaps } from "./config_map_content.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import { BaseConfigRequired, UnsupportedConfigVersion, UnsupportedServer } from "../failure/failures.ts";

export { Derived, familyOf, warningsOf };

/** What the outside knows: the operator's settings, or the flags of the command line. */
export interface Surroundings {
  readonly distributions: DistributionTable;
  readonly overrides: ImageOverrides;
  /** What authors of resources may request. */
  readonly allow: Settings["allow"];
  /** How registries are reached, and where else images may be. */
  readonly registries: Settings["registries"];
  /** What the server of this resource runs already; unset for a new resource, and offline. */
  readonly running?: RunningServer;
  /** Secrets that the resource names, where they were read. */
  readonly secrets?: ReadonlyMap<string, Readonly<Record<string, Redacted.Redacted<string>>>>;
  /** ConfigMaps that were read: those of the cluster that the resource names, or those beside it in files. */
  readonly configMaps?: ConfigMaps;
  /** A server version that replaces that of the distribution (`--server-version`). */
  readonly serverVersion?: string;
  /** A base document that replaces that of the distribution (`--base`, or the label of an image). */
  readonly base?: BaseSource;
  /** Whether the labels of images are read; unset where no registry is asked. */
  readonly imageLabels?: Settings["imageLabels"];
  /** What they say for this resource; offline, for any that has this image and wants this file. */
  readonly labels?: ImageLabels | ((image: string, wanted: string | undefined) => ImageLabels | undefined);
  /** What the labels of images of external providers say; unset where they count later, or not at all. */
  readonly providerLabels?: LabelsOfProvider;
}

/** Runs the derivation: same resource and surroundings, same result. */
export const derive = (
  resource: Resource,
  surroundings: Surroundings,
): Result.Result<Derived, Rejection<DerivationFailure>> =>
  Effect.runSync(Effect.result(derivation(resource, surroundings)));

export const derivation = Effect.fnUntraced(function* (resource: Resource, surroundings: Surroundings) {
  const denied = notAllowedIn(resource.spec, resource.namespace, surroundings.allow);
  const derived = yield* Effect.result(derivedFrom(resource, surroundings));
  const hasConfig = Result.isSuccess(derived) && derived.success._tag !== "DistributionDefault";
  const doubled = doubledItems(resource.spec, foldersOf(resource.spec).mount, hasConfig);
  const unfit =
    Result.isFailure(derived) || derived.success._tag !== "Generated" || surroundings.imageLabels === "Never"
      ? []
      : unfitProviders(resource.spec, derived.success, surroundings.providerLabels);
  if (Result.isSuccess(derived) && denied.length === 0 && doubled.length === 0 && unfit.length === 0) {
    return withWarnings(derived.success, metricsWarnings(resource.spec, familyOf(derived.success)));
  }
  const { failures, warnings } = Result.isFailure(derived)
    ? derived.failure
    : { failures: unfit, warnings: warningsOf(derived.success) };
  // Where the distribution is not even known, what the spec says alone is all that can be judged.
  const all = warnings.length === 0 ? specCautions(resource.spec) : warnings;
  return yield* Effect.fail({ failures: [...denied, ...doubled, ...failures], warnings: all });
});

/** Every failure that can prevent a decoded resource from getting a config, as declared by the steps. */
export type DerivationFailure = Effect.Error<ReturnType<typeof derivation>>["failures"][number];

const derivedFrom = Effect.fnUntraced(function* (resource: Resource, surroundings: Surroundings) {
  const { spec } = resource;
  const asked = surroundings.serverVersion;
  if (asked !== undefined && serverOf(asked) === undefined) {
    const failure = { path: ["spec", "distribution", "serverVersion"], version: asked, supported: SUPPORTED_SERVERS };
    return yield* reject(new UnsupportedServer(failure));
  }
  const { distributions, overrides, running, registries } = surroundings;
  const isMirrored = isMirroredIn(registries);
  // With `tried`, a name means its release for that server, and an image is taken to hold it.
  const wish = { tried: asked, running, isMirrored };
  const named = yield* Effect.catch(
    Effect.fromResult(resolveDistribution(spec.distribution, distributions, overrides, wish)),
    reject,
  );
  const found: Named = {
    resource,
    surroundings,
    named,
    folders: foldersOf(spec, running?.dataFolder),
    isMirrored,
    ofImage: asked === undefined ? publicationWarnings(named, distributions) : [],
  };
  const source = chooseSource(spec, named.fixNeededToStart);
  switch (source._tag) {
    case "Override":
      return yield* overridden(found, source.configMapName);
    case "DistributionDefault":
      return Derived.DistributionDefault({
        distribution: named,
        env: containerEnv(spec, named.server?.family, found.folders, [], false),
        warnings: [...found.ofImage, ...cautionsOf(spec, named.server, surroundings.base ?? named.base)],
      });
    case "Generated":
      return yield* generatedFrom(found, source.causes);
  }
});

/** A resource, and the distribution that it names. */
interface Named {
  readonly resource: Resource;
  readonly surroundings: Surroundings;
  readonly named: ResolvedDistribution;
  readonly folders: DataFolders;
  readonly isMirrored: ReturnType<typeof isMirroredIn>;
  readonly ofImage: ReadonlyArray<Warning>;
}

const overridden = Effect.fnUntraced(function* (found: Named, configMapName: string) {
  const { resource: { name, namespace, spec }, surroundings, named, folders, ofImage } = found;
  const doomed = generatedName("overrideConfig", spec, name);
  if (doomed !== undefined) return yield* reject(doomed);
  const map = surroundings.configMaps?.get(`${namespace ?? NAMESPACE_DEFAULT}/${configMapName}`);
  const content = map === undefined
    ? undefined
    : yield* Effect.catch(Effect.fromResult(ownConfigOf(spec, map)), reject);
  return Derived.Override({
    distribution: named,
    configMapName,
    key: content === undefined ? keyNamed(spec) : content.key,
    content,
    env: containerEnv(spec, named.server?.family, folders, [], true),
    warnings: [...ofImage, ...ofOwnConfig(found, content), ...specCautions(spec)],
  });
});

const generatedFrom = Effect.fnUntraced(function* (found: Named, causes: ReadonlyArray<string>) {
  const { resource: { name, spec }, surroundings, named, folders, isMirrored } = found;
  const { distribution, server, base, isOwn, labels, warnings } = yield* chosenBase(found, causes);
  const { distributions, serverVersion } = surroundings;
  const facts = factsOf(name, spec, server, folders, secretValueIn(surroundings.secrets));
  const config = yield* Effect.fromResult(generation(base, facts)).pipe(
    Effect.mapError(({ failures, warnings }) => ({
      failures: failures
        .map((failure) => labels?.kind === "read" && labels.isRequested === true ? ofRequestedImage(failure) : failure)
        .map((failure) =>
          failure instanceof UnsupportedConfigVersion
            ? new UnsupportedConfigVersion({
              ...failure,
              ways: waysAround(base, distribution, distributions, isMirrored, serverVersion !== undefined),
            })
            : failure
        ),
      warnings,
    })),
  );
  const judged = base === named.base ? { failures: [], warnings: [] } : baseFindings(spec, server, folders, {
    base,
    isOwn,
    isShipped: isShipped(distribution),
    generated: config,
  });
  const all = [...warnings, ...judged.warnings];
  if (judged.failures.length > 0) {
    return yield* Effect.fail({ failures: judged.failures, warnings: [...all, ...config.warnings] });
  }
  return Derived.Generated({
    // What the operator ships has no part in it.
    distribution: isOwn ? { ...distribution, base: undefined } : distribution,
    server,
    config: all.length === 0 ? config : { ...config, warnings: [...all, ...config.warnings] },
    env: containerEnv(spec, server.family, folders, config.env, true),
  });
});

/** The base config that the resource is merged into: its own, that of the command line, of the image's labels, or the embedded one. */
const chosenBase = Effect.fnUntraced(function* (
  { resource: { name, namespace, spec }, surroundings, named, ofImage }: Named,
  causes: ReadonlyArray<string>,
) {
  const own = spec.baseConfig === undefined
    ? undefined
    : ownBase(spec.baseConfig, namespace ?? NAMESPACE_DEFAULT, surroundings.configMaps);
  const labels = spec.baseConfig === undefined ? labelsFor(named, spec.distribution.config, surroundings) : undefined;
  const { distribution, warnings: ofLabels, cause } = yield* Effect.catch(
    Effect.fromResult(labelled(named, labels)),
    reject,
  );
  const { server } = distribution;
  const doomed = generatedName("baseConfig", spec, name);
  if (doomed !== undefined) return yield* reject(doomed);
  const isUnread = spec.distribution.config !== undefined && distribution.labels?.config === undefined &&
    surroundings.base === undefined;
  const base = surroundings.base ?? (spec.baseConfig === undefined ? distribution.base : own);
  const path = ["spec", "distribution", spec.distribution.name === undefined ? "image" : "name"];
  // Its base config is known as soon as its version is.
  if (distribution.insteadOf !== undefined && server === undefined) return yield* reject(unknownServer(path));
  if (base === undefined) {
    const { image } = distribution;
    if (spec.baseConfig !== undefined) return yield* reject(missingBase(spec.baseConfig, image, causes));
    return yield* reject(
      new BaseConfigRequired({
        path,
        image,
        causes,
        labels: cause,
        mayBeLabelled: cause === undefined && (surroundings.imageLabels ?? "Never") !== "Never",
        lacksVersion: server === undefined && surroundings.distributions.has(publishedDistribution(image) ?? ""),
      }),
    );
  }
  if (server === undefined) return yield* reject(unknownServer(path, distribution.labels?.config !== undefined));
  return {
    distribution,
    server,
    base,
    isOwn: base === own,
    labels,
    warnings: [...ofImage, ...ofLabels, ...(isUnread ? [unreadConfig] : [])],
  };
});

const ofOwnConfig = (
  { resource: { spec }, surroundings: { distributions, secrets }, named, folders, isMirrored }: Named,
  content: OwnConfig | undefined,
): ReadonlyArray<Warning> => {
  const { key, file, doubled = [], dates = [], keys = [] } = content ?? {};
  if (key === undefined || file === undefined) return [];
  const accepts = (server: Server) => contradictionsIn(file, server, false).length === 0;
  return ownConfigWarnings(key, file, {
    spec,
    doubled,
    dates,
    keys,
    server: named.server,
    folders,
    isShipped: isShipped(named),
    secretValue: secretValueIn(secrets),
    fitting: () => fittingServers(accepts, named, distributions, isMirrored),
  });
};

/** Nobody but the operator chose its image. */
const isShipped = ({ name, isOverridden }: ResolvedDistribution): boolean => name !== undefined && !isOverridden;

const unknownServer = (path: ReadonlyArray<string>, isLabelled = false): UnsupportedServer =>
  new UnsupportedServer({ path, version: undefined, supported: SUPPORTED_SERVERS, isLabelled });

const labelsFor = (
  named: ResolvedDistribution,
  wanted: string | undefined,
  { base, labels, imageLabels = "Auto" }: Surroundings,
): ImageLabels | undefined => {
  if (base !== undefined) return undefined;
  if (typeof labels !== "function") return labels;
  return readsLabels(named, imageLabels) ? labels(named.image, wanted) : undefined;
};

const unreadConfig = warning(
  "FieldNotRead",
  ["spec", "distribution", "config"],
  "the base config is not from the labels of an image; remove the field",
);

const reject = <E>(failure: E) => Effect.fail(rejection(failure));
