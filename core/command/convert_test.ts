import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest } from "../../tests/given.ts";
import { put } from "../data/json.ts";
import { convertCommand } from "./convert.ts";
import { PLAIN } from "./outcome.ts";

const run = (text: string, to: "v1alpha1" | "v1alpha2" = "v1alpha2") =>
  convertCommand([{ name: "f.yaml", text }], { to, format: "yaml", style: PLAIN });

const OLD = `apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: my
spec:
  server:
    distribution:
      name: starter
    containerSpec:
      port: 9000
`;

const NEW = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: my
spec:
  distribution:
    name: starter
  networking:
    port: 9000
`;

Deno.test("convertCommand() prints the other version, and the original after converting back", () => {
  const there = run(OLD);
  deepStrictEqual([there.stdout, there.code, there.stderr], [NEW, 0, ""]);
  const back = run(there.stdout, "v1alpha1");
  // Named as the API server would name it.
  strictEqual(back.stdout, `${OLD}      name: llama-stack\n`);
});

Deno.test("convertCommand() lists the fields that only the annotation keeps", () => {
  const { stderr, code } = run(OLD.replace("port: 9000", "name: other"));
  strictEqual(code, 0);
  ok(stderr.includes("v1alpha2 has no field for spec.server.containerSpec"), stderr);
});

Deno.test("convertCommand() converts the former shorthand to lists", () => {
  const { stdout } = run(`${NEW}  providers:\n    inference:\n      provider: vllm\n`);
  ok(stdout.includes("inference:\n      - provider: vllm"), stdout);
});

Deno.test("convertCommand() prints the good documents and exits 1 for a bad one", () => {
  const { stdout, stderr, code } = run(`${OLD}---\n${OLD.replace("v1alpha1", "v1")}---\nkind: Secret\n`);
  strictEqual(code, 1);
  strictEqual(stdout.split("apiVersion").length, 2);
  ok(stdout.endsWith("---\nkind: Secret\n"), stdout);
  ok(stderr.includes("got LlamaStackDistribution of llamastack.io/v1"), stderr);
});

Deno.test("convertCommand() rejects a misspelled field, which would become an annotation", () => {
  const { stdout, stderr, code } = run(OLD.replace("port: 9000", "prot: 9000"));
  deepStrictEqual([code, stdout], [1, ""]);
  ok(stderr.includes("spec.server.containerSpec.prot: Unknown field"), stderr);
});

Deno.test("convertCommand() exits 1 for invalid YAML and for files without a resource", () => {
  deepStrictEqual([run("a: [").code, run("a: [").stdout, run("kind: Secret").code], [1, "", 1]);
});

Deno.test("convertCommand() rejects what v1alpha1 cannot hold, and prints nothing of it", () => {
  const settings = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`s${index}`, "x".repeat(20_000)]));
  const resource = {
    apiVersion: "llamastack.io/v1alpha2",
    kind: "LlamaStackDistribution",
    metadata: { name: "my" },
    spec: {
      distribution: { name: "starter" },
      providers: { inference: [{ provider: "vllm", settings }] },
    },
  };
  const { stdout, stderr, code } = run(JSON.stringify(resource), "v1alpha1");
  deepStrictEqual([stdout, code], ["", 1]);
  ok(stderr.includes("spec.providers; keep the resource in v1alpha2"), stderr.slice(0, 300));
});

Deno.test("convertCommand() rejects a port that no server can have, which would become an annotation", () => {
  const { stdout, stderr, code } = run(OLD.replace("9000", "70000"));
  deepStrictEqual([stdout, code], ["", 1]);
  ok(stderr.includes("spec.server.containerSpec.port: not a TCP port"), stderr);
});

Deno.test("convertCommand() says of a field that both versions have that it has another form", () => {
  const network = `  network:\n    allowedFrom:\n      namespaces: [a, ""]\n`;
  const { stderr, code } = run(`${OLD}    podOverrides: {}\n${network}`);
  strictEqual(code, 0);
  ok(
    stderr.includes(
      "spec.server.podOverrides, spec.network.allowedFrom.namespaces: v1alpha2 writes this in another form",
    ) || /podOverrides.*: v1alpha2 writes this in another form/.test(stderr),
    stderr,
  );
  ok(!stderr.includes("no field"), stderr);
});

Deno.test("convertCommand() refuses annotations that leave no room for the fields of v1alpha2", () => {
  const full = put(manifest({ providers: { inference: [{ provider: "vllm" }] } }), ["metadata", "annotations"], {
    "a.example/b": "x".repeat(262_100),
  });
  const { code, stderr } = run(JSON.stringify(full), "v1alpha1");
  strictEqual(code, 1);
  ok(stderr.includes("in v1alpha1, the API server would refuse it: it has annotations that need"), stderr);
});
