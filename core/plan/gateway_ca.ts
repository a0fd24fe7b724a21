/**
 * Whether a gateway could verify the server. With the CA of another server, controllers accept all objects, and gateways answer
 * every request with 500; the operator has both certificates, and asks nobody.
 */
import type { Spec } from "../api/v1alpha2.ts";
import { isCertificate } from "../data/digest.ts";
import { CERTIFICATES_MAX } from "../data/limits.ts";
import type { Blueprint } from "../resources/blueprint.ts";
import type { Sources } from "../snapshot/cluster_snapshot.ts";
import type { Reference } from "../snapshot/references.ts";
import { certificatesIn } from "./ca_bundle.ts";
import { missingReferences } from "./reference_failures.ts";
import { isServerVouchedFor } from "./secret_values.ts";

/** In the order in which they are looked for; undefined also where it is not known. */
export const missingGatewayCa = (
  spec: Spec,
  references: ReadonlyArray<Reference>,
  snapshot: Pick<Sources, "secrets" | "configMaps" | "tooLarge">,
  ownNamespace: string,
): Blueprint["missingGatewayCa"] => {
  const named = references.find(({ path, name }) =>
    path.includes("caConfigMapName") && snapshot.tooLarge.every((large) => large.name !== name)
  );
  if (named === undefined) return undefined;
  const [missing] = missingReferences([named], snapshot, ownNamespace);
  if (missing !== undefined) return missing._tag === "ConfigMapNotFound" ? "ConfigMap" : "key";
  const text = snapshot.configMaps.get(`${ownNamespace}/${named.name}`)?.data["ca.crt"];
  if (text === undefined) return "text";
  const blocks = certificatesIn(text);
  if (blocks.length > CERTIFICATES_MAX) return undefined;
  const readable = blocks.filter(isCertificate).length;
  if (readable < blocks.length || readable === 0) return readable === 0 ? "certificate" : "readable";
  return isServerVouchedFor(spec, snapshot, text) === false ? "authority" : undefined;
};
