/** The config that the labels of an image name, from its registry: one for all architectures that the cluster has. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { stringAt } from "../../core/data/json.ts";
import { BASE_BYTES_MAX } from "../../core/data/limits.ts";
import { agreed, type ConfigText, type PlatformsDiffer } from "../../core/image/agreement.ts";
import type { ImageName } from "../../core/data/image_reference.ts";
import { configsIn, LabelUnusable } from "../../core/image/labels.ts";
import { labelsOf, type ManifestUnusable } from "../../core/image/manifest.ts";
import type { RegistryFailure } from "../../core/image/registry_failure.ts";
import type { TarUnusable } from "../../core/image/tar.ts";
import type { LongLookups } from "./long_lookups.ts";
import { LAYERS_SEARCHED_MAX } from "./limits.ts";
import type { WithNodes } from "./node_architectures.ts";
import { architecturesToRead, type ImageManifest, readPlatforms } from "./platforms.ts";
import { openRegistry, type Registry, type RegistryAccess } from "./registry.ts";

export interface FoundConfig {
  readonly digest: string;
  /** Of the images that were read, in an index; empty without one. */
  readonly architectures: ReadonlyArray<string>;
  /** Undefined: the image has no labels with a config. */
  readonly config: ConfigText | undefined;
}

export type ImageFailure = RegistryFailure | ManifestUnusable | LabelUnusable | PlatformsDiffer | TarUnusable;

/** `known`: what was read of a digest before; the registry has then said that it may be read with these credentials. */
export const readImageConfig = (
  name: ImageName,
  access: RegistryAccess,
  wanted: string | undefined,
  known: (digest: string) => FoundConfig | undefined,
  withNodes: WithNodes,
): Effect.Effect<FoundConfig, ImageFailure, LongLookups> =>
  Effect.scoped(Effect.gen(function* () {
    const registry = yield* openRegistry(name, access);
    const { manifest, digest } = yield* registry.manifest(name.digest ?? name.tag ?? "");
    const architectures = yield* architecturesToRead(manifest, withNodes);
    const before = known(digest);
    if (before !== undefined && architectures.every((name) => before.architectures.includes(name))) return before;
    const platforms = yield* readPlatforms(
      registry,
      manifest,
      architectures,
      (inner) => platformConfig(registry, inner, wanted),
    );
    return { digest, architectures, config: yield* Effect.fromResult(agreed(platforms)) };
  }));

const platformConfig = Effect.fnUntraced(function* (
  registry: Registry,
  manifest: ImageManifest,
  wanted: string | undefined,
) {
  // Nothing else of the document is held while a layer is read, which takes as long as the registry likes.
  const { architecture, labelled } = yield* Effect.flatMap(
    registry.config(manifest.config),
    (document) =>
      Effect.map(Effect.fromResult(configsIn(labelsOf(document), wanted)), (configs) => {
        const source = configs?.configs.get(configs.chosen);
        return {
          architecture: stringAt(document, "architecture") ?? "unknown",
          labelled: configs === undefined || source === undefined
            ? undefined
            : { file: configs.chosen, serverVersion: configs.serverVersion, source },
        };
      }),
  );
  if (labelled === undefined) return { architecture, config: undefined };
  const { file, serverVersion, source } = labelled;
  const text = source.kind === "inline" ? source.text : yield* textInLayer(registry, manifest.layers, source);
  return { architecture, config: { file, text, serverVersion } };
});

/** A mirror that compresses layers anew gives them other digests: the file is then looked for from the topmost layer on. */
const textInLayer = Effect.fnUntraced(function* (
  registry: Registry,
  layers: ReadonlyArray<string>,
  { layer, path }: { readonly layer: string; readonly path: string },
) {
  const isThere = layers.includes(layer);
  const searched = isThere ? [layer] : layers.toReversed().slice(0, LAYERS_SEARCHED_MAX);
  for (const digest of searched) {
    const bytes = yield* registry.file(digest, path, BASE_BYTES_MAX).pipe(
      // Of those that nobody has named, one may be too large or no archive. A registry that fails says nothing about them.
      Effect.catch((failure) =>
        isThere || failure._tag !== "TarUnusable" ? Effect.fail(failure) : Effect.succeed(undefined)
      ),
    );
    if (bytes === undefined) continue;
    const text = Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (Result.isSuccess(text)) return text.success;
    return yield* new LabelUnusable({ label: "io.llamastack.config.path", detail: "the file is not UTF-8" });
  }
  return yield* new LabelUnusable({
    label: "io.llamastack.config.path",
    detail: isThere ? "there is no such file in the layer" : "neither the layer nor the file is in the image",
  });
});
