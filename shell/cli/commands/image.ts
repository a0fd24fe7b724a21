/** `image`: flags and help; reads an image from its registry for core/command/image.ts. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Argument, Command, Flag } from "effect/cli";
import { isImageReference } from "../../../core/api/image_reference.ts";
import { imageCommand, type ImageFacts } from "../../../core/command/image.ts";
import { stringAt } from "../../../core/data/json.ts";
import { imageName, repositoryOf } from "../../../core/image/image_name.ts";
import { ownCredentials } from "../docker_config.ts";
import { openRegistry, type RegistryAccess } from "../../registry/registry.ts";
import { readText } from "../files.ts";
import { optionalText } from "../flags.ts";
import { print, usageError } from "../print.ts";

export const image = Command.make(
  "image",
  {
    image: Argument.String("IMAGE").pipe(Argument.withDescription("Reference of the image, with a tag or digest")),
    config: optionalText("config", "NAME", "Config of the image to use instead of its default one"),
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
    output: Flag.Literals("output", ["text", "json", "config"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription('Output format; config prints the config itself, for render --base (default "text")'),
      Flag.withDefault("text" as const),
    ),
  },
  Effect.fn("image")(function* (input) {
    if (!isImageReference(input.image)) return yield* usageError(`${input.image}: not a reference of an image`);
    const name = imageName(input.image);
    const authorities = Option.isNone(input.authority) ? [] : [(yield* readText(input.authority.value)).text];
    const credentials = yield* ownCredentials(name, Option.getOrUndefined(input.dockerConfig));
    const facts = yield* factsOf(input.image, { credentials, authorities, plainHttp: input.plainHttp });
    yield* print(imageCommand(facts, { config: Option.getOrUndefined(input.config), format: input.output }));
  }),
).pipe(
  Command.withDescription(
    "Show what the labels of a distribution image say: version of the server, configs, providers, and what prevents the " +
      "operator from generating a config for it. Reads the labels of every architecture from the registry, with your own " +
      "credentials, and pulls no layer. Exit codes: 0 success, 1 the image or its labels cannot be read, 2 usage error.",
  ),
  Command.withShortDescription("Show the configs in the labels of an image"),
  Command.withExamples([{
    command: "llama-stack-operator image registry.example.com/ai/my-llama-stack:1 -o config > base.yaml",
    description: "Save the config of an image, to try it with render --base base.yaml",
  }]),
);

const factsOf = (reference: string, access: RegistryAccess) =>
  Effect.scoped(Effect.gen(function* () {
    const name = imageName(reference);
    const registry = yield* openRegistry(name, access);
    const { manifest, digest } = yield* registry.manifest(name.digest ?? name.tag ?? "");
    const entries = manifest.kind === "image"
      ? [{ architecture: undefined, config: manifest.config.digest }]
      : yield* Effect.forEach(manifest.platforms, (platform) =>
        Effect.map(registry.manifest(platform.digest), ({ manifest: inner }) => ({
          architecture: platform.architecture,
          // An index inside an index is none that a container runtime accepts.
          config: inner.kind === "image" ? inner.config.digest : "",
        })));
    const platforms = yield* Effect.forEach(entries, ({ architecture, config }) =>
      Effect.map(registry.config(config), (document) => ({
        architecture: architecture ?? stringAt(document, "architecture") ?? "unknown",
        config: document,
      })));
    const facts: ImageFacts = { name: `${repositoryOf(name)}@${digest}`, platforms };
    return facts;
  }));
