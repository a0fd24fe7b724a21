/** `run`: flags and help of the operator itself. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command, Flag } from "effect/cli";
import { operator } from "../../process/run.ts";
import { isInPod } from "../../kubernetes/kubeconfig.ts";
import {
  operatorNamespace,
  relatedImages,
  replicaName,
  SettingsError,
  watchedNamespaces,
} from "../../runtime/settings.ts";
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
      "Path of the kubeconfig (default: KUBECONFIG, then the ServiceAccount of the pod)",
    ),
    context,
    namespace: Flag.String("namespace").pipe(
      Flag.withAlias("n"),
      Flag.withMetavar("NAME"),
      Flag.withDescription("Namespace to watch; can be repeated (default: all namespaces)"),
      Flag.atLeast(0),
    ),
    leaderElect: Flag.Boolean("leader-elect").pipe(
      Flag.withDescription(
        "Reconcile only while this replica holds the lease (default in a pod, where other replicas may run)",
      ),
      Flag.optional,
    ),
    metricsAddress: Flag.String("metrics-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription('Address the metrics endpoint binds to; 0 disables it (default ":8443")'),
      Flag.withDefault(":8443"),
    ),
    metricsPlain: Flag.Boolean("metrics-plain").pipe(
      Flag.withDescription("Serve /metrics over plain HTTP and without authentication (default false)"),
      Flag.withDefault(false),
    ),
    metricsCertificateDirectory: optionalText(
      "metrics-certificate-directory",
      "FOLDER",
      "Directory with tls.crt and tls.key for /metrics (default: a self-signed certificate per replica)",
    ),
    healthAddress: Flag.String("health-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription(
        'Address the health probe endpoints /livez and /readyz bind to; 0 disables them (default ":8081")',
      ),
      Flag.withDefault(":8081"),
    ),
    webhookAddress: Flag.String("webhook-address").pipe(
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription(
        'Address the webhook endpoints /convert and /validate bind to; 0 disables them (default "0")',
      ),
      Flag.withDefault("0"),
    ),
    webhookName: Flag.String("webhook-name").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription(
        "Additional host name or address of the webhook certificate, besides the Service's; can be repeated",
      ),
      Flag.atLeast(0),
    ),
    webhookClientAuthority: optionalText(
      "webhook-client-authority",
      "FILE",
      "PEM file with the CA of the API server's client certificate for webhooks (default: client certificates are not checked)",
    ),
    certificateDirectory: optionalText(
      "certificate-directory",
      "FOLDER",
      "Directory with an externally managed tls.crt and tls.key (default: the operator creates and renews its certificates)",
    ),
    secretPolling: Flag.Boolean("secret-polling").pipe(
      Flag.withDescription(
        "Read referenced Secrets by name once a minute instead of listing and watching Secrets (default false)",
      ),
      Flag.withDefault(false),
    ),
  },
  Effect.fn("run")(function* (input) {
    // The operator starts no program: whoever controls it gains no shell.
    Deno.permissions.revokeSync({ name: "run" });
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
    "Run the operator, which reconciles every LlamaStackDistribution. Exits with code 0 on SIGTERM and SIGINT.",
  ),
  Command.withShortDescription("Run the operator"),
);
