/** `run`: flags and help of the operator itself. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { operator } from "../../process/run.ts";
import {
  isInPod,
  operatorNamespace,
  relatedImages,
  replicaName,
  SettingsError,
  watchedNamespaces,
} from "../../process/settings.ts";
import { exclusiveConnectionOf } from "../../kubernetes/trusted_authorities.ts";
import { context } from "../cluster_flags.ts";
import { readText } from "../files.ts";
import { optionalText } from "../flags.ts";
import { untilAskedToStop } from "../../process/signals.ts";

export const run = Command.make(
  "run",
  {
    kubeconfig: optionalText(
      "kubeconfig",
      "FILE",
      "Kubeconfig of the cluster; without it KUBECONFIG, else the account of the pod",
    ),
    context,
    namespace: Flag.String("namespace").pipe(
      Flag.withAlias("n"),
      Flag.withMetavar("NAME"),
      Flag.withDescription("Namespace to watch; can be repeated; all of them when there is none"),
      Flag.atLeast(0),
    ),
    leaderElect: Flag.Boolean("leader-elect").pipe(
      Flag.withDescription(
        "Work only while this replica holds the lease; without the flag only in a pod, where others may run beside it",
      ),
      Flag.optional,
    ),
    metricsAddress: Flag.String("metrics-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Address of /metrics; 0 disables it"),
      Flag.withDefault(":8443"),
    ),
    metricsPlain: Flag.Boolean("metrics-plain").pipe(
      Flag.withDescription("Serve /metrics by plain HTTP and without authentication"),
      Flag.withDefault(false),
    ),
    metricsCertificateDirectory: optionalText(
      "metrics-certificate-directory",
      "FOLDER",
      "Folder with tls.crt and tls.key for /metrics; without it each replica signs its own certificate",
    ),
    healthAddress: Flag.String("health-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Where /livez and /readyz are served; 0: nowhere"),
      Flag.withDefault(":8081"),
    ),
    webhookAddress: Flag.String("webhook-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Where /convert and /validate are served by HTTPS; 0: nowhere"),
      Flag.withDefault("0"),
    ),
    webhookName: Flag.String("webhook-name").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Host name or address by which the API server calls, beside the Service's; can be repeated"),
      Flag.atLeast(0),
    ),
    webhookClientAuthority: optionalText(
      "webhook-client-authority",
      "FILE",
      "PEM of the authority of the client certificate that the API server shows to webhooks, where it is set up to show one",
    ),
    certificateDirectory: optionalText(
      "certificate-directory",
      "FOLDER",
      "Folder with tls.crt and tls.key that somebody else keeps; without it the operator makes its certificates itself",
    ),
    secretPolling: Flag.Boolean("secret-polling").pipe(
      Flag.withDescription("Read the Secrets that resources name once a minute, and never list or watch Secrets"),
      Flag.withDefault(false),
    ),
  },
  Effect.fn("run")(function* (input) {
    const { kubeconfig, context, namespace, metricsAddress, healthAddress, secretPolling } = input;
    const inPod = isInPod(Option.getOrUndefined(kubeconfig));
    const connection = yield* Effect.try({
      try: () => exclusiveConnectionOf(Option.getOrUndefined(kubeconfig), Option.getOrUndefined(context)),
      catch: (cause) => cause instanceof SettingsError ? cause : new SettingsError({ detail: String(cause) }),
    });
    const authorityFile = Option.getOrUndefined(input.webhookClientAuthority);
    const clientCaPem = authorityFile === undefined ? undefined : (yield* readText(authorityFile)).text;
    yield* untilAskedToStop(
      operator({
        connection,
        namespaces: watchedNamespaces(namespace),
        operatorNamespace: operatorNamespace(),
        relatedImages: relatedImages(),
        leaderElect: Option.getOrElse(input.leaderElect, () => inPod),
        metricsAddress,
        metricsPlain: input.metricsPlain,
        metricsCertificateDirectory: Option.getOrUndefined(input.metricsCertificateDirectory),
        healthAddress,
        secretPolling,
        webhooks: {
          webhookAddress: input.webhookAddress,
          webhookNames: input.webhookName,
          certificateDirectory: Option.getOrUndefined(input.certificateDirectory),
          clientCaPem,
        },
        replica: replicaName(),
        route: inPod ? "Direct" : "Proxied",
      }),
    );
  }),
).pipe(
  Command.withDescription(
    "Run the operator: make and keep the server of every LlamaStackDistribution. Stops with exit code 0 on SIGTERM and SIGINT.",
  ),
  Command.withShortDescription("Run the operator"),
);
