/** Flags and arguments that several commands share. */
import { Argument, Flag } from "effect/cli";
import { SUPPORTED_SERVERS } from "../../core/config/lines/lines.ts";

export const filename = Flag.String("filename").pipe(
  Flag.withAlias("f"),
  Flag.withMetavar("FILE"),
  Flag.withDescription("File with LlamaStackDistribution resources; - is standard input; can be repeated"),
  Flag.atLeast(0),
);
export const moreFiles = Argument.String("FILE").pipe(
  Argument.withDescription("Further files"),
  Argument.variadic(),
);
export const serverVersion = Flag.String("server-version").pipe(
  Flag.withMetavar("V"),
  Flag.withDescription(
    `Make the config for this server instead of the distribution's own, e.g. ${
      SUPPORTED_SERVERS.at(-1)?.split(" ")[1]
    }`,
  ),
  Flag.optional,
);
export const base = Flag.String("base").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription(
    "Base config.yaml instead of the distribution's own; for images that the operator does not know",
  ),
  Flag.optional,
);

export const settings = Flag.String("settings").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("ConfigMap with the settings of the operator (docs/settings.md); without it the defaults"),
  Flag.optional,
);
export const openshift = Flag.Boolean("openshift").pipe(
  Flag.withDescription("As on a cluster of OpenShift: Routes, and users and groups that the cluster chooses"),
  Flag.withDefault(false),
);

/** `-o` of a command that tells something: words for people, JSON for scripts. */
export const textOutput = Flag.Literals("output", ["text", "json"]).pipe(
  Flag.withAlias("o"),
  Flag.withDescription("Format"),
  Flag.withDefault("text" as const),
);

/** `-o` of a command that prints manifests. */
export const manifestOutput = Flag.Literals("output", ["yaml", "json"]).pipe(
  Flag.withAlias("o"),
  Flag.withDescription("Format"),
  Flag.withDefault("yaml" as const),
);
