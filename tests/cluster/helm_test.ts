/** The Helm chart on a real API server: a release from its installation to its removal, and from and to install.yaml. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { HMAC_SECRET, WEBHOOK_CONFIGURATION } from "../../core/api/own_objects.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { must } from "../../tools/install/run_program.ts";
import { type Choices, DEFAULT } from "../../tools/package/choices.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { manifest } from "../given.ts";
import { CHART, expected, type Helm, helmOn, IN_NAMESPACE, OPERATOR, PROGRAM, writeChart } from "./helm.ts";
import { goDefinition } from "./go_operator.ts";
import { running } from "./operator_account.ts";
import { list, read, ready, RESOURCES } from "./settled.ts";
import { aWhile, eventually, KUBECTL_LIMIT } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
const CONFIGURATION = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${WEBHOOK_CONFIGURATION}`;
const NEXT = "99.0.0";

Deno.test(`a release of the chart on a real API server, with ${PROGRAM}`, async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const home = await Deno.makeTempDir();
  try {
    const helm = await helmOn(home, cluster);
    const documented = await commandsOf(cluster, helm);

    await t.step("helm install --wait does not wait for webhooks that nobody answers yet", async () => {
      await documented("Helm", /^helm install|^kubectl label/);
      deepStrictEqual(await clients(cluster), [undefined, undefined]);
    });

    await t.step("the sample of the notes can be pasted", async () => {
      const text = await helm.run("get", "notes", NAME, ...IN_NAMESPACE);
      const command = text.slice(text.indexOf("kubectl apply"));
      match(await must("/bin/sh", ["-c", command], { env: helm.env }), /llamastack\.io\/vllm created/);
      await cluster.kubectl(["delete", "llsd", "vllm"]);
    });

    await t.step("the operator works with the account of the chart, and a resource becomes ready", async () => {
      await withOperator(cluster, DEFAULT, async () => {
        await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(manifest({ workload: { replicas: 2 } })));
        await ready(cluster, "my");
        await eventually("the caBundles are published", async () => {
          const bundles = await clients(cluster);
          return bundles.every((bundle) => bundle !== undefined) ? bundles : undefined;
        });
      });
    });

    await t.step("an upgrade changes the definition and the operator, and no server and no caBundle", async () => {
      const before = await state(cluster);
      const next = await nextChart(join(home, "next"));
      await helm.run("upgrade", NAME, next, ...IN_NAMESPACE, "--wait");
      match(await definitionText(cluster), /new in 99/);
      strictEqual(await operatorVersion(cluster), NEXT);
      deepStrictEqual(await state(cluster), before);
    });

    await t.step("a rollback restores both, and again changes no server and no caBundle", async () => {
      const before = await state(cluster);
      await documented("Helm", /^helm rollback/);
      ok(!(await definitionText(cluster)).includes("new in 99"));
      notStrictEqual(await operatorVersion(cluster), NEXT);
      deepStrictEqual(await state(cluster), before);
      await documented("Helm", /^helm upgrade/);
      deepStrictEqual(await state(cluster), before);
    });

    await t.step("webhooks can be disabled and enabled again, and certificates be left to others", async () => {
      const upgrade = (...flags: ReadonlyArray<string>) =>
        helm.run("upgrade", NAME, CHART, ...IN_NAMESPACE, "--reset-values", ...onClient, ...flags);
      await upgrade("--set", "webhooks.enabled=false");
      deepStrictEqual(at(await read(cluster, CRD), "spec", "conversion"), { strategy: "None" });
      strictEqual((await read(cluster, CONFIGURATION)).code, 404);
      await upgrade("--set", "webhooks.certificates=service-ca", "--set", "replicas=0");
      const annotations = objectAt(await read(cluster, CRD), "metadata", "annotations");
      strictEqual(annotations["service.beta.openshift.io/inject-cabundle"], "true");
      await upgrade();
      await withOperator(cluster, DEFAULT, async () => {
        await eventually(
          "the caBundles are published again",
          async () => (await clients(cluster)).every((bundle) => bundle !== undefined) || undefined,
        );
      });
    });

    await t.step("with watched namespaces, the operator works with the Roles of the chart", async () => {
      await cluster.kubectl(["create", "namespace", "team"]);
      await helm.run("upgrade", NAME, CHART, ...IN_NAMESPACE, "--reset-values", "--set", "watchNamespaces={team}");
      strictEqual(
        (await read(
          cluster,
          "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles/" +
            `${NAME}-resources`,
        )).kind,
        "Role",
      );
      await withOperator(cluster, { ...DEFAULT, watched: ["team"] }, async () => {
        await cluster.kubectl(
          ["apply", "-n", "team", "-f", "-"],
          JSON.stringify({
            ...manifest({}),
            metadata: { name: "watched", namespace: "team" },
          }),
        );
        await eventually("the resource in the watched namespace is ready", async () => {
          const path = "/apis/llamastack.io/v1alpha2/namespaces/team/llamastackdistributions/watched";
          return stringAt(await read(cluster, path), "status", "phase") === "Ready" ? true : undefined;
        });
      });
      await helm.run("upgrade", NAME, CHART, ...IN_NAMESPACE, "--reset-values");
    });

    await t.step("a second release is rejected with the name of the first", async () => {
      const { code, stderr } = await helm.ended("install", "second", CHART, "-n", "other", "--create-namespace");
      strictEqual(code, 1);
      match(stderr, new RegExp(`must equal "second": current value is "${NAME}"`));
    });

    await t.step("helm uninstall leaves the definition, the resources and the servers, and nothing else", async () => {
      const before = await servers(cluster);
      await documented("Helm", /^helm uninstall/);
      const definition = `customresourcedefinition.apiextensions.k8s.io/${CRD_NAME}`;
      await eventually("the definition alone", async () => (await partsOf(cluster)).join() === definition || undefined)
        .catch(async () => deepStrictEqual(await partsOf(cluster), [definition]));
      await aWhile();
      deepStrictEqual(await servers(cluster), before);
      // Secrets and Lease are the operator's own.
      const secrets = (await list(cluster, `/api/v1/namespaces/${NAMESPACE}/secrets`))
        .map((secret) => stringAt(secret, "metadata", "name"));
      deepStrictEqual(secrets, [`${NAME}-hmac`, `${NAME}-webhook-ca`]);
      await documented("Helm", /^helm install/);
      deepStrictEqual(await servers(cluster), before);
      await documented("Helm", /^helm uninstall/);
    });

    await t.step("after an uninstallation, a release of another name and namespace adopts the definition", async () => {
      await documented("Helm", /hmac|create namespace/, { OLD: NAMESPACE, NEW: "another" });
      const key = async (namespace: string) =>
        stringAt(await read(cluster, `/api/v1/namespaces/${namespace}/secrets/${HMAC_SECRET}`), "data", "key");
      strictEqual(await key("another"), await key(NAMESPACE));
      await helm.run("install", "another", CHART, "-n", "another", "--take-ownership");
      strictEqual(
        stringAt(await read(cluster, CRD), "spec", "conversion", "webhook", "clientConfig", "service", "namespace"),
        "another",
      );
      await helm.run("uninstall", "another", "-n", "another");
    });

    await t.step("a release takes over install.yaml, and gives it back, and no pod is restarted", async () => {
      await cluster.kubectl(["apply", "-f", "deploy/install.yaml"].map(inRoot));
      await cluster.kubectl(["rollout", "status", "deployment", NAME, "-n", NAMESPACE]);
      await withOperator(
        cluster,
        DEFAULT,
        () =>
          eventually(
            "the caBundles are published",
            async () => (await clients(cluster)).every((bundle) => bundle !== undefined) || undefined,
          ),
      );
      // Those of the release that was removed before may still end.
      await eventually("its pods alone", async () => {
        const wanted = objectAt(await read(cluster, OPERATOR), "spec").replicas;
        return (await podsOf(cluster, NAMESPACE)).length === wanted || undefined;
      });
      const before = { ...await state(cluster), operator: await podsOf(cluster, NAMESPACE) };
      const now = async () => {
        // Another template would have its pods by then.
        await cluster.kubectl(["rollout", "status", "deployment", NAME, "-n", NAMESPACE]);
        return { ...await state(cluster), operator: await podsOf(cluster, NAMESPACE) };
      };
      await documented("From install.yaml to Helm", /^helm install/);
      deepStrictEqual(await now(), before);
      // Upgrades work from now on.
      await helm.run("upgrade", NAME, CHART, ...IN_NAMESPACE, "--reset-values", "--set", "networkPolicy.strict=true");
      await helm.run("rollback", NAME, ...IN_NAMESPACE);
      deepStrictEqual(await now(), before);
      await documented("From Helm to install.yaml", /./);
      deepStrictEqual(await now(), before);
      strictEqual((await helm.run("list", "--all-namespaces", "--short")).trim(), "");
      const text = JSON.stringify([await read(cluster, OPERATOR), await read(cluster, CRD)]);
      ok(
        !/"Helm"|helm\.sh/.test(
          text.replaceAll(/"kubectl.kubernetes.io\/last-applied-configuration":"(\\.|[^"\\])*"/g, ""),
        ),
      );
      await cluster.kubectl(["delete", "-f", "deploy/install.yaml", KUBECTL_LIMIT].map(inRoot));
    });

    await t.step("what helm template prints can be applied with kubectl, in any namespace", async () => {
      const long = "r".repeat(53);
      await cluster.kubectl(["create", "namespace", "4711"]);
      const text = await helm.run("template", long, CHART, "--namespace", "4711", "--set", "writeGuard.enabled=true");
      const applied = await cluster.kubectl(["apply", "--server-side", "--validate=strict", "-f", "-"], text);
      strictEqual(applied.trim().split("\n").length, Object.keys(expected(DEFAULT)).length + 2);
      await cluster.kubectl(["rollout", "status", "deployment", NAME, "-n", "4711", KUBECTL_LIMIT]);
    });

    await t.step("the chart adopts the definition of the Go operator", async () => {
      await cluster.kubectl(["delete", "crd", CRD_NAME]);
      await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(goDefinition()));
      await helm.run(
        ...["install", NAME, CHART, ...IN_NAMESPACE, "--create-namespace", "--take-ownership", ...onClient, "--wait"],
      );
      const stored = listAt(await read(cluster, CRD), "spec", "versions")
        .map((version) => [stringAt(version, "name"), at(version, "storage")]);
      deepStrictEqual(stored, [["v1alpha1", false], ["v1alpha2", true]]);
    });
  } finally {
    await cluster.stop();
    await Deno.remove(home, { recursive: true });
  }
});

/** Helm 3 knows no server-side apply. */
const onClient = PROGRAM === "helm" ? ["--server-side=false"] : [];

const inRoot = (word: string): string => word.startsWith("deploy/") ? `${ROOT}${word}` : word;

/** Runs the commands of docs/helm.md below a heading that match, as written. */
const commandsOf = async (cluster: ControlPlane, helm: Helm) => {
  const all = await commandsRunBy("tests/cluster/helm_test.ts");
  await Deno.symlink(cluster.kubectlPath, join(helm.env.HOME ?? "", "bin", "kubectl"));
  return async (
    heading: string,
    pattern: RegExp,
    names: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const found = all.filter((command) => command.heading === heading && pattern.test(command.text));
    ok(found.length > 0, `${heading}: ${pattern}`);
    for (const { text } of found) {
      const named = text.replaceAll(/\b[A-Z]{3}\b/g, (word) => names[word] ?? word);
      const command = PROGRAM === "helm" ? named : named.replace(" --server-side=false", "");
      await must("/bin/sh", ["-c", command], { cwd: ROOT, env: helm.env });
    }
  };
};

const withOperator = async (
  cluster: ControlPlane,
  choices: Choices,
  work: () => Promise<unknown>,
): Promise<void> => {
  const operator = await running(cluster, choices);
  try {
    await work();
  } finally {
    await operator.stop();
  }
};

/** The next version: another label on every object, and a word in the definition. */
const nextChart = (folder: string): Promise<string> =>
  writeChart(
    folder,
    DEFAULT,
    NEXT,
    (path, text) =>
      path.endsWith("custom-resource-definition.yaml")
        ? text.replace("is a Llama Stack or OGX server", "is a Llama Stack or OGX server (new in 99)")
        : text,
  );

/** The caBundles of conversion and admission. */
const clients = async (cluster: ControlPlane): Promise<ReadonlyArray<string | undefined>> => [
  stringAt(await read(cluster, CRD), "spec", "conversion", "webhook", "clientConfig", "caBundle"),
  stringAt(listAt(await read(cluster, CONFIGURATION), "webhooks")[0], "clientConfig", "caBundle"),
];

const definitionText = async (cluster: ControlPlane): Promise<string> => JSON.stringify(await read(cluster, CRD));

const operatorVersion = async (cluster: ControlPlane): Promise<string | undefined> =>
  stringAt(await read(cluster, OPERATOR), "spec", "template", "metadata", "labels", "app.kubernetes.io/version");

/** Names, unique identifiers and generations. */
const identities = (objects: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  objects.map((object) => {
    const { name, uid, generation } = objectAt(object, "metadata");
    return [name ?? "", uid ?? "", generation ?? 0];
  });

/** After a change of the definition, the API server answers 429 for a moment. */
const identitiesAt = async (cluster: ControlPlane, path: string): Promise<ReadonlyArray<Json>> =>
  identities(
    await eventually(`a list of ${path}`, async () => {
      const answer = await cluster.fetch(path);
      const body = await answer.json();
      return answer.ok ? listAt(body, "items") : undefined;
    }),
  );

const podsOf = (cluster: ControlPlane, namespace: string): Promise<ReadonlyArray<Json>> =>
  identitiesAt(cluster, `/api/v1/namespaces/${namespace}/pods`);

/** The resources of the namespace `default`, and their Deployments and pods. */
const servers = async (cluster: ControlPlane): Promise<JsonObject> => ({
  resources: await identitiesAt(cluster, RESOURCES),
  deployments: await identitiesAt(cluster, "/apis/apps/v1/namespaces/default/deployments"),
  pods: await podsOf(cluster, "default"),
});

const state = async (cluster: ControlPlane): Promise<JsonObject> => ({
  ...await servers(cluster),
  clients: JSON.stringify(await clients(cluster)),
});

/** Objects that an installation consists of, of every kind. */
const partsOf = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const kinds = Object.values(expected(DEFAULT)).filter(isObject).map(({ kind }) => String(kind).toLowerCase());
  const found = await cluster.kubectl(["get", [...new Set(kinds)].join(","), "--all-namespaces", "-o", "name"]);
  return found.split("\n").filter((line) => line.includes("llama"))
    .filter((line) => !/^(deployment|service|serviceaccount)/.test(line) || line.includes(NAME)).toSorted();
};
