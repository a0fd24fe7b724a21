/** The images of an index, or the one image: what is read of each, for the architectures that the cluster has. */
import * as Effect from "effect/Effect";
import { type Manifest, ManifestUnusable } from "../../core/image/manifest.ts";
import type { RegistryFailure } from "../../core/image/registry_failure.ts";
import { ARCHITECTURES_MAX } from "./limits.ts";
import type { WithNodes } from "./node_architectures.ts";
import type { Registry } from "./registry.ts";

export type ImageManifest = Extract<Manifest, { readonly kind: "image" }>;

/** Those to read of an index; empty for one image, which is read whatever its architecture is. */
export const architecturesToRead = Effect.fnUntraced(function* (manifest: Manifest, withNodes: WithNodes) {
  if (manifest.kind === "image") return [];
  if (manifest.platforms.length > ARCHITECTURES_MAX) {
    return yield* new ManifestUnusable({ detail: `its index has ${manifest.platforms.length} images for Linux` });
  }
  return yield* withNodes(manifest.platforms.map(({ architecture }) => architecture));
});

/** One after the other: each document may be large. */
export const readPlatforms = <A extends { readonly architecture: string }, E>(
  registry: Registry,
  manifest: Manifest,
  architectures: ReadonlyArray<string>,
  read: (manifest: ImageManifest) => Effect.Effect<A, E>,
): Effect.Effect<ReadonlyArray<A>, E | RegistryFailure | ManifestUnusable> =>
  manifest.kind === "image" ? Effect.map(read(manifest), (one) => [one]) : Effect.forEach(
    manifest.platforms.filter(({ architecture }) => architectures.includes(architecture)),
    Effect.fnUntraced(function* ({ digest, architecture }) {
      const found = yield* registry.manifest(digest);
      // An index inside an index is none that a container runtime accepts.
      if (found.manifest.kind === "index") {
        return yield* new ManifestUnusable({ detail: "its index contains an index" });
      }
      return { ...yield* read(found.manifest), architecture };
    }),
  );
