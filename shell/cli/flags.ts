/** Flags and arguments that several commands share. */
import { Argument, Flag } from "effect/cli";
import { SUPPORTED_SERVERS } from "../../core/config/servers/families/families.ts";

/** A flag with a value that may be left out. */
export const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

export const filename = Flag.String("filename").pipe(
  Flag.withAlias("f"),
  Flag.withMetavar("FILE"),
  Flag.withDescription("File or folder with LlamaStackDistribution resources; - is standard input; can be repeated"),
  Flag.atLeast(0),
);
export const moreFiles = Argument.String("FILE").pipe(
  Argument.withDescription("Further files"),
  Argument.variadic(),
);
export const serverVersion = optionalText(
  "server-version",
  "V",
  `Make the config for this server instead of the distribution's own, e.g. ${SUPPORTED_SERVERS.at(-1)?.split(" ")[1]}`,
);
export const base = optionalText(
  "base",
  "FILE",
  "Base config.yaml instead of the distribution's own; for images that the operator does not know",
);

export const settings = optionalText(
  "settings",
  "FILE",
  "ConfigMap with the settings of the operator (docs/settings.md); without it the defaults",
);
export const openshift = Flag.Boolean("openshift").pipe(
  Flag.withDescription("As on a cluster of OpenShift: Routes, and users and groups that the cluster chooses"),
  Flag.withDefault(false),
);

/** Of commands that ask no cluster, and so no context. */
export const offlineNamespace = Flag.String("namespace").pipe(
  Flag.withAlias("n"),
  Flag.withMetavar("NAME"),
  Flag.withDescription("Namespace of the resources that name none; without it default"),
  Flag.optional,
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
