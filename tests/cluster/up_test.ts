/** `deno task up`, the first command of README, as a process: what it shows, how it ends, and that nothing is left. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { commandsRunBy, LAUNCHER } from "../documented_commands.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { nothingIsLeft, start, startDeno, up } from "./up_run.ts";
import { eventually } from "../waiting.ts";

Deno.test("up as README has it ends with a chat with the real server, and leaves nothing behind", () =>
  inFolder(async (tmp) => {
    const commands = await commandsRunBy("tests/cluster/up_test.ts");
    deepStrictEqual(commands.map((command) => command.text), [`${LAUNCHER}task up`]);
    const { code, text } = await startDeno(tmp, ["task", "up"]).ended;
    strictEqual(code, 0, text);
    match(text, /The operator will create: .*Deployment\/vllm/);
    match(text, /Secret vllm created for this run, with placeholder values for token/);
    match(text, /pod vllm-\S+: Running, ready/);
    match(text, /Ready +True +Ready: The server is ready/);
    match(text, /Service: http:\/\/vllm-service\.default\.svc\.cluster\.local:8321/);
    match(text, /\/v1\/models: .*vllm\/meta-llama\/Llama-3\.2-3B-Instruct/);
    match(text, /A chat with vllm\/meta-llama\/Llama-3\.2-3B-Instruct:\n {2}> Hello!\n {2}You said: Hello!/);
    await nothingIsLeft(tmp);
  }));

const WAITS_FOR_EVER = JSON.stringify(manifest({ overrideConfig: { configMapName: "mine" } }, "waits"));

Deno.test("up prints a working KUBECONFIG, and SIGTERM removes everything", () =>
  inFolder(async (tmp) => {
    const run = start(tmp, ["-f", "-"], WAITS_FOR_EVER);
    try {
      const line = await eventually(
        "the operator has spoken",
        () =>
          Promise.resolve(
            /Stalled +True/.test(run.text())
              ? /export KUBECONFIG=(\S+?)(;|\n)/.exec(run.text()) ?? undefined
              : undefined,
          ),
      );
      const kubeconfig = JSON.parse(await Deno.readTextFile(line[1] ?? ""));
      const server = kubeconfig.clusters[0].cluster;
      using client = Deno.createHttpClient({ caCerts: [atob(server["certificate-authority-data"])] });
      const answer = await fetch(`${server.server}/apis/llamastack.io/v1alpha2/llamastackdistributions`, {
        client,
        headers: { authorization: `Bearer ${kubeconfig.users[0].user.token}` },
      });
      strictEqual(((await answer.json()) as { items: ReadonlyArray<unknown> }).items.length, 1);
    } finally {
      run.child.kill("SIGTERM");
    }
    strictEqual((await run.ended).code, 1, run.text());
    await nothingIsLeft(tmp);
  }));

Deno.test("up exits with 1 after --timeout and explains why; usage errors exit with 2", () =>
  inFolder(async (tmp) => {
    const { code, text } = await up(tmp, ["-f", "-", "--timeout", "25s"], WAITS_FOR_EVER);
    strictEqual(code, 1, text);
    match(text, /Not ready within 25 s/);
    match(text, /kubectl create configmap mine -n default/);
    strictEqual((await up(tmp, ["--timeout", "soon"])).code, 2);
    strictEqual((await up(tmp, ["-f", "nowhere.yaml"])).code, 2);
    strictEqual((await up(tmp, ["--nonsense"])).code, 2);
    await nothingIsLeft(tmp);
  }));

const listed = async (cluster: ControlPlane, path: string): Promise<ReadonlyArray<string>> =>
  listAt(await (await cluster.fetch(path)).json() as JsonObject, "items")
    .map((item) => `${stringAt(item, "metadata", "name")} ${stringAt(item, "metadata", "resourceVersion")}`);

Deno.test("up --context removes the objects of its run and never touches the definition", () =>
  inFolder(async (tmp) => {
    const cluster = await startControlPlane({ node: "Scheduled" });
    try {
      await installDefinition(cluster, customResourceDefinition() as unknown as Definition);
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      // The API server makes its own namespaces one after the other.
      await eventually(
        "its last namespace",
        async () => (await listed(cluster, "/api/v1/namespaces")).join().includes("kube-node-lease ") || undefined,
      );
      const before = [await listed(cluster, definitions), (await listed(cluster, "/api/v1/namespaces")).length];
      const context = JSON.parse(await Deno.readTextFile(cluster.kubeconfig))["current-context"];
      const args = ["--once", "--timeout", "90s", "--kubeconfig", cluster.kubeconfig, "--context", context];
      const { code, text } = await up(tmp, args);
      strictEqual(code, 0, text);
      match(text, /already exists and is left unchanged/);
      match(text, /removing the objects of this run/);
      deepStrictEqual(
        [await listed(cluster, definitions), (await listed(cluster, "/api/v1/namespaces")).length],
        before,
      );
      deepStrictEqual(await listed(cluster, "/apis/llamastack.io/v1alpha2/llamastackdistributions"), []);
      deepStrictEqual(await listed(cluster, "/apis/apps/v1/deployments"), []);

      // In a namespace of the user: existing objects are unchanged, and a resource of that name is never adopted.
      const own = { ...manifest({ workload: { storage: { size: "1Gi" } } }, "mine") };
      await cluster.kubectl(["create", "secret", "generic", "theirs", "-n", "default"]);
      const again = await up(tmp, [...args, "-f", "-"], JSON.stringify(own));
      strictEqual(again.code, 0, again.text);
      await eventually("the claim is gone", async () => {
        const claims = await listed(cluster, "/api/v1/namespaces/default/persistentvolumeclaims");
        return claims.length === 0 ? true : undefined;
      });
      ok((await listed(cluster, "/api/v1/namespaces/default/secrets")).some((name) => name.startsWith("theirs ")));
      await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(own));
      const refused = await up(tmp, [...args, "-f", "-"], JSON.stringify(own));
      strictEqual(refused.code, 1, refused.text);
      match(refused.text, /mine already exists in namespace default; it is left unchanged/);
      strictEqual((await listed(cluster, "/apis/llamastack.io/v1alpha2/llamastackdistributions")).length, 1);
    } finally {
      await cluster.stop();
    }
    await nothingIsLeft(tmp);
  }));
