import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { decoded, generated } from "../../tests/given.ts";
import { isObject, type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { configMap } from "./config_map.ts";
import { deployment } from "./deployment.ts";
import { blueprintOf, configContentOf, NOWHERE } from "./of_resource.ts";

const EXTERNAL = {
  externalProviders: {
    eval: [{ providerId: "b", image: "example/b:1", imagePullPolicy: "Always" }],
    inference: [{ providerId: "a", image: "example/a:$(touch /x)" }],
  },
};
const made = (spec: JsonObject) => {
  const derived = generated(spec);
  const blueprint = blueprintOf(decoded(spec), derived, NOWHERE);
  const content = configContentOf(derived);
  if (content === undefined) throw new Error("no config");
  return { pod: objectAt(deployment(blueprint), "spec", "template", "spec"), config: configMap(blueprint, content) };
};
const named = (list: ReadonlyArray<unknown>, name: string) =>
  list.filter(isObject).find((item) => stringAt(item, "name") === name);
const mountsOf = (container: JsonObject | undefined) =>
  listAt(container, "volumeMounts").map((mount) =>
    `${stringAt(mount, "mountPath")} ← ${stringAt(mount, "name")}/${stringAt(mount, "subPath") ?? ""}`
  );

Deno.test("each provider gets a container of its image, in the order of installation, and the server's image follows", () => {
  const { pod } = made(EXTERNAL);
  deepStrictEqual(
    listAt(pod, "initContainers").map((container) => [stringAt(container, "name"), stringAt(container, "image")]),
    [
      ["install-provider-a", "example/a:$(touch /x)"],
      ["install-provider-b", "example/b:1"],
      ["prepare-providers", stringAt(listAt(pod, "containers")[0], "image")],
    ],
  );
  deepStrictEqual(listAt(pod, "initContainers").map((container) => stringAt(container, "imagePullPolicy")), [
    undefined,
    "Always",
    undefined,
  ]);
});

Deno.test("the containers have the security context and the resources of the server", () => {
  const { pod } = made({ ...EXTERNAL, workload: { resources: { limits: { memory: "3Gi" } } } });
  const server = listAt(pod, "containers")[0];
  for (const container of listAt(pod, "initContainers")) {
    deepStrictEqual(objectAt(container, "securityContext"), objectAt(server, "securityContext"));
    deepStrictEqual(objectAt(container, "resources"), objectAt(server, "resources"));
  }
});

Deno.test("no value of the resource becomes text of a script, and no Secret reaches a container of a provider", () => {
  const secretRefs = { token: { secretKeyRef: { name: "s", key: "k" } } };
  const { pod } = made({ externalProviders: { inference: [{ providerId: "a", image: "example/a:1", secretRefs }] } });
  for (const container of listAt(pod, "initContainers")) {
    ok(!JSON.stringify(listAt(container, "command")).includes("example"));
    ok(!JSON.stringify(container).includes("secretKeyRef"));
  }
  ok(JSON.stringify(listAt(pod, "containers")[0]).includes("LLSD_A_TOKEN"));
});

Deno.test("a provider can only write its own folder, and the server only reads", () => {
  const { pod } = made(EXTERNAL);
  const [a, b, prepare] = listAt(pod, "initContainers").filter(isObject);
  deepStrictEqual(mountsOf(a), ["/external-provider ← external-providers/images/a"]);
  deepStrictEqual(mountsOf(b), ["/external-provider ← external-providers/images/b"]);
  deepStrictEqual(mountsOf(prepare), [
    "/opt/llama-stack/generated ← user-config/",
    "/opt/llama-stack/prepared ← external-providers/",
    "/tmp ← tmp/",
  ]);
  const server = listAt(pod, "containers").filter(isObject)[0];
  deepStrictEqual(mountsOf(server), [
    "/.llama ← lls-storage/",
    "/etc/llama-stack ← external-providers/config",
    "/opt/llama-stack/external-providers ← external-providers/packages",
    "/tmp ← tmp/",
  ]);
  ok(
    listAt(server, "volumeMounts").filter((mount) => stringAt(mount, "name") === "external-providers")
      .every((mount) => isObject(mount) && mount.readOnly === true),
  );
});

Deno.test("the volume has the limit of the resource, or 2Gi", () => {
  const limit = (spec: JsonObject) =>
    objectAt(named(listAt(made(spec).pod, "volumes"), "external-providers"), "emptyDir").sizeLimit;
  strictEqual(limit(EXTERNAL), "2Gi");
  const own = { ...EXTERNAL.externalProviders, volumeSizeLimit: "100Mi" };
  strictEqual(limit({ externalProviders: own }), "100Mi");
});

Deno.test("the ConfigMap has the script and the providers, and another name when they change", () => {
  const { config } = made(EXTERNAL);
  deepStrictEqual(Object.keys(objectAt(config, "data")), [
    "config.yaml",
    "external-providers.json",
    "prepare_providers.py",
  ]);
  deepStrictEqual(JSON.parse(stringAt(config, "data", "external-providers.json") ?? ""), {
    providers: [
      { id: "a", api: "inference", image: "example/a:$(touch /x)" },
      { id: "b", api: "eval", image: "example/b:1" },
    ],
  });
  const other = made({
    externalProviders: { ...EXTERNAL.externalProviders, eval: [{ providerId: "b", image: "example/b:2" }] },
  });
  strictEqual(stringAt(config, "data", "config.yaml"), stringAt(other.config, "data", "config.yaml"));
  ok(config.metadata.name !== other.config.metadata.name);
});

Deno.test("the packages come first on the Python path, whoever else sets it", () => {
  const server = (spec: JsonObject) => listAt(made({ ...EXTERNAL, ...spec }).pod, "containers").filter(isObject)[0];
  const script = listAt(server({}), "command").at(-1);
  ok(String(script).includes('export PYTHONPATH="/opt/llama-stack/external-providers${PYTHONPATH:+:$PYTHONPATH}"'));
  const own = (env: ReadonlyArray<JsonObject>) =>
    listAt(server({ workload: { overrides: { command: ["run"], env } } }), "env")
      .filter((item) => stringAt(item, "name") === "PYTHONPATH").map((item) => stringAt(item, "value"));
  deepStrictEqual(own([]), ["/opt/llama-stack/external-providers"]);
  deepStrictEqual(own([{ name: "PYTHONPATH", value: "/own" }]), ["/opt/llama-stack/external-providers:/own"]);
});

Deno.test("a volume of the resource keeps its name", () => {
  const { pod } = made({
    ...EXTERNAL,
    workload: { overrides: { volumes: [{ name: "external-providers", emptyDir: {} }] } },
  });
  deepStrictEqual(mountsOf(listAt(pod, "initContainers").filter(isObject)[0]), [
    "/external-provider ← lls-external-providers/images/a",
  ]);
});
