/**
 * What a failure rests on beside the resource and the rules of the API. Admission rejects only what rests on nothing else
 * (core/admission/judgement.ts); what rests on the rest of the cluster comes with no release of the operator (preserve.ts). Who can
 * fix it is another question, with a column of its own (core/report/failure_table.ts).
 */
import type { ReconcileFailure } from "./reconcile_failure.ts";

/**
 * `resource`: on nothing else. `operator`: on its version and settings, which judge a server, a base config or an own config as well.
 * `elsewhere`: on an image, a registry, or a Secret or ConfigMap.
 */
type Ground = "resource" | "operator" | "elsewhere";

/** Those that are not named rest on the resource. */
const GROUNDS: { readonly [Tag in ReconcileFailure["_tag"]]?: Exclude<Ground, "resource"> } = {
  BaseConfigRequired: "operator",
  BaseUnreadable: "operator",
  OverrideConfigInvalid: "operator",
  OverrideForOtherServerFamily: "operator",
  UnsupportedConfigVersion: "operator",
  UnsupportedImageVersion: "operator",
  UnsupportedServer: "operator",
  ConfigMapKeyMissing: "elsewhere",
  ConfigMapNotFound: "elsewhere",
  ExternalProviderUnfit: "elsewhere",
  ImageLabelsAwaited: "elsewhere",
  ImageLabelsUnread: "elsewhere",
  SecretKeyMissing: "elsewhere",
  SecretNotFound: "elsewhere",
};

export const restsOn = ({ _tag }: Pick<ReconcileFailure, "_tag">): Ground => GROUNDS[_tag] ?? "resource";
