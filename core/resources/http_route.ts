/** Access by way of Gateways: the HTTPRoute `<cr>`, and the BackendTLSPolicy `<cr>` of a server that speaks TLS. */
import type { FieldPath } from "../data/field_path.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { type Blueprint, type Manifest, portOf, servesTls } from "./blueprint.ts";
import { exposureOf } from "./exposure.ts";
import { manifest } from "./kubernetes_objects.ts";
import { metadataOf } from "./metadata.ts";
import { PORT_NAME, serviceName } from "./service.ts";

export const GATEWAY_GROUP = "gateway.networking.k8s.io";

/** Undefined without a gateway, or where the API server does not have the kind. Values that it would set are written out. */
export const httpRoute = (blueprint: Blueprint): Manifest | undefined => {
  const { name, spec, platform } = blueprint;
  const exposure = exposureOf(spec, platform);
  if (exposure.kind !== "Gateway" || exposure.parentRefs.length === 0) return undefined;
  if (!platform.served.includes("HTTPRoute")) return undefined;
  const { hostname, annotations, gateway } = spec.networking?.expose ?? {};
  return manifest<"HTTPRoute">({
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: "HTTPRoute",
    metadata: metadataOf(blueprint, name, {
      annotations: {
        // Those of a server that does not ask for a gateway are for the controller of an Ingress or Route.
        ...(gateway === undefined ? {} : annotations),
        ...(gateway?.parentRefs === undefined
          ? { [DEFAULT_GATEWAYS_ANNOTATION]: JSON.stringify(exposure.parentRefs) }
          : {}),
      },
    }),
    spec: {
      parentRefs: exposure.parentRefs.map((parent) => ({ group: GATEWAY_GROUP, kind: "Gateway", ...parent })),
      ...(hostname === undefined ? {} : { hostnames: [hostname] }),
      rules: [{
        matches: [{ path: { type: "PathPrefix", value: "/" } }],
        // Answers are streams, which last as long as a model writes.
        timeouts: { request: "0s" },
        backendRefs: [{ group: "", kind: "Service", name: serviceName(name), port: portOf(spec), weight: 1 }],
      }],
    },
  });
};

/** Annotation of an HTTPRoute: the Gateways that the settings named, where the resource names none. */
export const DEFAULT_GATEWAYS_ANNOTATION = "llamastack.io/default-gateways";

/** Undefined for a server without TLS, and where the gateway cannot be told how to verify it. */
export const backendTlsPolicy = (blueprint: Blueprint): Manifest | undefined => {
  const trust = backendTrust(blueprint);
  if (trust.kind !== "verified" || !blueprint.platform.served.includes("BackendTLSPolicy")) return undefined;
  return manifest<"BackendTLSPolicy">({
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: "BackendTLSPolicy",
    metadata: metadataOf(blueprint, blueprint.name),
    spec: {
      targetRefs: [{ group: "", kind: "Service", name: serviceName(blueprint.name), sectionName: PORT_NAME }],
      validation: {
        caCertificateRefs: [{ group: "", kind: "ConfigMap", name: trust.caConfigMapName }],
        hostname: trust.hostname,
      },
    },
  });
};

/** How the gateway knows that it speaks with the server. */
type Trust =
  | { readonly kind: "none" }
  | { readonly kind: "verified"; readonly caConfigMapName: string; readonly hostname: string }
  | { readonly kind: "lacking"; readonly cause: Warning };

const backendTrust = (
  blueprint: Pick<Blueprint, "name" | "namespace" | "spec" | "platform" | "certificateNames">,
): Trust => {
  const { spec, platform, certificateNames } = blueprint;
  const exposure = exposureOf(spec, platform);
  if (exposure.kind !== "Gateway" || !servesTls(spec)) return { kind: "none" };
  const { caConfigMapName } = exposure;
  if (caConfigMapName === undefined) return lacking(CA, NO_CA);
  const hostname = certificateNames === undefined ? ownNames(blueprint)[0] : certifiedName(blueprint, certificateNames);
  return hostname === undefined
    ? lacking(["spec", "networking", "tls", "secretName"], NO_NAME)
    : { kind: "verified", caConfigMapName, hostname };
};

const CA: FieldPath = ["spec", "networking", "expose", "gateway", "caConfigMapName"];

const NO_CA =
  "needed, since the server speaks TLS and the gateway has to verify it: name a ConfigMap whose key ca.crt has the CA of its " +
  "certificate";

/** The BackendTLSPolicy is written nevertheless: without it, the gateway would send requests to the server in clear text. */
const noCaIn = (name: string, missing: NonNullable<Blueprint["missingGatewayCa"]>): string =>
  `ConfigMap "${name}" ${
    WITHOUT_CA[missing]
  }. Until then the gateway cannot verify the server, and answers with errors`;

const WITHOUT_CA = {
  ConfigMap: "does not exist; create it with a key ca.crt that has the CA of the server's certificate",
  key: "has no key ca.crt; add it with the CA of the server's certificate",
  text: "has its key ca.crt in binaryData, where gateways do not look for it; write the certificate as PEM into data",
  certificate:
    "has no certificate that can be read in its key ca.crt; write the CA of the server's certificate there, as PEM",
  readable: "has a certificate in its key ca.crt that cannot be read; correct or remove it",
  authority: "has another CA in its key ca.crt than that of the server's certificate; add that one",
} as const;

const NO_NAME = "the certificate has no host name by which a gateway could verify the server; add that of its Service";

const lacking = (path: FieldPath, message: string): Trust => ({
  kind: "lacking",
  cause: warning("GatewayCannotVerify", path, message),
});

/** The names of the Service, the usual one first. */
const ownNames = ({ name, namespace }: Pick<Blueprint, "name" | "namespace">): ReadonlyArray<string> => {
  const service = serviceName(name);
  return [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    `${service}.${namespace}`,
    service,
  ];
};

/** One that the certificate has: of the Service if possible, else that under which clients reach the server, else any. */
const certifiedName = (
  blueprint: Pick<Blueprint, "name" | "namespace" | "spec">,
  names: ReadonlyArray<string>,
): string | undefined => {
  const hosts = names.map((name) => name.toLowerCase());
  const wanted = [...ownNames(blueprint), blueprint.spec.networking?.expose?.hostname ?? ""];
  return wanted.find((name) => HOST.test(name) && hosts.some((host) => covers(host, name))) ??
    hosts.find((host) => HOST.test(host));
};

const covers = (host: string, name: string): boolean =>
  host === name || host.startsWith("*.") && host.slice(1) === name.slice(name.indexOf("."));

/** Of a name, and neither of an address nor with a wildcard. */
const HOST = /^(?=.{1,253}$)(?!.*(^|\.)[0-9]+$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Of a server that no request can reach by way of a gateway, although it is to be exposed there. */
export const gatewayWarnings = (
  blueprint: Parameters<typeof backendTrust>[0] & Pick<Blueprint, "missingGatewayCa">,
): ReadonlyArray<Warning> => {
  const exposure = exposureOf(blueprint.spec, blueprint.platform);
  if (exposure.kind !== "Gateway") return [];
  const trust = backendTrust(blueprint);
  const { missingGatewayCa: missing } = blueprint;
  return [
    ...(exposure.parentRefs.length > 0 ? [] : [
      warning(
        "GatewayNotNamed",
        ["spec", "networking", "expose", "gateway", "parentRefs"],
        "names no Gateway, and neither does gateway.parentRefs of the operator's settings; the server is not exposed",
      ),
    ]),
    ...(trust.kind === "lacking" ? [trust.cause] : []),
    ...(trust.kind === "verified" && missing !== undefined
      ? [warning("GatewayCannotVerify", CA, noCaIn(trust.caConfigMapName, missing))]
      : []),
  ];
};
