/** Flags of the commands that use a cluster, and their values. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Argument, Flag } from "effect/cli";
import type { LookOptions } from "./look.ts";
import { optionalText } from "./flags.ts";
import { personalKubeconfig } from "../kubernetes/kubeconfig.ts";
import { operatorNamespace, relatedImages, SettingsError } from "../runtime/settings.ts";
import { exclusiveConnectionOf } from "../kubernetes/trusted_authorities.ts";

const kubeconfig = optionalText(
  "kubeconfig",
  "FILE",
  "Path of the kubeconfig (default: KUBECONFIG, then ~/.kube/config)",
);

export const context = optionalText(
  "context",
  "NAME",
  "Context of the kubeconfig to use (default: the current context)",
);

export const namespace = Flag.String("namespace").pipe(
  Flag.withAlias("n"),
  Flag.withMetavar("NAME"),
  Flag.withDescription(
    'Namespace of the resource (default: the namespace of the context, then "default")',
  ),
  Flag.optional,
);

/** No object of a cluster is called like a file: its -f is missing. */
export const resourceName = (description: string) =>
  Argument.String("NAME").pipe(
    Argument.withDescription(description),
    Argument.filter(
      (name) => !/\/|\.(ya?ml|json)$/i.test(name),
      () => "the name of an object in the cluster; use -f to read a file",
    ),
  );

const operatorHome = optionalText(
  "operator-namespace",
  "NAME",
  'Namespace of the operator, which holds its Deployment and its HMAC key (default "llama-stack-operator-system")',
);

export const clusterFlags = { kubeconfig, context, operatorHome };

/** As kubectl chooses it. */
export const chosenNamespace = (flag: Option.Option<string>, { connection }: LookOptions): string =>
  Option.getOrElse(flag, () => connection.namespace ?? "default");

export const lookOptions = (
  flags: {
    readonly kubeconfig: Option.Option<string>;
    readonly context: Option.Option<string>;
    readonly operatorHome: Option.Option<string>;
  },
): Effect.Effect<LookOptions, SettingsError> =>
  Effect.try({
    try: () => ({
      connection: exclusiveConnectionOf(
        personalKubeconfig(Option.getOrUndefined(flags.kubeconfig)),
        Option.getOrUndefined(flags.context),
      ),
      operatorNamespace: Option.getOrElse(flags.operatorHome, operatorNamespace),
      relatedImages: relatedImages(),
    }),
    catch: (cause) => cause instanceof SettingsError ? cause : new SettingsError({ detail: String(cause) }),
  });
