/** With which object a server is exposed: the one judgement behind these objects, their conditions and the warnings. */
import { isExposed } from "../api/exposed.ts";
import type { ParentRef, Spec } from "../api/v1alpha2.ts";
import { type Platform, servesTls } from "./blueprint.ts";

export type Exposure =
  | { readonly kind: "none" | "Ingress" | "Route" }
  | {
    readonly kind: "Gateway";
    /** None if neither the resource nor the settings name one. */
    readonly parentRefs: ReadonlyArray<ParentRef>;
    readonly caConfigMapName: string | undefined;
  };

/**
 * A gateway is used where the resource has `gateway`. That of the settings also serves exposed servers without it, but only
 * where it can: an HTTPRoute can be written, and no CA is needed. Fields that are of an Ingress alone ask for an Ingress.
 */
export const exposureOf = (spec: Spec, platform: Platform): Exposure => {
  if (!isExposed(spec)) return { kind: "none" };
  const { gateway, ingressClassName, tlsSecretName } = spec.networking?.expose ?? {};
  const usual = platform.gatewayParentRefs ?? [];
  const asksForIngress = ingressClassName !== undefined || tlsSecretName !== undefined;
  const isUsual = usual.length > 0 && !asksForIngress && platform.served.includes("HTTPRoute") && !servesTls(spec);
  if (gateway !== undefined || isUsual) {
    return {
      kind: "Gateway",
      parentRefs: gateway?.parentRefs ?? usual,
      caConfigMapName: gateway?.caConfigMapName,
    };
  }
  return { kind: platform.served.includes("Route") ? "Route" : "Ingress" };
};

/** Namespaces of the gateways, whose pods often run there. */
export const gatewayNamespaces = (spec: Spec, platform: Platform): ReadonlyArray<string> => {
  const exposure = exposureOf(spec, platform);
  return exposure.kind !== "Gateway" ? [] : [
    ...new Set(exposure.parentRefs.flatMap(({ namespace }) => namespace ?? [])),
  ];
};
