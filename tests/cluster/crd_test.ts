/** The CRD on a real API server: it is accepted, its rules return the operator's messages, its defaults are applied. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { RULE_CASES } from "../rule_cases.ts";
import { NAME_MESSAGE } from "../../core/api/rules.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { at, listAt, put, stringAt } from "../../core/data/json.ts";
import { manifest } from "../given.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";

const PATH = "/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions";

/** Plain `kubectl apply` keeps a copy in an annotation, and all annotations have 256 KiB; in bytes of compact JSON. */
const CRD_BYTES_MAX = 256_000;

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

const create = async (cluster: ControlPlane, resource: JsonObject): Promise<Answer> => {
  const answer = await cluster.fetch(`${PATH}?dryRun=All&fieldValidation=Strict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(resource),
  });
  return { status: answer.status, body: await answer.json() };
};

/** The causes of a refusal, as `field: message`. */
const causes = ({ body }: Answer): ReadonlyArray<string> =>
  ((at(body, "details", "causes") ?? []) as unknown as ReadonlyArray<{ field: string; message: string }>)
    .map(({ field, message }) => `${field}: ${message}`);

Deno.test("the CRD on a real API server", async (t) => {
  const cluster = await startControlPlane();
  try {
    await t.step("is small enough for kubectl apply and becomes Established", async () => {
      const definition = customResourceDefinition();
      ok(JSON.stringify(definition).length < CRD_BYTES_MAX);
      const stored = await installDefinition(cluster, definition as unknown as Definition);
      deepStrictEqual((stored.status?.conditions ?? []).map(({ type }) => type).sort(), [
        "Established",
        "NamesAccepted",
      ]);
    });

    for (const { message, passes, fails, says } of RULE_CASES) {
      await t.step(`accepts valid values and rejects values that violate "${message}" with that message`, async () => {
        const accepted = await create(cluster, manifest(passes));
        strictEqual(accepted.status, 201, JSON.stringify(accepted.body.message));
        const refused = await create(cluster, manifest(fails));
        strictEqual(refused.status, 422);
        ok(causes(refused).some((cause) => cause.includes(says ?? message)), causes(refused).join("\n"));
      });
    }

    await t.step("rejects a name that is too long for the Service", async () => {
      ok(causes(await create(cluster, manifest({}, "a".repeat(56)))).some((cause) => cause.includes(NAME_MESSAGE)));
      strictEqual((await create(cluster, manifest({}, "a".repeat(55)))).status, 201);
    });

    await t.step("fills in the defaults, observedGeneration included", async () => {
      const { body } = await create(
        cluster,
        manifest({ networking: {}, storage: { kv: {}, sql: {} }, overrideConfig: undefined } as never),
      );
      deepStrictEqual(
        [
          at(body, "status", "observedGeneration"),
          at(body, "spec", "workload", "replicas"),
          at(body, "spec", "networking", "port"),
        ],
        [-1, 1, 8321],
      );
      deepStrictEqual([at(body, "spec", "storage", "kv", "type"), at(body, "spec", "storage", "sql", "type")], [
        "sqlite",
        "sqlite",
      ]);
    });

    await t.step("accepts every sample", async () => {
      const folder = new URL("../../deploy/samples/", import.meta.url);
      let applied = 0;
      for await (const { name } of Deno.readDir(folder)) {
        const said = await cluster.kubectl(["apply", "-n", "default", "-f", fileURLToPath(new URL(name, folder))]);
        ok(said.includes("created"), said);
        applied++;
      }
      ok(applied >= 9);
    });

    await t.step("lets two field managers own an external provider each", async () => {
      const apply = (manager: string, providerId: string) => {
        const entry = { providerId, image: `registry.example.com/${providerId}:1` };
        const resource = manifest({ externalProviders: { inference: [entry] } }, "shared");
        const { apiVersion, kind, metadata, spec } = resource;
        const { distribution, externalProviders } = spec as JsonObject;
        const own = manager === "first" ? { distribution, externalProviders } : { externalProviders };
        return cluster.kubectl(
          ["apply", "--server-side", `--field-manager=${manager}`, "-n", "default", "-f", "-"],
          JSON.stringify({ apiVersion, kind, metadata, spec: own } as JsonObject),
        );
      };
      await apply("first", "one");
      await apply("second", "two");
      const stored = await (await cluster.fetch(`${PATH}/shared`)).json() as JsonObject;
      const ids = listAt(stored, "spec", "externalProviders", "inference").map((entry) =>
        stringAt(entry, "providerId")
      );
      deepStrictEqual(ids, ["one", "two"]);
      await cluster.kubectl(["delete", "llsd", "shared", "-n", "default"]);
    });

    await t.step("lets server-side apply switch a block to its defaults, as docs/troubleshooting.md says", async () => {
      const blocks: ReadonlyArray<readonly [path: ReadonlyArray<string>, before: JsonObject]> = [
        [["monitoring"], { port: 9000 }],
        [["networking", "expose"], { hostname: "llama.example.com" }],
        [["networking", "policy"], { ingress: [{ ports: [{ port: 8000 }] }] }],
      ];
      for (const [path, before] of blocks) {
        const name = `emptied-${path.at(-1)}`;
        const apply = async (block: JsonObject) => {
          const resource = put(manifest({ distribution: { name: "starter" } }, name), ["spec", ...path], block);
          const answer = await cluster.fetch(`${PATH}/${name}?fieldManager=author&force=true`, {
            method: "PATCH",
            headers: { "content-type": "application/apply-patch+yaml" },
            body: JSON.stringify(resource),
          });
          const body = await answer.json();
          ok(answer.ok, body.message);
          return at(body, "spec", ...path);
        };
        await apply(before);
        deepStrictEqual(await apply({ enabled: true }), { enabled: true });
        deepStrictEqual(await apply({ enabled: true, ...before }), { enabled: true, ...before });
      }
    });

    await t.step("explains its fields", async () => {
      const said = await cluster.kubectl(["explain", "llsd.spec.providers.inference"]);
      ok(said.includes("inference configures model servers") && said.includes("endpoint"), said);
    });
  } finally {
    await cluster.stop();
  }
});
