/** The operator under its own account and the Roles that we ship: no call is refused, and no rule is without a call. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { CRD_NAME } from "../../core/api/crd.ts";
import { AUTHORITY_KEY } from "../../core/certificates/authority.ts";
import { type Choices, DEFAULT } from "../../tools/package/choices.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { type Permission, permissionsFor } from "../../tools/package/permissions.ts";
import { isObject, type JsonObject, listAt } from "../../core/data/json.ts";
import { AUTHORITY_SECRET, HMAC_SECRET } from "../../core/api/own_objects.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { watchedNamespaces } from "../../shell/runtime/settings.ts";
import { type AuditEvent, type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { scraped } from "../scraped.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { serveIndex } from "../../tools/cluster/index_server.ts";
import {
  BARE,
  cleared,
  exerciseServer,
  install,
  lifeOfAServer,
  own,
  PLACE,
  prepare,
  refused,
  running,
  told,
  write,
} from "./operator_account.ts";
import {
  definitionName,
  installGatewayKinds,
  installOpenshiftKinds,
  installPrometheusKinds,
} from "./optional_definitions.ts";
import { eventually } from "../waiting.ts";

/** Another namespace that is watched. */
const SECOND = "more-servers";

/** Made to find out who may read metrics; they belong to no namespace and change nothing. */
const REVIEWS = ["tokenreviews", "subjectaccessreviews"];

/** Asked for by admission plugins of OpenShift alone, which no audit log shows. */
const NEVER_SEEN = ["update llamastackdistributions/finalizers", "create routes/custom-host"];

Deno.test("the operator's account may do what it does, and nothing else, on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled", audit: true });
  try {
    await prepare(cluster, [PLACE, SECOND]);
    await t.step("in the whole cluster: no request is denied, and no rule is unused", async () => {
      const choices = DEFAULT;
      await install(cluster, choices);
      // As after a restore that lost its content.
      await cluster.kubectl(["create", "secret", "generic", HMAC_SECRET, "-n", NAMESPACE]);
      await lifeOfAServer(cluster, choices, "all");
      await lifeOfALabelledServer(cluster, choices);
      await installOpenshiftKinds(cluster, "Route", "APIServer");
      // As after an upgrade from a release that stored the former version.
      await cluster.kubectl([
        ...["patch", "customresourcedefinition", CRD_NAME, "--subresource=status", "--type=merge"],
        ...["-p", JSON.stringify({ status: { storedVersions: ["v1alpha1", "v1alpha2"] } })],
      ]);
      const broken = JSON.stringify({ data: { [AUTHORITY_KEY]: btoa("no authorities") } });
      await cluster.kubectl(["patch", "secret", AUTHORITY_SECRET, "-n", NAMESPACE, "-p", broken]);
      await installPrometheusKinds(cluster, "PodMonitor", "PrometheusRule");
      await installGatewayKinds(cluster, "HTTPRoute", "BackendTLSPolicy");
      await lifeOfOptionalObjects(cluster, choices);
      await cluster.kubectl([
        ...["delete", "customresourcedefinition", "routes.route.openshift.io", "apiservers.config.openshift.io"],
        ...["podmonitors", "prometheusrules"].map(definitionName),
        ...GATEWAY_KINDS,
      ]);
      await metricsAreRead(cluster, choices);
      const events = await own(cluster, 0);
      deepStrictEqual(refused(events), []);
      deepStrictEqual(unused(permissionsFor(choices), events), NEVER_SEEN);
    });
  } finally {
    await cluster.stop();
  }
});

Deno.test("accounts with fewer rights make no call that is forbidden, on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled", audit: true });
  try {
    await prepare(cluster, [PLACE, SECOND]);
    await t.step("with Secrets read by name only: no call is forbidden, and none lists Secrets", async () => {
      const choices = { ...DEFAULT, secretPolling: true };
      const before = (await cluster.auditLog()).length;
      await withoutRoles(cluster);
      await install(cluster, choices);
      await lifeOfAServer(cluster, choices, "polled");
      const events = await own(cluster, before);
      ok(events.length > 50, String(events.length));
      deepStrictEqual(refused(events), []);
      deepStrictEqual(listsOfSecrets(events), []);
    });

    await t.step(
      "in two namespaces: no call leaves them, and cluster-wide rights are two objects by name and reviews of tokens",
      async () => {
        const choices = { ...DEFAULT, watched: [PLACE, SECOND] };
        const before = (await cluster.auditLog()).length;
        await withoutRoles(cluster);
        // These are written only where they do not trust the authority yet.
        await cluster.kubectl(["delete", "validatingwebhookconfiguration", NAME]);
        await install(cluster, choices);
        const path = "/spec/conversion/webhook/clientConfig/caBundle";
        const untrusted = JSON.stringify([{ op: "remove", path }]);
        await cluster.kubectl(["patch", "customresourcedefinition", CRD_NAME, "--type=json", "-p", untrusted]);
        await livesInBoth(cluster, choices);
        await lifeOfALabelledServer(cluster, choices);
        const events = await own(cluster, before);
        deepStrictEqual(refused(events), []);
        ok(listsOfSecrets(events).length > 0);
        deepStrictEqual(elsewhere(events), CLUSTER_WIDE);
        const clusterWide = permissionsFor(choices).filter(({ where, resource }) =>
          where === "cluster" && !REVIEWS.includes(resource)
        );
        deepStrictEqual(unused(clusterWide, events), []);
        deepStrictEqual(clusterWide.filter(({ names }) => names === undefined), []);
      },
    );

    await t.step(
      "as OLM installs it for two namespaces of WATCH_NAMESPACE: no call is refused or leaves them",
      async () => {
        const before = (await cluster.auditLog()).length;
        await withoutRoles(cluster);
        await installAsOlm(cluster, [NAMESPACE, PLACE, SECOND]);
        Deno.env.set("WATCH_NAMESPACE", `${PLACE},${SECOND}`);
        try {
          await livesInBoth(cluster, { ...DEFAULT, webhooks: false, watched: watchedNamespaces([]) });
        } finally {
          Deno.env.delete("WATCH_NAMESPACE");
        }
        const events = await own(cluster, before);
        deepStrictEqual(refused(events), []);
        deepStrictEqual(elsewhere(events), DISCOVERY);
      },
    );
  } finally {
    await cluster.stop();
  }
});

/** What an earlier installation was allowed, in any namespace. */
const withoutRoles = async (cluster: ControlPlane): Promise<void> => {
  await cluster.kubectl(["delete", "--ignore-not-found", "clusterrolebinding,clusterrole", NAME]);
  for (const namespace of [NAMESPACE, PLACE, SECOND]) {
    const names = [NAME, `${NAME}-resources`];
    await cluster.kubectl(["delete", "--ignore-not-found", "-n", namespace, "rolebinding,role", ...names]);
  }
};

const livesInBoth = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  deepStrictEqual(choices.watched, [PLACE, SECOND]);
  const operator = await running(cluster, choices);
  try {
    const name = choices.webhooks ? "one" : "bundled";
    await Promise.all([PLACE, SECOND].map((place) => exerciseServer(cluster, name, place)));
  } finally {
    await operator.stop();
  }
};

/** The rules of the namespaced bundle, as OLM grants them: in the operator's namespace and in each of the OperatorGroup. */
const installAsOlm = async (cluster: ControlPlane, namespaces: ReadonlyArray<string>): Promise<void> => {
  const file = new URL(
    `../../deploy/olm-namespaced/manifests/${NAME}-namespaced.clusterserviceversion.yaml`,
    import.meta.url,
  );
  const [csv] = Result.getOrThrow(readManifests(await Deno.readTextFile(file)));
  const granted = (field: string) => listAt(csv, "spec", "install", "spec", field);
  const resources = granted("clusterPermissions").flatMap((value) => listAt(value, "rules"))
    .flatMap((rule) => listAt(rule, "resources"));
  deepStrictEqual(resources, REVIEWS);
  const rules = granted("permissions").filter(isObject).flatMap((object) => listAt(object, "rules"));
  const group = "rbac.authorization.k8s.io";
  const objects = namespaces.flatMap((namespace): ReadonlyArray<JsonObject> => [
    { apiVersion: `${group}/v1`, kind: "Role", metadata: { name: NAME, namespace }, rules },
    {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata: { name: NAME, namespace },
      roleRef: { apiGroup: group, kind: "Role", name: NAME },
      subjects: [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }],
    },
  ]);
  for (const object of objects) await cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
};

const listsOfSecrets = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<AuditEvent> =>
  events.filter(({ verb, objectRef }) => (verb === "list" || verb === "watch") && objectRef?.resource === "secrets");

/** Requests outside of the watched namespaces and of the operator's own, each once. */
const elsewhere = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<string> =>
  [
    ...new Set(
      events.filter(({ objectRef }) => ![NAMESPACE, PLACE, SECOND].includes(objectRef?.namespace ?? ""))
        .map(({ verb, objectRef, requestURI }) =>
          objectRef?.resource === undefined
            ? `${verb} ${requestURI}`
            : `${verb} ${objectRef.resource} ${objectRef.name ?? ""}`
        ),
    ),
  ].sort();

const DISCOVERY = ["get /apis"];

const CLUSTER_WIDE = [
  ...DISCOVERY,
  `list customresourcedefinitions ${CRD_NAME}`,
  `list validatingwebhookconfigurations ${NAME}`,
  `patch customresourcedefinitions ${CRD_NAME}`,
  `patch validatingwebhookconfigurations ${NAME}`,
];

/** Metrics are for an account that was bound to the role of the installation, and for no other. */
const metricsAreRead = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  const [port] = freePorts(1) as [number];
  const operator = await running(cluster, choices, `127.0.0.1:${port}`);
  try {
    for (const name of ["prometheus", "stranger"]) await cluster.kubectl(["create", "serviceaccount", name]);
    await cluster.kubectl([
      ...["create", "clusterrolebinding", "prometheus", `--clusterrole=${NAME}-metrics-reader`],
      "--serviceaccount=default:prometheus",
    ]);
    const tokenOf = async (name: string) => (await cluster.kubectl(["create", "token", name])).trim();
    const [reader, stranger] = [await tokenOf("prometheus"), await tokenOf("stranger")];
    await eventually("metrics are served", () => scraped(port).catch(() => undefined));
    // The API server learns of the binding a moment later, and reviews are remembered for a while.
    await eventually("the reader is bound, and a pass has ended", async () => {
      const { status, text } = await scraped(port, reader);
      return status === 200 && text.includes("controller_runtime_reconcile_total") || undefined;
    });
    const statuses = [];
    for (const token of [undefined, "no token at all", stranger, reader]) {
      statuses.push((await scraped(port, token)).status);
    }
    deepStrictEqual(statuses, [401, 401, 403, 200]);
  } finally {
    await operator.stop();
  }
};

/** Its image is an index, so that the operator has to know the architectures of the cluster. */
const lifeOfALabelledServer = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  await using registry = await serveIndex({ amd64: {}, arm64: {} });
  const data = { "registries.plainHttp": `[${registry.host}]`, "registries.internal": `[${registry.host}]` };
  await cluster.kubectl(["patch", "configmap", SETTINGS_CONFIG_MAP, "-n", NAMESPACE, "-p", JSON.stringify({ data })]);
  const operator = await running(cluster, choices);
  try {
    const name = choices.watched.length === 0 ? "labelled" : "labelled-too";
    await write(cluster, name, { ...BARE, distribution: { image: `${registry.host}/a:1` } });
    await eventually(
      "the config of an image was read",
      () => Promise.resolve(registry.requests.some((path) => path.includes("/blobs/")) || undefined),
    );
  } finally {
    await operator.stop();
  }
};

const MONITORS = ["podmonitors", "prometheusrules"].map(definitionName).join(",");

const GATEWAY_KINDS = ["httproutes", "backendtlspolicies"].map((plural) => `${plural}.gateway.networking.k8s.io`);

const lifeOfOptionalObjects = async (cluster: ControlPlane, choices: Choices): Promise<void> => {
  for (const group of ["route", "config"]) {
    await eventually(`${group}.openshift.io is served`, async () => {
      const answer = await cluster.fetch(`/apis/${group}.openshift.io/v1`);
      await answer.body?.cancel();
      return answer.ok ? true : undefined;
    });
  }
  const profile = { tlsSecurityProfile: { type: "Modern", modern: {} } };
  await cluster.kubectl(
    ["apply", "--server-side", "-f", "-"],
    JSON.stringify({
      apiVersion: "config.openshift.io/v1",
      kind: "APIServer",
      metadata: { name: "cluster" },
      spec: profile,
    }),
  );
  const operator = await running(cluster, choices);
  try {
    const without = { ...BARE, monitoring: { enabled: false } };
    await write(cluster, "routed", without);
    await told(cluster, "routed");
    await write(cluster, "routed", { ...BARE, networking: { expose: {} }, monitoring: { rules: true } });
    await cleared(cluster, "routed", "routes.route.openshift.io", 1);
    await cleared(cluster, "routed", MONITORS, 2);
    await cluster.kubectl(["create", "configmap", "ca", "-n", PLACE, "--from-literal=ca.crt=any"]);
    await write(cluster, "routed", {
      ...without,
      networking: {
        tls: { enabled: true, secretName: "tls" },
        expose: { gateway: { parentRefs: [{ name: "public" }], caConfigMapName: "ca" } },
      },
    });
    await cleared(cluster, "routed", GATEWAY_KINDS.join(","), 2);
    await write(cluster, "routed", without);
    await cleared(cluster, "routed", GATEWAY_KINDS.join(","), 0);
    await cleared(cluster, "routed", "routes.route.openshift.io", 0);
    await cleared(cluster, "routed", MONITORS, 0);
  } finally {
    await operator.stop();
  }
};

const unused = (permissions: ReadonlyArray<Permission>, events: ReadonlyArray<AuditEvent>): ReadonlyArray<string> =>
  permissions.flatMap(({ apiGroup, resource, verbs, names, where }) =>
    verbs.filter((verb) =>
      !events.some(({ verb: seen, objectRef, responseStatus }) =>
        // An apply that makes its object needs both verbs, and is noted as `patch`.
        (seen === verb || (verb === "create" && seen === "patch" && responseStatus?.code === 201)) &&
        (objectRef?.apiGroup ?? "") === apiGroup &&
        [objectRef?.resource, objectRef?.subresource].filter((item) => item !== undefined).join("/") === resource &&
        (names === undefined || names.includes(objectRef?.name ?? "")) &&
        (where !== "own" || objectRef?.namespace === NAMESPACE)
      )
    ).map((verb) => `${verb} ${resource}`)
  );
