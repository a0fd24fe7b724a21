/** What an installation can be asked to be. */
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { PUBLISHER } from "./publisher.ts";

export interface Choices {
  readonly image: string;
  /** Namespaces whose resources are looked after; empty: all of them. */
  readonly watched: ReadonlyArray<string>;
  /** The namespaces to watch are those of an OperatorGroup: OLM writes them into an annotation of the pods. */
  readonly operatorGroup: boolean;
  readonly webhooks: boolean;
  /** Who makes the certificate of the webhooks; without meaning when there are none. */
  readonly certificates: "self-managed" | "cert-manager" | "service-ca" | "olm";
  /** Secrets are read by name only, never listed or watched. */
  readonly secretPolling: boolean;
  /** Images of distributions from the environment of the operator: a mirror or a digest instead of the pinned ones. */
  readonly relatedImages: ReadonlyArray<{ readonly variable: string; readonly image: string }>;
}

/** Where releases are published; for an image of your own: `deno task install-file IMAGE`. */
export const imageOf = (version: string): string => `${PUBLISHER.images}/llama-stack-operator:${version}`;

export const IMAGE = imageOf(OPERATOR_VERSION);

export const DEFAULT: Choices = {
  image: IMAGE,
  watched: [],
  operatorGroup: false,
  webhooks: true,
  certificates: "self-managed",
  secretPolling: false,
  relatedImages: [],
};

export const watchesAll = ({ watched, operatorGroup }: Choices): boolean => watched.length === 0 && !operatorGroup;
