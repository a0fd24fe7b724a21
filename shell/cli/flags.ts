/** Flags and arguments that several commands share. */
import { Argument, Flag } from "effect/cli";
import { SUPPORTED_SERVERS } from "../../core/config/servers/families/families.ts";

/** An optional flag with a value. */
export const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional);

export const filename = Flag.String("filename").pipe(
  Flag.withAlias("f"),
  Flag.withMetavar("FILE"),
  Flag.withDescription(
    "File or folder with LlamaStackDistribution resources, or - for standard input; can be repeated",
  ),
  Flag.atLeast(0),
);
export const moreFiles = Argument.String("FILE").pipe(
  Argument.withDescription("Additional files"),
  Argument.variadic(),
);
export const recursive = Flag.Boolean("recursive").pipe(
  Flag.withAlias("R"),
  Flag.withDescription("Also read the folders inside a folder"),
  Flag.withDefault(false),
);
export const serverVersion = optionalText(
  "server-version",
  "V",
  `Server version to generate the config for, e.g. ${SUPPORTED_SERVERS.at(-1)?.split(" ")[1]}`,
);
export const base = optionalText(
  "base",
  "FILE",
  "Base config.yaml to use instead of the distribution's own; required for images without a known base config",
);

export const imageLabels = Flag.String("image-labels").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription(
    "Labels of the image, as skopeo inspect or crane config print them: the base config that the operator would read from the " +
      "registry. Can be repeated for images of external providers, as skopeo inspect prints them",
  ),
  Flag.atLeast(0),
);

export const settings = optionalText(
  "settings",
  "FILE",
  "ConfigMap with the operator settings, see docs/settings.md; if unset, defaults apply",
);
export const openshift = Flag.Boolean("openshift").pipe(
  Flag.withDescription("Render for OpenShift: Routes, PodMonitors, and users and groups assigned by the cluster"),
  Flag.withDefault(false),
);

export const prometheusOperator = Flag.Boolean("prometheus-operator").pipe(
  Flag.withDescription("Render for a cluster with the Prometheus Operator: PodMonitors and PrometheusRules"),
  Flag.withDefault(false),
);

/** For commands that need no cluster, and so no context. */
export const offlineNamespace = Flag.String("namespace").pipe(
  Flag.withAlias("n"),
  Flag.withMetavar("NAME"),
  Flag.withDescription('Namespace of resources without one (default "default")'),
  Flag.optional,
);

/** `-o` of a command that prints a report: text for people, JSON for scripts. */
export const textOutput = Flag.Literals("output", ["text", "json"]).pipe(
  Flag.withAlias("o"),
  Flag.withDescription('Output format (default "text")'),
  Flag.withDefault("text" as const),
);

/** `-o` of a command that prints manifests. */
export const manifestOutput = Flag.Literals("output", ["yaml", "json"]).pipe(
  Flag.withAlias("o"),
  Flag.withDescription('Output format (default "yaml")'),
  Flag.withDefault("yaml" as const),
);
