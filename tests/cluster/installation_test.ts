/** The files of `deploy/` on a real API server, and as kustomize reads them. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { DEFAULT } from "../../tools/package/choices.ts";
import { prometheusRule } from "../../tools/package/alerts.ts";
import { dashboard } from "../../tools/package/extras.ts";
import { installation } from "../../tools/package/installation.ts";
import { OVERLAYS } from "../../tools/package/kustomize.ts";
import { strictNetworkPolicy } from "../../tools/package/network_policy.ts";
import { manifestList } from "../../tools/cluster/manifest_list.ts";
import { NAME, NAMESPACE } from "../../tools/package/names.ts";
import { CRD_NAME } from "../../core/api/crd.ts";
import { isObject, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import {
  failureFound,
  keyAdded,
  LiveFigures,
  metricsText,
  newFigures,
  passEnded,
  wrote,
} from "../../shell/runtime/metrics.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { establishedDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { goOperator } from "./go_operator.ts";
import { eventually } from "../waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DEPLOY = `${ROOT}deploy/`;
const INSTALL = `${DEPLOY}install.yaml`;

Deno.test("the installation on a real API server", async (t) => {
  const cluster = await startControlPlane();
  const apply = (...more: ReadonlyArray<string>) => cluster.kubectl(["apply", "--validate=strict", ...more]);
  try {
    await t.step("one plain `kubectl apply -f` installs everything; the second changes nothing", async () => {
      const first = lines(await apply("-f", INSTALL));
      strictEqual(first.length, installation(DEFAULT).length);
      deepStrictEqual(first.filter((line) => !line.endsWith(" created")), []);
      const versions = () =>
        cluster.kubectl(["get", "-f", INSTALL, "-o", "jsonpath={.items[*].metadata.resourceVersion}"]);
      // The API server writes the status of a new definition a moment later.
      await establishedDefinition(cluster, CRD_NAME);
      const before = await versions();
      const second = lines(await apply("-f", INSTALL));
      // kubectl sends the selector of a PodDisruptionBudget each time, since it replaces selectors as a whole.
      const sent = second.filter((line) => !line.endsWith(" unchanged"));
      deepStrictEqual(sent, [`poddisruptionbudget.policy/${NAME} configured`]);
      strictEqual(await versions(), before);
    });

    await t.step("the pods pass restricted pod security without a warning", async () => {
      const deployment = JSON.parse(
        await cluster.kubectl(["get", "deployment", NAME, "-n", NAMESPACE, "-o", "json"]),
      ) as JsonObject;
      const template = objectAt(deployment, "spec", "template");
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { ...objectAt(template, "metadata"), name: "one", namespace: NAMESPACE },
        spec: template.spec,
      };
      const answer = await cluster.fetch(`/api/v1/namespaces/${NAMESPACE}/pods?dryRun=All`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(pod),
      });
      const body = await answer.text();
      deepStrictEqual([answer.status, answer.headers.get("warning")], [201, null], body.slice(0, 500));
    });

    await t.step("who may edit a namespace may edit its resources", async () => {
      await cluster.kubectl(["create", "rolebinding", "e", "--clusterrole=llama-stack-operator-edit", "--user=eve"]);
      const may = async (verb: string, user: string) => {
        const question = ["auth", "can-i", verb, "llamastackdistributions.llamastack.io", "--as", user];
        return (await cluster.kubectl(question).catch(() => "no")).trim();
      };
      deepStrictEqual([await may("create", "eve"), await may("create", "adam")], ["yes", "no"]);
    });

    await t.step("kustomize adds every component, and the API server accepts the result", async () => {
      const folder = await Deno.makeTempDir({ dir: `${DEPLOY}kustomize` });
      try {
        await Deno.writeTextFile(
          `${folder}/kustomization.yaml`,
          [
            "apiVersion: kustomize.config.k8s.io/v1beta1",
            "kind: Kustomization",
            "resources: [../base]",
            "components:",
            ...["network-policy", "monitoring", "write-guard"].map((word) => `- ../components/${word}`),
            // As docs/install.md limits the egress to the API server.
            "patches:",
            "- target: { kind: NetworkPolicy, name: llama-stack-operator }",
            "  patch: |",
            "    - op: add",
            "      path: /spec/egress/1/to",
            "      value: [{ ipBlock: { cidr: 10.96.0.1/32 } }]",
          ].join("\n"),
        );
        const built = Result.getOrThrow(readManifests(await cluster.kubectl(["kustomize", folder]))).filter(isObject);
        strictEqual(built.length, installation(DEFAULT).length + 6);
        const policy = built.find(({ kind }) => kind === "NetworkPolicy");
        const strict = strictNetworkPolicy();
        const egress = listAt(strict, "spec", "egress").map((rule, index) =>
          index === 1 ? put(objectAt(rule), ["to"], [{ ipBlock: { cidr: "10.96.0.1/32" } }]) : rule
        );
        deepStrictEqual(policy, put(strict, ["spec", "egress"], egress));
        // Without the CRDs of the Prometheus operator, those objects are unknown.
        const known = built.filter(({ apiVersion }) => apiVersion !== "monitoring.coreos.com/v1");
        await cluster.kubectl(["apply", "--validate=strict", "--dry-run=server", "-f", "-"], manifestList(known));
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    });

    await t.step(
      "the kustomization of docs/install.md installs into another namespace, with cert-manager and the guard",
      async () => {
        const page = await Deno.readTextFile(`${ROOT}docs/install.md`);
        const [, text = ""] = /^```yaml\n([^`]*namespace: llama\n[^`]*)```/m.exec(page) ?? [];
        const folder = await Deno.makeTempDir({ dir: `${DEPLOY}kustomize` });
        try {
          await Deno.writeTextFile(`${folder}/kustomization.yaml`, text.replaceAll("deploy/kustomize", ".."));
          const built = await cluster.kubectl(["kustomize", folder]);
          ok(built.includes("namespace: llama\n"));
          // The name of the Namespace itself is not changed, as it is the user's.
          deepStrictEqual(lines(built).filter((line) => line.includes("llama-stack-operator-system")), []);
          match(built, /dnsNames:\n {2}- llama-stack-operator-webhook\.llama\.svc\n/);
          match(built, /'system:serviceaccount:llama:llama-stack-operator'/);
          match(built, /request\.namespace == 'llama' &&/);
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      },
    );

    await t.step("`kubectl delete -f` leaves nothing", async () => {
      await cluster.kubectl(["delete", "--wait=false", "-f", INSTALL]);
      const left = () =>
        cluster.kubectl([
          ...["get", "crd,clusterrole,clusterrolebinding,validatingwebhookconfiguration", "-o", "name"],
          ...["-l", `app.kubernetes.io/part-of=${NAME}`],
        ]);
      // The API server takes the resources of a definition away before the definition itself.
      await eventually("nothing is left", async () => lines(await left()).length === 0 || undefined)
        .catch(async () => deepStrictEqual(lines(await left()), []));
    });

    for (const [name, choices] of Object.entries({ base: DEFAULT, ...OVERLAYS })) {
      await t.step(`kustomize makes of ${name} what it is called`, async () => {
        const folder = name === "base" ? "kustomize/base" : `kustomize/overlays/${name}`;
        const built = await cluster.kubectl(["kustomize", `${DEPLOY}${folder}`]);
        const documents = Result.getOrThrow(readManifests(built)).filter(isObject);
        deepStrictEqual(byName(documents), byName(installation(choices)));
      });
    }
  } finally {
    await cluster.stop();
  }
});

Deno.test("the commands of docs/install.md run as written, in order, on a real API server", async () => {
  const commands = await commandsRunBy("tests/cluster/installation_test.ts");
  ok(commands.length >= 7);
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    for (const object of goOperator()) await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object));
    for (const { text } of commands) {
      const [program = "", ...words] = text.split(" ");
      strictEqual(program, "kubectl", text);
      await cluster.kubectl(words.map((word) => word.startsWith("deploy/") ? `${ROOT}${word}` : word));
    }
    const page = await Deno.readTextFile(`${ROOT}docs/install.md`);
    for (const [, folder = ""] of page.matchAll(/`kubectl apply -k (\S+)`/g)) {
      await cluster.kubectl(["kustomize", `${ROOT}${folder}`]);
    }
  } finally {
    await cluster.stop();
  }
});

Deno.test("prometheusRule() and dashboard() ask only for metrics that the operator has", async () => {
  const rules = listAt(prometheusRule(), "spec", "groups").flatMap((group) => listAt(group, "rules"));
  const asked = rules.map((rule) => stringAt(rule, "expr") ?? "").concat(
    Object.values(objectAt(dashboard(), "data")).map(String),
  );
  const names = [...asked.join("\n").matchAll(/\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\{/g)].map(([, name = ""]) => name);
  ok(names.length >= 10);
  const item = Effect.all([
    passEnded("error", 1),
    keyAdded,
    wrote("Service", "apply"),
    failureFound("SecretNotFound"),
  ]);
  const known = await Effect.runPromise(
    Effect.provideService(Effect.andThen(item, metricsText), LiveFigures, newFigures()),
  );
  deepStrictEqual(names.filter((name) => !known.includes(name.replace(/_bucket$/, ""))), []);
});

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "");

const byName = (objects: ReadonlyArray<JsonObject>): JsonObject =>
  Object.fromEntries(
    objects.map((object): [string, JsonObject] => [
      `${object.kind} ${stringAt(object, "metadata", "namespace") ?? ""} ${stringAt(object, "metadata", "name")}`,
      JSON.parse(JSON.stringify(object)),
    ]).sort(([a], [b]) => a < b ? -1 : 1),
  );
