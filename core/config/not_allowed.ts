/** What of a resource exceeds the allowances (core/operator/allowances.ts). */
import type { Spec } from "../api/v1alpha2.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isLike } from "../data/glob.ts";
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { NotAllowed } from "../failure/failures.ts";
import type { Allowances } from "../operator/allowances.ts";

/** Whether an object of that namespace may be read for a resource; undefined means the namespace of the resource. */
export const mayRead = (namespace: string | undefined, own: string | undefined, allowances: Allowances): boolean =>
  namespace === undefined || namespace === own || matches(namespace, allowances.caBundleNamespaces);

/** Every part of the spec that exceeds the allowances; `namespace` is that of the resource, if known. */
export const notAllowedIn = (
  spec: Spec,
  namespace: string | undefined,
  allowances: Allowances,
): ReadonlyArray<NotAllowed> => {
  const overrides = objectAt(spec as unknown as Json, "workload", "overrides");
  const path: FieldPath = ["spec", "workload", "overrides"];
  return [
    ...volumes(overrides, path, allowances),
    ...(allowances.privileged ? [] : privileges(overrides, path)),
    ...exposure(spec, allowances),
    ...annotations(
      spec.networking?.serviceAnnotations,
      ["spec", "networking", "serviceAnnotations"],
      "serviceAnnotations",
      allowances,
    ),
    ...serviceAccount(overrides, path, allowances),
    ...caBundle(spec, namespace, allowances),
  ];
};

const denied = (path: FieldPath, what: string, setting: string): NotAllowed => new NotAllowed({ path, what, setting });

const volumes = (overrides: JsonObject, path: FieldPath, allowances: Allowances): ReadonlyArray<NotAllowed> =>
  listAt(overrides, "volumes").flatMap((volume, index) =>
    (isObject(volume) ? Object.keys(volume) : [])
      .filter((kind) => kind !== "name" && !allowances.volumes.includes(kind))
      .map((kind) => denied([...path, "volumes", index, kind], `a volume of kind ${kind}`, "allow.volumes"))
  );

const exposure = ({ networking }: Spec, allowances: Allowances): ReadonlyArray<NotAllowed> => {
  const expose = networking?.expose;
  if (expose === undefined || expose.enabled === false) return [];
  const path: FieldPath = ["spec", "networking", "expose"];
  // An Ingress without a host takes the requests for every host.
  const host = mayUseAnyHost(allowances) ||
      expose.hostname !== undefined && matches(expose.hostname, allowances.ingressHosts) &&
        !coversExcluded(expose.hostname, allowances.ingressHosts)
    ? []
    : [
      new NotAllowed({
        path: [...path, "hostname"],
        what: expose.hostname === undefined
          ? `${expose.gateway === undefined ? "an Ingress" : "an HTTPRoute"} without a host name`
          : `host name "${expose.hostname}"`,
        setting: "allow.ingressHosts",
        isUnset: expose.hostname === undefined,
      }),
    ];
  return [...annotations(expose.annotations, [...path, "annotations"], "ingressAnnotations", allowances), ...host];
};

const mayUseAnyHost = ({ ingressHosts }: Allowances): boolean =>
  ingressHosts.includes("*") && !ingressHosts.some((pattern) => pattern.startsWith("!"));

/** `*.example.com` serves every host below it, also one that the settings exclude. */
const coversExcluded = (hostname: string, patterns: ReadonlyArray<string>): boolean =>
  hostname.startsWith("*.") &&
  patterns.some((pattern) =>
    pattern.startsWith("!") && pattern.toLowerCase().endsWith(hostname.slice(1).toLowerCase())
  );

/** Where hosts are limited, annotations that name further ones are allowed only by their whole name. */
const annotations = (
  written: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  part: "ingressAnnotations" | "serviceAnnotations",
  allowances: Allowances,
): ReadonlyArray<NotAllowed> =>
  Object.keys(written ?? {}).flatMap((name) => {
    if (!matches(name, allowances[part])) return [denied([...path, name], "this annotation", `allow.${part}`)];
    return mayUseAnyHost(allowances) || allowances[part].includes(name) || !matches(name, HOST_ANNOTATIONS) ? [] : [
      denied([...path, name], "an annotation that can add or rewrite hosts", `allow.ingressHosts (or allow.${part})`),
    ];
  });

/** Annotations of controllers by which an Ingress, Route or Service is served under hosts that its rules do not name. */
const HOST_ANNOTATIONS: ReadonlyArray<string> = [
  // ingress-nginx and HAProxy Ingress (server-alias, server-alias-regex), Kong (host-aliases), external-dns (hostname), and others.
  "*alias*",
  "*host*",
  // Names in the DNS: external-dns and its compatibility modes, Gardener, Azure; and names of certificates.
  "*dnsname*",
  "*dns-label*",
  "*domain*",
  "dns.alpha.kubernetes.io/*",
  "*common-name*",
  "*commonname*",
  "*alt-names*",
  // ngrok, Consul.
  "k8s.ngrok.com/*",
  "consul.hashicorp.com/*",
  // Conditions and rewrites of HAProxy, AWS, F5 and Azure Application Gateway.
  "*/route-acl",
  "alb.ingress.kubernetes.io/transforms.*",
  "virtual-server.f5.com/rewrite-*",
  "appgw.ingress.kubernetes.io/rewrite-*",
  // Raw configuration: of nginx, and of HAProxy (config-backend, config-frontend, …).
  "*snippet*",
  "*/config-*",
  // HAProxy Ingress and ingress-nginx: redirects from other hosts.
  "*/redirect-from*",
  "*/from-to-www-redirect",
  // AWS Load Balancer Controller: rules of its own.
  "alb.ingress.kubernetes.io/conditions.*",
  "alb.ingress.kubernetes.io/actions.*",
  // Traefik: certificates for other hosts.
  "traefik.ingress.kubernetes.io/router.tls.domains*",
  // Emissary: mappings. Skipper: routes and their predicates.
  "getambassador.io/config",
  "zalando.org/skipper-*",
];

const caBundle = (
  { networking }: Spec,
  own: string | undefined,
  allowances: Allowances,
): ReadonlyArray<NotAllowed> => {
  const namespace = networking?.tls?.caBundle?.configMapNamespace;
  return mayRead(namespace, own, allowances) ? [] : [denied(
    ["spec", "networking", "tls", "caBundle", "configMapNamespace"],
    `a ConfigMap of namespace "${namespace}"`,
    "allow.caBundleNamespaces",
  )];
};

const serviceAccount = (overrides: JsonObject, path: FieldPath, allowances: Allowances): ReadonlyArray<NotAllowed> => {
  const name = stringAt(overrides, "serviceAccountName");
  return name === undefined || matches(name, allowances.serviceAccounts)
    ? []
    : [denied([...path, "serviceAccountName"], `ServiceAccount "${name}"`, "allow.serviceAccounts")];
};

const PRIVILEGED = "allow.privileged";

/** What the restricted Pod Security Standard forbids, of the fields that a resource can set. */
const privileges = (overrides: JsonObject, path: FieldPath): ReadonlyArray<NotAllowed> => {
  const context = objectAt(overrides, "securityContext");
  const at: FieldPath = [...path, "securityContext"];
  const rows: ReadonlyArray<readonly [boolean, ReadonlyArray<string>, string]> = [
    [member(context, "runAsUser") === 0, ["runAsUser"], "the root user"],
    [member(context, "runAsNonRoot") === false, ["runAsNonRoot"], "running as root"],
    [isUnconfined(context, "seccompProfile"), ["seccompProfile", "type"], "an unconfined seccomp profile"],
    [isUnconfined(context, "appArmorProfile"), ["appArmorProfile", "type"], "an unconfined AppArmor profile"],
    [!isUsualLabel(objectAt(context, "seLinuxOptions")), ["seLinuxOptions"], "this SELinux label"],
    [
      member(objectAt(context, "windowsOptions"), "hostProcess") === true,
      ["windowsOptions", "hostProcess"],
      "a process on the host",
    ],
  ];
  return [
    ...rows.filter(([found]) => found).map(([, field, what]) => denied([...at, ...field], what, PRIVILEGED)),
    ...listAt(context, "sysctls").flatMap((entry, index) => {
      const name = stringAt(entry, "name") ?? "";
      return SAFE_SYSCTLS.has(name) ? [] : [denied([...at, "sysctls", index], `sysctl "${name}"`, PRIVILEGED)];
    }),
    ...Object.entries(objectAt(overrides, "podAnnotations"))
      .filter(([name, value]) =>
        name.startsWith(APPARMOR) && value !== "runtime/default" && !String(value).startsWith("localhost/")
      ).map(([name]) => denied([...path, "podAnnotations", name], "an unconfined AppArmor profile", PRIVILEGED)),
    ...listAt(overrides, "volumeMounts").flatMap((mount, index) =>
      stringAt(mount, "mountPropagation") === "Bidirectional"
        ? [denied([...path, "volumeMounts", index, "mountPropagation"], "a mount that reaches the host", PRIVILEGED)]
        : []
    ),
  ];
};

const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";

const isUnconfined = (context: JsonObject, profile: string): boolean =>
  stringAt(context, profile, "type") === "Unconfined";

/** Source: the Pod Security Standards, baseline level, SELinux. */
const isUsualLabel = (options: JsonObject): boolean =>
  ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"].includes(
    stringAt(options, "type") ?? "",
  ) && (stringAt(options, "user") ?? "") === "" && (stringAt(options, "role") ?? "") === "";

/** Source: the Pod Security Standards, baseline level, sysctls. */
const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
]);

/** Whether some pattern includes the name and none excludes it; letters count in either case, as host names do. */
export const matches = (name: string, patterns: ReadonlyArray<string>): boolean => {
  const text = name.toLowerCase();
  const fits = (pattern: string) => isLike(text, pattern.toLowerCase());
  return patterns.some((pattern) => !pattern.startsWith("!") && fits(pattern)) &&
    !patterns.some((pattern) => pattern.startsWith("!") && fits(pattern.slice(1)));
};
