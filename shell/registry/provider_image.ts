/** What the labels of an image of an external provider say, from its registry: for all architectures that the cluster has. */
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { stringAt } from "../../core/data/json.ts";
import type { ImageName } from "../../core/image/image_name.ts";
import type { Labels } from "../../core/image/labels.ts";
import { labelsOf } from "../../core/image/manifest.ts";
import { providersAgreed } from "../../core/image/provider_labels.ts";
import { repeats } from "../../core/redaction/redaction.ts";
import type { ImageFailure } from "./image_config.ts";
import type { WithNodes } from "./node_architectures.ts";
import { architecturesToRead, readPlatforms } from "./platforms.ts";
import { openRegistry, type RegistryAccess } from "./registry.ts";

export interface FoundProvider {
  /** Undefined: the architectures differ, or the registry repeats a credential. The pod judges the image. */
  readonly labels: Labels | undefined;
}

export const readProviderImage = (
  name: ImageName,
  access: RegistryAccess,
  withNodes: WithNodes,
): Effect.Effect<FoundProvider, ImageFailure> =>
  Effect.scoped(Effect.gen(function* () {
    const registry = yield* openRegistry(name, access);
    const { manifest } = yield* registry.manifest(name.digest ?? name.tag ?? "");
    const architectures = yield* architecturesToRead(manifest, withNodes);
    const platforms = yield* readPlatforms(registry, manifest, architectures, ({ config }) =>
      Effect.map(registry.config(config.digest), (document) => ({
        architecture: stringAt(document, "architecture") ?? "unknown",
        labels: labelsOf(document),
      })));
    const labels = Result.getOrUndefined(providersAgreed(platforms));
    // What labels say is shown in the status and in Events, which more people may read than pull Secrets.
    const passwords = access.credentials.map(({ password }) =>
      Redacted.value(password)
    );
    const texts = Object.values(labels ?? {}).flatMap((label) => [label, decoded(label)]);
    const isRepeated = texts.some((text) =>
      repeats(text, passwords)
    );
    return { labels: isRepeated ? undefined : labels };
  }));

/** A label as it was encoded; empty for another text. */
const decoded = (label: string): string =>
  Result.getOrElse(Result.try(() => new TextDecoder().decode(Uint8Array.fromBase64(label))), () => "");
