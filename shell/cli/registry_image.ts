/** An image in its registry, as commands read it: with the credentials of the person at the command line. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Flag } from "effect/cli";
import type { ImageFacts } from "../../core/command/image.ts";
import { stringAt } from "../../core/data/json.ts";
import { imageName, repositoryOf } from "../../core/data/image_reference.ts";
import { RegistryUnreachable } from "../../core/image/registry_failure.ts";
import { LongLookups } from "../registry/long_lookups.ts";
import { openRegistry, type RegistryAccess } from "../registry/registry.ts";
import { ownCredentials } from "./docker_config.ts";
import { readText } from "./files.ts";
import { optionalText } from "./flags.ts";

export const registryFlags = {
  dockerConfig: optionalText(
    "docker-config",
    "FILE",
    "config.json with credentials (default: that of docker, else auth.json of podman)",
  ),
  authority: optionalText("certificate-authority", "FILE", "PEM certificates of authorities to trust in addition"),
  plainHttp: Flag.Boolean("plain-http").pipe(
    Flag.withDescription("Use a registry without TLS"),
    Flag.withDefault(false),
  ),
};

export interface RegistryInput {
  readonly dockerConfig: Option.Option<string>;
  readonly authority: Option.Option<string>;
  readonly plainHttp: boolean;
}

/** The configs of all architectures of a valid reference. */
export const imageFacts = Effect.fnUntraced(function* (reference: string, input: RegistryInput) {
  const authorities = Option.isNone(input.authority) ? [] : [(yield* readText(input.authority.value)).text];
  const credentials = yield* ownCredentials(imageName(reference), Option.getOrUndefined(input.dockerConfig));
  return yield* Effect.mapError(
    factsOf(reference, { credentials, authorities, plainHttp: input.plainHttp }),
    (failure) =>
      failure instanceof RegistryUnreachable && failure.isPlainHttp === true
        ? new RegistryUnreachable({ host: failure.host, detail: "it answers without TLS; use --plain-http" })
        : failure,
  );
});

const factsOf = (reference: string, access: RegistryAccess) =>
  Effect.scoped(Effect.gen(function* () {
    const name = imageName(reference);
    const registry = yield* openRegistry(name, access);
    const { manifest, digest } = yield* registry.manifest(name.digest ?? name.tag ?? "");
    const entries = manifest.kind === "image"
      ? [{ architecture: undefined, config: manifest.config }]
      : yield* Effect.forEach(manifest.platforms, (platform) =>
        Effect.map(registry.manifest(platform.digest), ({ manifest: inner }) => ({
          architecture: platform.architecture,
          // An index inside an index is none that a container runtime accepts.
          config: inner.kind === "image" ? inner.config : "",
        })));
    const platforms = yield* Effect.forEach(entries, ({ architecture, config }) =>
      Effect.map(registry.config(config), (document) => ({
        architecture: architecture ?? stringAt(document, "architecture") ?? "unknown",
        config: document,
      })));
    const facts: ImageFacts = { name: `${repositoryOf(name)}@${digest}`, platforms };
    return facts;
  })).pipe(Effect.provideServiceEffect(LongLookups, LongLookups.make));
