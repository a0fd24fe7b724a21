import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { listAt, stringAt } from "../../core/data/json.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { CHAT, MODEL_PORT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { podsOf, resourceWhen, served, whenReady, word } from "./served.ts";
import { eventually } from "../waiting.ts";

Deno.test("HTTPS is served and probed, and with the CA bundle the server trusts a model server", () =>
  inPlace("tls", async (place) => {
    const folder = await Deno.makeTempDir();
    const of = async (name: string) => {
      const own = `${folder}/${name}`;
      await Deno.mkdir(own);
      const { certificateFile, keyFile } = await makeServerCertificate(own, [name]);
      return { cert: await Deno.readTextFile(certificateFile), key: await Deno.readTextFile(keyFile) };
    };
    const [models, server] = [await of("vllm"), await of("secure-service.tls.svc")];
    await using vllm = await startModelService(place, "vllm", { tls: models });
    await place.apply("ConfigMap", "authorities", { data: { "ca-bundle.crt": models.cert } });
    await place.secret("certificate", { "tls.crt": server.cert, "tls.key": server.key, "ca.crt": server.cert });
    await place.resource("secure", {
      distribution: { name: "starter" },
      providers: { inference: [{ provider: "vllm", endpoint: `https://vllm:${MODEL_PORT}` }] },
      networking: { tls: { enabled: true, secretName: "certificate", caBundle: { configMapName: "authorities" } } },
    });
    await whenReady(place, "secure");
    const [pod] = await podsOf(place, "secure");
    const [container] = listAt(pod, "spec", "containers");
    deepStrictEqual(
      ["startupProbe", "readinessProbe"].map((probe) => stringAt(container, probe, "httpGet", "scheme")),
      ["HTTPS", "HTTPS"],
    );
    const { status, body } = await served(place, "secure", { caPem: server.cert }).post("/v1/chat/completions", CHAT);
    strictEqual(body.choices?.[0].message.content, "You said: hello", `${status} ${JSON.stringify(body)}`);
    ok(vllm.requests.length > 0);
    match(await served(place, "secure").get("/v1/health").then(({ status }) => `${status}`, String), /error/i);
    const told = await resourceWhen(place, "secure", "asked", (resource) => word(resource, "HealthCheck") === "True");
    match(stringAt(told, "status", "serviceURL") ?? "", /^https:/);
    await Deno.remove(folder, { recursive: true });
  }));

for (const [name, server] of [["starter", "llama-stack 0.7.3"], ["ogx-starter", "ogx 1.5.0"]] as const) {
  Deno.test(`${name} answers over HTTPS with two workers if the resource sets nothing else`, () =>
    inPlace(`tls-${name}`, async (place) => {
      const folder = await Deno.makeTempDir();
      const { certificateFile, keyFile } = await makeServerCertificate(folder, [`bare-service.${place.namespace}.svc`]);
      const [cert, key] = [await Deno.readTextFile(certificateFile), await Deno.readTextFile(keyFile)];
      await place.secret("certificate", { "tls.crt": cert, "tls.key": key, "ca.crt": cert });
      await place.resource("bare", {
        distribution: { name },
        networking: { tls: { enabled: true, secretName: "certificate" } },
        // Tests request little; the limits are those of a resource without any.
        workload: { workers: 2, resources: { limits: { cpu: "2", memory: "2Gi" } } },
      });
      await whenReady(place, "bare");
      const stack = served(place, "bare", { server, caPem: cert });
      // Workers of OGX that create the same tables at once stop each other, and kubelet then starts the server again.
      await eventually("two workers that answer", async () => {
        const answer = await stack.get("/v1/providers").catch(() => undefined);
        const workers = await workersOf(place, "bare").catch(() => 0);
        return answer?.status === 200 && answer.body.data.length > 0 && workers === 2 ? true : undefined;
      });
      match(await place.run("bare", "sh", "-c", ENDED_FOR_MEMORY), /^oom_kill 0$/m);
      const told = await resourceWhen(place, "bare", "asked", (resource) => word(resource, "HealthCheck") === "True");
      strictEqual(`${stringAt(told, "status", "version", "llamaStackServerVersion")}`, server.split(" ")[1]);
      const table = await place.kubectl("get", "llamastackdistributions.v1alpha1.llamastack.io", "bare");
      match(table, new RegExp(`\\nbare +Ready +[0-9.]+ +${server.split(" ")[1]} +1 `));
      await Deno.remove(folder, { recursive: true });
    }));
}

/** uvicorn starts each worker by Python's multiprocessing, and so does a provider that has processes of its own. */
const workersOf = async (place: Place, name: string): Promise<number> => {
  const table = await place.run(name, "sh", "-c", PROCESSES);
  const started = table.trimEnd().split("\n").map((line) => line.split(" ")).filter((words) =>
    words.includes("spawn_main")
  );
  const pids = started.map(([pid]) => pid);
  return started.filter(([, parent]) => !pids.includes(parent)).length;
};

/** How many processes the kernel ended, in either version of control groups. */
const ENDED_FOR_MEMORY =
  "cat /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events 2>/dev/null | grep '^oom_kill '";

/** A line for each process: its id, that of its parent, and which function Python was started with. The pattern does not match itself. */
const PROCESSES = `for folder in /proc/[0-9]*; do
  echo $(basename $folder) $(sed -n 's/PPid:\\t//p' $folder/status) $(tr '\\0' '\\n' <$folder/cmdline | grep -o spawn[_]main)
done 2>/dev/null`;
