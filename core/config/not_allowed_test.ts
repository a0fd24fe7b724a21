import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, failures, SURROUNDINGS } from "../../tests/given.ts";
import { derive } from "./derive.ts";
import { matches } from "./not_allowed.ts";
import { ALLOWANCES_DEFAULT } from "../operator/allowances.ts";
import type { JsonObject } from "../data/json.ts";

const overrides = (more: JsonObject): JsonObject => ({ workload: { overrides: more } });
const expose = (more: JsonObject): JsonObject => ({ networking: { expose: more } });

for (
  const [what, spec, want] of [
    ["a volume of the host", overrides({ volumes: [{ name: "v", hostPath: { path: "/" } }] }), "volumes[0].hostPath"],
    ["a volume of NFS", overrides({ volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] }), "volumes[0].nfs"],
    ["the root user", overrides({ securityContext: { runAsUser: 0 } }), "securityContext.runAsUser"],
    ["running as root", overrides({ securityContext: { runAsNonRoot: false } }), "securityContext.runAsNonRoot"],
    [
      "an unconfined seccomp profile",
      overrides({ securityContext: { seccompProfile: { type: "Unconfined" } } }),
      "securityContext.seccompProfile.type",
    ],
    [
      "an unconfined AppArmor profile",
      overrides({ securityContext: { appArmorProfile: { type: "Unconfined" } } }),
      "securityContext.appArmorProfile.type",
    ],
    [
      "an unconfined AppArmor profile of the old form",
      overrides({ podAnnotations: { "container.apparmor.security.beta.kubernetes.io/llama-stack": "unconfined" } }),
      'podAnnotations["container.apparmor.security.beta.kubernetes.io/llama-stack"]',
    ],
    [
      "another SELinux type",
      overrides({ securityContext: { seLinuxOptions: { type: "spc_t" } } }),
      "securityContext.seLinuxOptions",
    ],
    [
      "an unsafe sysctl",
      overrides({ securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }),
      "securityContext.sysctls[0]",
    ],
    [
      "a process on the host",
      overrides({ securityContext: { windowsOptions: { hostProcess: true } } }),
      "securityContext.windowsOptions.hostProcess",
    ],
    [
      "a mount that reaches the host",
      overrides({ volumeMounts: [{ name: "v", mountPath: "/v", mountPropagation: "Bidirectional" }] }),
      "volumeMounts[0].mountPropagation",
    ],
  ] as ReadonlyArray<readonly [string, JsonObject, string]>
) {
  Deno.test(`the defaults do not allow ${what}`, () => {
    deepStrictEqual(failures(spec), [`NotAllowed at spec.workload.overrides.${want}`]);
  });
}

Deno.test("the defaults do not allow annotations with snippets of a proxy's configuration", () => {
  deepStrictEqual(failures(expose({ annotations: { "nginx.ingress.kubernetes.io/server-snippet": "x" } })), [
    'NotAllowed at spec.networking.expose.annotations["nginx.ingress.kubernetes.io/server-snippet"]',
  ]);
});

Deno.test("hosts that the settings exclude stay excluded, also beside * and below a wildcard", () => {
  const allow = { ...ALLOWANCES_DEFAULT, ingressHosts: ["*", "!bank.example.com"] };
  const isAllowed = (hostname: string) =>
    Result.isSuccess(derive(decoded(expose({ hostname })), { ...SURROUNDINGS, allow }));
  const denied = (hostname: string, annotations: JsonObject = {}) =>
    failures(expose({ hostname, annotations }), { allow });
  const hostname = ["NotAllowed at spec.networking.expose.hostname"];
  deepStrictEqual(denied("bank.example.com"), hostname);
  deepStrictEqual(denied("*.example.com"), hostname);
  strictEqual(isAllowed("shop.example.com"), true);
  for (
    const name of ["nginx.ingress.kubernetes.io/server-alias", "dns.gardener.cloud/dnsnames", "haproxy.org/route-acl"]
  ) {
    const annotated = { [name]: "bank.example.com" };
    deepStrictEqual(denied("shop.example.com", annotated).length, 1, name);
    const anywhere = derive(decoded(expose({ hostname: "shop.example.com", annotations: annotated })), SURROUNDINGS);
    strictEqual(Result.isSuccess(anywhere), true, name);
  }
});

Deno.test("the settings narrow hosts, annotations and ServiceAccounts", () => {
  const allow = {
    ...ALLOWANCES_DEFAULT,
    ingressHosts: ["*.apps.example.com"],
    ingressAnnotations: ["cert-manager.io/*"],
    serviceAccounts: ["llama-*"],
  };
  const denied = (spec: JsonObject) => failures(spec, { allow });
  deepStrictEqual(denied(expose({})), ["NotAllowed at spec.networking.expose.hostname"]);
  const wayOut = (spec: JsonObject): string | undefined => {
    const found = derive(decoded(spec), { ...SURROUNDINGS, allow });
    return Result.isFailure(found) ? found.failure.failures[0]?.message.split("; ")[1] : undefined;
  };
  deepStrictEqual([expose({}), expose({ hostname: "a.b.example.com" })].map(wayOut), [
    "set the field to an allowed value, or ask the administrator to allow it",
    "remove the field, or ask the administrator to allow it",
  ]);
  deepStrictEqual(denied(expose({ hostname: "a.b.example.com" })), ["NotAllowed at spec.networking.expose.hostname"]);
  deepStrictEqual(denied(expose({ hostname: "my.apps.example.com", annotations: { a: "b" } })), [
    "NotAllowed at spec.networking.expose.annotations.a",
  ]);
  deepStrictEqual(denied(overrides({ serviceAccountName: "admin" })), [
    "NotAllowed at spec.workload.overrides.serviceAccountName",
  ]);
});

Deno.test("allow.serviceAnnotations limits the annotations of the Service", () => {
  const service = (name: string): JsonObject => ({ networking: { serviceAnnotations: { [name]: "x" } } });
  const allow = { ...ALLOWANCES_DEFAULT, serviceAnnotations: ["prometheus.io/*"] };
  deepStrictEqual(failures(service("metallb.io/address-pool"), { allow }), [
    'NotAllowed at spec.networking.serviceAnnotations["metallb.io/address-pool"]',
  ]);
  for (
    const [spec, more] of [[service("prometheus.io/scrape"), { allow }], [
      service("metallb.io/address-pool"),
      {},
    ]] as const
  ) {
    strictEqual(Result.isSuccess(derive(decoded(spec), { ...SURROUNDINGS, ...more })), true);
  }
});

for (
  const name of [
    "nginx.ingress.kubernetes.io/server-alias",
    "nginx.ingress.kubernetes.io/from-to-www-redirect",
    "nginx.ingress.kubernetes.io/upstream-vhost",
    "nginx.org/server-snippets",
    "haproxy-ingress.github.io/server-alias-regex",
    "haproxy-ingress.github.io/config-backend",
    "ingress.kubernetes.io/config-backend",
    "haproxy-ingress.github.io/redirect-from-regex",
    "konghq.com/host-aliases",
    "external-dns.alpha.kubernetes.io/hostname",
    "external-dns.alpha.kubernetes.io/internal-hostname",
    "alb.ingress.kubernetes.io/conditions.my",
    "zalando.org/skipper-routes",
    "getambassador.io/config",
    "Example.com/My-Host",
  ]
) {
  Deno.test(`where hosts are limited, the annotation ${name} is allowed by its whole name only`, () => {
    const allow = { ...ALLOWANCES_DEFAULT, ingressAnnotations: ["*"], ingressHosts: ["*.apps.example.com"] };
    const ingress = expose({ hostname: "my.apps.example.com", annotations: { [name]: "other.example.com" } });
    const service: JsonObject = { networking: { serviceAnnotations: { [name]: "other.example.com" } } };
    deepStrictEqual(failures(ingress, { allow }), [`NotAllowed at spec.networking.expose.annotations["${name}"]`]);
    deepStrictEqual(failures(service, { allow }), [`NotAllowed at spec.networking.serviceAnnotations["${name}"]`]);
    const named = { ...allow, ingressAnnotations: ["*", name], serviceAnnotations: ["*", name] };
    for (
      const [spec, more] of [[ingress, { allow: named }], [service, { allow: named }], [service, {}], [ingress, {
        allow: { ...allow, ingressHosts: ["*"] },
      }]] as const
    ) strictEqual(Result.isSuccess(derive(decoded(spec), { ...SURROUNDINGS, ...more })), true);
  });
}

Deno.test("where hosts are limited, annotations that say nothing about hosts are allowed", () => {
  const allow = { ...ALLOWANCES_DEFAULT, ingressHosts: ["*.apps.example.com"] };
  const annotations = {
    "cert-manager.io/cluster-issuer": "x",
    "nginx.ingress.kubernetes.io/proxy-body-size": "x",
    "haproxy.router.openshift.io/timeout": "x",
    "alb.ingress.kubernetes.io/scheme": "x",
  };
  const spec = expose({ hostname: "my.apps.example.com", annotations });
  strictEqual(Result.isSuccess(derive(decoded(spec), { ...SURROUNDINGS, allow })), true);
});

Deno.test("a CA bundle comes from the namespace of the resource, or from those that the settings name", () => {
  const bundle = (configMapNamespace: string): JsonObject => ({
    networking: { tls: { caBundle: { configMapName: "ca", configMapNamespace } } },
  });
  const allow = { ...ALLOWANCES_DEFAULT, caBundleNamespaces: ["authorities-*"] };
  const denied = ["NotAllowed at spec.networking.tls.caBundle.configMapNamespace"];
  deepStrictEqual(failures(bundle("kube-system")), denied);
  deepStrictEqual(failures(bundle("kube-system"), { allow }), denied);
  for (const [spec, more] of [[bundle("default"), {}], [bundle("authorities-eu"), { allow }]] as const) {
    strictEqual(Result.isSuccess(derive(decoded(spec), { ...SURROUNDINGS, ...more })), true);
  }
});

for (
  const [name, patterns, want] of [
    ["a", ["*"], true],
    ["a", [], false],
    ["a", ["!b"], false],
    ["x-SNIPPET-y", ["*", "!*snippet*"], false],
    ["abcabc", ["a*b*c"], true],
    ["ab", ["a*ab"], false],
    ["aa", ["a*a"], true],
    ["a", ["a*a"], false],
    ["a.b", ["a?b"], false],
    ["", [""], true],
    [`${"a".repeat(50_000)}b`, [`${"a*".repeat(100)}c`], false],
  ] as const
) {
  Deno.test(`matches() compares ${name.slice(0, 12)} with ${patterns.join(", ").slice(0, 30)}: ${want}`, () => {
    strictEqual(matches(name, patterns), want);
  });
}
