/** `diff`, `explain` and `rollout` as processes, against a real API server on which the operator works. */
import { ok, strictEqual } from "node:assert/strict";
import { type Json, type JsonObject, listAt, put, stringAt } from "../../core/data/json.ts";
import { manifest, secret } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { cli } from "./compiled_command.ts";
import { OPERATOR_DEPLOYMENT } from "../../core/api/own_objects.ts";
import { startOperator } from "./operator.ts";
import { eventually, unchanged, until } from "../waiting.ts";

const RESOURCES = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions";
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/one";
const CANARY = "canary-of-a-password";

const SPEC: JsonObject = {
  providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000", apiKey: secret("vllm", "token") }] },
  storage: { sql: { type: "postgres", connectionString: secret("pg", "url") } },
};

const TEMPLATE_ANNOTATION = "llamastack.io/template-digest";
const OTHER = "0".repeat(64);

/** As an old file says it, that knows nothing of v1alpha2. */
const withoutAnnotations = (yaml: string): string => yaml.replace(/^ {2}annotations:\n(?: {4}.*\n)+/m, "");

const read = async (cluster: ControlPlane, path: string): Promise<JsonObject> => {
  const answer = await cluster.fetch(path);
  const body = await answer.json() as JsonObject;
  ok(answer.ok, `${path}: ${body.message}`);
  return body;
};

const apply = (cluster: ControlPlane, object: JsonObject) =>
  cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"], JSON.stringify(object));

const secretOf = (name: string, key: string, value: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: { [key]: btoa(value) },
});

const said = (resource: Json, type: string): string =>
  listAt(resource, "status", "conditions").filter((condition) => stringAt(condition, "type") === type)
    .map((condition) => `${stringAt(condition, "status")} ${stringAt(condition, "reason")}`).join();

const when = (cluster: ControlPlane, name: string, type: string, want: string) =>
  eventually(`${name} ${type}=${want}`, async () => {
    const found = await read(cluster, `${RESOURCES}/${name}`);
    return said(found, type) === want ? found : undefined;
  });

/** Every version of what may be written, so that a command that writes is caught. */
const versions = async (cluster: ControlPlane): Promise<string> => {
  const paths = ["configmaps", "secrets", "services", "events"].map((plural) => `/api/v1/namespaces/default/${plural}`);
  const lists = await Promise.all(
    [...paths, RESOURCES, DEPLOYMENT.replace(/\/one$/, "")].map((text) => read(cluster, text)),
  );
  return lists.flatMap((list) => listAt(list, "items")).map((value) =>
    `${stringAt(value, "metadata", "name")} ${stringAt(value, "metadata", "resourceVersion")}`
  ).sort().join("\n");
};

Deno.test("the command line next to the operator on a real API server", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  try {
    let running = await startOperator(cluster);
    try {
      await t.step("cli explain names a missing Secret and the command that makes it", async () => {
        await apply(cluster, manifest(SPEC, "one"));
        await when(cluster, "one", "SecretsResolved", "False SecretNotFound");
        const { code, stdout, stderr } = await cli(cluster, ["explain", "one"]);
        strictEqual(code, 0, stderr);
        ok(stdout.startsWith("one in namespace default is not ready: SecretNotFound.\n"), stdout);
        ok(stdout.includes("kubectl create secret generic vllm -n default --from-literal=token=…"), stdout);
        ok(/\d+ s ago operator: SecretResolutionFailed/.test(stdout), stdout);
      });

      await t.step("cli explain uses the status for users who may not read Secrets", async () => {
        await cluster.kubectl(["create", "serviceaccount", "reader", "-n", "default"]);
        const rules = "--verb=get,list --resource=llamastackdistributions.llamastack.io,pods,events";
        await cluster.kubectl(["create", "role", "reader", "-n", "default", ...rules.split(" ")]);
        const binding = ["create", "rolebinding", "reader", "-n", "default", "--role=reader"];
        await cluster.kubectl([...binding, "--serviceaccount=default:reader"]);
        const token = (await cluster.kubectl(["create", "token", "reader", "-n", "default"])).trim();
        await withToken(cluster, token, async (kubeconfig) => {
          const args = ["one", "--kubeconfig", kubeconfig];
          const { code, stdout, stderr } = await cli(cluster, ["explain", ...args]);
          strictEqual(code, 0, stderr);
          ok(stdout.includes('Secret "vllm" not found in namespace "default"'), stdout);
          const refused = await cli(cluster, ["diff", ...args]);
          strictEqual(refused.code, 1);
          ok(refused.stderr.includes("403 Forbidden"), refused.stderr);
        });
      });

      await t.step("cli explain shows the address of a ready server", async () => {
        await apply(cluster, secretOf("vllm", "token", CANARY));
        await apply(cluster, secretOf("pg", "url", "postgresql://user:first@host:5432/db"));
        await when(cluster, "one", "Ready", "True Ready");
        const { stdout } = await cli(cluster, ["explain", "one"]);
        ok(stdout.startsWith("one in namespace default is ready.\n"), stdout);
        ok(stdout.includes("http://one-service.default.svc.cluster.local:8321"), stdout);
        const json = JSON.parse((await cli(cluster, ["explain", "one", "-o", "json"])).stdout);
        strictEqual(json.ready, true);
      });

      await t.step("cli explain says the same to those who may not read the operator's key", async () => {
        const keyless = await cli(cluster, ["explain", "one", "--operator-namespace", "without-operator"]);
        strictEqual(keyless.stdout, (await cli(cluster, ["explain", "one"])).stdout);
      });

      await t.step("cli smoke explains why a server cannot be reached, and who may not try", async () => {
        const { code, stdout, stderr } = await cli(cluster, ["smoke", "one", "--timeout", "5"]);
        strictEqual(code, 1, stderr);
        // Nothing answers at the addresses of simulated pods.
        ok(
          /^version +failed +\S+ m?s +(the server answered|the API server answered|no response)/m.test(stdout),
          stdout,
        );
        ok(stdout.includes("one in namespace default: 3 of 3 checks failed"), stdout);
        const nobody = await cli(cluster, ["smoke", "nobody"]);
        strictEqual(nobody.code, 1);
        ok(nobody.stderr.includes('LlamaStackDistribution "nobody" not found in namespace "default"'), nobody.stderr);
        const odd = await cli(cluster, ["smoke", "one", "--timeout", "0"]);
        strictEqual(odd.code, 2, odd.stderr);
        ok(odd.stderr.includes("0 is not a number of seconds above 0"), odd.stderr);
      });

      await t.step("cli import reads a Deployment with its ConfigMap, and no Secret", async () => {
        const text = await Deno.readTextFile(new URL("../fixtures/import/ollama-0.2.yaml", import.meta.url));
        const metadata = { name: "stack" };
        await apply(cluster, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "run.yaml": text } });
        const container = {
          name: "server",
          image: "docker.io/llamastack/distribution-starter:0.2.24",
          env: [{ name: "HF_TOKEN", valueFrom: { secretKeyRef: { name: "vllm", key: "token" } } }],
          volumeMounts: [{ name: "config", mountPath: "/etc/config" }],
        };
        const pod = { containers: [container], volumes: [{ name: "config", configMap: metadata }] };
        const selector = { matchLabels: { own: "stack" } };
        await apply(cluster, {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata,
          spec: { replicas: 0, selector, template: { metadata: { labels: selector.matchLabels }, spec: pod } },
        });
        const { code, stdout, stderr } = await cli(cluster, ["import", "stack", "--check"]);
        strictEqual(code, 0, stderr);
        ok(
          stderr.startsWith(
            "default/stack: key run.yaml of ConfigMap stack: Llama Stack 0.2.24, distribution starter\n",
          ),
          stderr,
        );
        ok(
          stdout.includes("  name: stack\n  namespace: default\n") && stdout.includes("              name: vllm\n"),
          stdout,
        );
        ok(!`${stdout}${stderr}`.includes(CANARY));
        const nobody = await cli(cluster, ["import", "nobody"]);
        strictEqual(nobody.code, 1);
        ok(nobody.stderr.includes('"nobody" not found in namespace "default"'), nobody.stderr);
        await cluster.kubectl(["delete", "deployment,configmap", "stack", "-n", "default"]);
      });

      await t.step("cli diff finds nothing in a settled resource, in the cluster and in a file", async () => {
        for (const args of [["diff", "one"], ["diff", "-f", "-"]]) {
          const { code, stdout, stderr } = await cli(cluster, args, manifest(SPEC, "one"));
          strictEqual(code, 0, `${stdout}${stderr}`);
          ok(stdout.endsWith(": no differences\n"), stdout);
          strictEqual(stderr, "");
        }
      });

      await t.step("cli diff knows the images of the installed operator", async () => {
        const image = `registry.example/starter:0.7.1@sha256:${"a".repeat(64)}`;
        const env = [{ name: "RELATED_IMAGE_STARTER", value: image }];
        const labels = { app: "operator" };
        const template = { metadata: { labels }, spec: { containers: [{ name: "operator", image: "none", env }] } };
        await cluster.kubectl(["create", "namespace", "elsewhere"]);
        const deployment = {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: OPERATOR_DEPLOYMENT, namespace: "elsewhere" },
          spec: { replicas: 0, selector: { matchLabels: labels }, template },
        };
        await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(deployment));
        const args = ["diff", "-f", "-", "--operator-namespace", "elsewhere"];
        const edited = put(manifest(SPEC, "one"), ["spec", "workload"], { overrides: { command: ["serve"] } });
        const { code, stdout, stderr } = await cli(cluster, args, edited as JsonObject);
        strictEqual(code, 1, stderr);
        ok(stdout.includes(image), stdout);
      });

      await t.step("cli diff reads a v1alpha1 manifest and finds no differences for equal content", async () => {
        const { stdout: old } = await cli(cluster, ["convert", "-f", "-", "--to", "v1alpha1"], manifest(SPEC, "one"));
        for (const text of [old, withoutAnnotations(old)]) {
          const { code, stdout, stderr } = await cli(cluster, ["diff", "-f", "-"], text);
          strictEqual(code, 0, `${stdout}${stderr}`);
          ok(stdout.endsWith(": no differences\n"), stdout);
          strictEqual(stderr.split("\n").filter((line) => line !== "").length, 1, stderr);
          ok(stderr.includes("llamastack.io/v1alpha1 was converted to llamastack.io/v1alpha2"), stderr);
        }
        const scaled = old.replace(/^spec:$/m, "spec:\n  replicas: 3");
        const { code, stdout } = await cli(cluster, ["diff", "-f", "-"], scaled);
        strictEqual(code, 1);
        ok(/Deployment\/one/.test(stdout), stdout);
      });

      await t.step("cli diff shows an edit and writes nothing", async () => {
        const before = await unchanged(() => versions(cluster));
        const edit = manifest({ ...SPEC, resources: { models: [{ name: "m" }] } }, "one");
        const { code, stdout } = await cli(cluster, ["diff", "-f", "-"], edit);
        strictEqual(code, 1);
        ok(/~ Deployment\/one: .*the pods are replaced/.test(stdout), stdout);
        ok(/^ {8}\+ +model_id: m$/m.test(stdout), stdout);
        const fresh = await cli(cluster, ["diff", "-f", "-", "-o", "json"], manifest({}, "two"));
        const steps = JSON.parse(fresh.stdout).resources[0].steps as ReadonlyArray<JsonObject>;
        ok(
          steps.some(({ action, kind, name }) => `${action} ${kind} ${name}` === "create Deployment two"),
          fresh.stdout,
        );
        strictEqual(await versions(cluster), before);
      });

      await t.step("cli diff reports rejections by the API server, and missing resources", async () => {
        const broken = put(manifest({}, "one"), ["spec", "workload"], { replicas: -1 });
        const refused = await cli(cluster, ["diff", "-f", "-"], broken);
        strictEqual(refused.code, 1);
        ok(refused.stderr.includes("spec.workload.replicas"), refused.stderr);
        const absent = await cli(cluster, ["diff", "nobody"]);
        strictEqual(absent.code, 1);
        ok(absent.stderr.includes('LlamaStackDistribution "nobody" not found in namespace "default"'), absent.stderr);
        const unexplained = await cli(cluster, ["explain", "nobody"]);
        strictEqual(unexplained.code, 1);
        ok(unexplained.stderr.includes('LlamaStackDistribution "nobody" not found'), unexplained.stderr);
      });

      await t.step("cli explain reports a crash loop by pod, container and exit code, without the secret", async () => {
        const pods = await read(
          cluster,
          "/api/v1/namespaces/default/pods?labelSelector=app.kubernetes.io/instance=one",
        );
        const name = stringAt(listAt(pods, "items")[0], "metadata", "name") ?? "";
        const ended = { terminated: { exitCode: 3, reason: "Error", message: `cannot use ${CANARY}` } };
        const status = {
          phase: "Running",
          conditions: [{ type: "Ready", status: "False" }, { type: "ContainersReady", status: "False" }],
          containerStatuses: [{
            name: "llama-stack",
            image: "i",
            imageID: "i",
            ready: false,
            restartCount: 5,
            state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
            lastState: ended,
          }],
        };
        const answer = await cluster.fetch(`/api/v1/namespaces/default/pods/${name}/status`, {
          method: "PATCH",
          headers: { "content-type": "application/merge-patch+json" },
          body: JSON.stringify({ status }),
        });
        ok(answer.ok, await answer.text());
        await when(cluster, "one", "Available", "False CrashLoop");
        const { stdout } = await cli(cluster, ["explain", "one"]);
        ok(stdout.startsWith("one in namespace default is not ready: CrashLoop.\n"), stdout);
        ok(stdout.includes(`Pod ${name}, container llama-stack ended with exit code 3 after 5 restarts`), stdout);
        ok(stdout.includes(`kubectl logs ${name} -n default --previous`), stdout);
        ok(!stdout.includes(CANARY), stdout);
        await cluster.kubectl(["delete", "pod", name, "-n", "default", "--force", "--grace-period=0"]);
        await when(cluster, "one", "Ready", "True Ready");
      });

      await running.stop();
      await t.step("cli diff shows that a Secret changed, never what is in it", async () => {
        await apply(cluster, secretOf("pg", "url", `postgresql://user:${CANARY}@host:5432/db`));
        for (const format of ["text", "json"]) {
          const { code, stdout, stderr } = await cli(cluster, ["diff", "one", "-o", format]);
          strictEqual(code, 1, stderr);
          ok(stdout.includes("data.PGPASSWORD"), stdout);
          ok(!`${stdout}${stderr}`.includes(CANARY) && !stdout.includes(btoa(CANARY)), stdout);
        }
      });

      await t.step("cli rollout rolls out a held template, and reports if none is held", async () => {
        running = await startOperator(cluster);
        await eventually(
          "the Secret is taken over",
          async () => (await cli(cluster, ["diff", "one"])).code === 0 || undefined,
        );
        const nothing = await cli(cluster, ["rollout", "one"]);
        strictEqual(nothing.code, 0, nothing.stderr);
        ok(nothing.stdout.includes("no rollout is held"), nothing.stdout);
        // As a Deployment looks that another version of the operator made.
        const annotation = { [TEMPLATE_ANNOTATION]: OTHER };
        await cluster.kubectl(
          [
            "patch",
            "deployment",
            "one",
            "-n",
            "default",
            "--type=merge",
            "-p",
            JSON.stringify({
              metadata: { annotations: annotation },
            }),
          ],
        );
        await when(cluster, "one", "TemplateHeld", "True OperatorChanged");
        // The pods of the changed Secret may still start.
        await until("it is ready", async () => (await cli(cluster, ["explain", "one"])).stdout.includes("is ready"));
        strictEqual(said(await read(cluster, `${RESOURCES}/one`), "TemplateHeld"), "True OperatorChanged");
        const { code, stdout, stderr } = await cli(cluster, ["rollout", "one"]);
        strictEqual(code, 0, stderr);
        ok(/requested the rollout of template [0-9a-f]{12}/.test(stdout), stdout);
        await when(cluster, "one", "TemplateHeld", "");
        const recorded = stringAt(await read(cluster, DEPLOYMENT), "metadata", "annotations", TEMPLATE_ANNOTATION);
        ok(recorded !== undefined && recorded !== OTHER);
      });
    } finally {
      await running.stop();
    }
  } finally {
    await cluster.stop();
  }
});

/** A kubeconfig of the cluster with this token. */
const withToken = async (
  cluster: ControlPlane,
  token: string,
  use: (kubeconfig: string) => Promise<void>,
): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    const kubeconfig = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
    kubeconfig.users[0].user.token = token;
    await Deno.writeTextFile(`${folder}/config`, JSON.stringify(kubeconfig));
    await use(`${folder}/config`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
