/**
 * What an author of resources may make the operator do to nodes and to the network. The operator creates pods,
 * Ingresses and Routes with its own rights: without these limits, anyone who may edit resources could do things that
 * the cluster otherwise forbids. The operator's settings widen or narrow them; the defaults stay within the restricted
 * Pod Security Standard.
 */
export interface Allowances {
  /** Kinds of volumes, as the fields of a volume are called: `configMap`, `hostPath`, …. */
  readonly volumes: ReadonlyArray<string>;
  /** Root users, unconfined profiles, unsafe sysctls, host processes, mounts that reach the host. */
  readonly privileged: boolean;
  /**
   * Patterns with `*`; one that begins with `!` excludes. A name must match a pattern that includes it, and none that
   * excludes it.
   */
  readonly ingressAnnotations: ReadonlyArray<string>;
  readonly serviceAnnotations: ReadonlyArray<string>;
  readonly ingressHosts: ReadonlyArray<string>;
  readonly serviceAccounts: ReadonlyArray<string>;
  /** Namespaces, besides that of the resource, whose ConfigMaps `networking.tls.caBundle` may reference. */
  readonly caBundleNamespaces: ReadonlyArray<string>;
}

/** Volumes: those of the restricted Pod Security Standard. */
export const ALLOWANCES_DEFAULT: Allowances = {
  volumes: [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
  ],
  privileged: false,
  ingressAnnotations: ["*", "!*snippet*"],
  serviceAnnotations: ["*"],
  ingressHosts: ["*"],
  serviceAccounts: ["*"],
  caBundleNamespaces: [],
};
