/** Objects that the API server's rules for converted objects would refuse: none of them takes a version away from the others. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { LEFTOVERS_ANNOTATION, UNCONVERTED_ANNOTATION } from "../../core/api/convert/annotation.ts";
import { UNCONVERTED_SPECS } from "../../core/api/unconverted.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { goDefinition } from "./go_operator.ts";
import { startOperator } from "./operator.ts";
import { eventually } from "../waiting.ts";
import {
  call,
  installWithWebhooks,
  pathIn,
  patiently,
  startWebhooks,
  VALIDATING_CONFIGURATION,
  validatingConfiguration,
} from "./webhooks.ts";

const OLD = "v1alpha1";
const NOW = "v1alpha2";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";

const MERGE = "application/merge-patch+json";

const SPECS: Readonly<Record<string, JsonObject>> = {
  [OLD]: { replicas: 1, server: { distribution: { name: "starter" } } },
  [NOW]: { distribution: { name: "starter" } },
};

const resource = (version: string, name: string, annotations: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  apiVersion: `llamastack.io/${version}`,
  kind: "LlamaStackDistribution",
  metadata: { name, namespace: "default", annotations },
  spec: { ...SPECS[version], ...spec },
});

const kept = (of: string, value: string): JsonObject => ({
  [LEFTOVERS_ANNOTATION]: JSON.stringify({
    [of]: [],
    kept: { [`${of === OLD ? NOW : OLD}.leftovers.llamastack.io/spec.replicas`]: value },
  }),
});
const leftover = (of: string, text: string): JsonObject => ({ [`${of}.leftovers.llamastack.io/spec.suspend`]: text });
/** All of what the API server takes, but a little. */
const FULL: JsonObject = { "a.example/b": "x".repeat(262_100) };

const items = async (cluster: ControlPlane, version: string): Promise<ReadonlyArray<JsonObject>> => {
  const { status, body } = await patiently(() => call(cluster, "GET", pathIn(version)));
  strictEqual(status, 200, JSON.stringify(body).slice(0, 500));
  return listAt(body, "items") as ReadonlyArray<JsonObject>;
};
const markerOf = (object: JsonObject | undefined): string | undefined =>
  object === undefined ? undefined : stringAt(object, "metadata", "annotations", UNCONVERTED_ANNOTATION);
const named = (objects: ReadonlyArray<JsonObject>, name: string): JsonObject | undefined =>
  objects.find((object) => stringAt(object, "metadata", "name") === name);

const created = async (cluster: ControlPlane, version: string, object: JsonObject): Promise<void> => {
  const { status, body } = await patiently(() => call(cluster, "POST", pathIn(version), object));
  strictEqual(status, 201, JSON.stringify(body).slice(0, 500));
};

/** Whether a watch of the version sends the first event of each of these, and none is an error. */
const watched = async (cluster: ControlPlane, version: string, count: number): Promise<void> => {
  const answer = await cluster.fetch(`${pathIn(version)}?watch=1&timeoutSeconds=20`);
  strictEqual(answer.status, 200);
  let text = "";
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const lines = text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
    deepStrictEqual(lines.filter(({ type }) => type !== "ADDED"), []);
    if (lines.length === count) return;
  }
  throw new Error(`the watch ended after ${text.length} characters`);
};

/** Writes of subresources of an object that is shown by its name alone, as controllers and autoscalers send them. */
const subresourcesRejected = async (
  cluster: ControlPlane,
  version: string,
  name: string,
  subresources: ReadonlyArray<"status" | "scale">,
): Promise<void> => {
  const parts = { status: { status: { phase: "Ready" } }, scale: { spec: { replicas: 3 } } };
  for (const subresource of subresources) {
    const path = `${pathIn(version, name)}/${subresource}`;
    const { body: shown } = await call(cluster, "GET", path);
    const patched = await call(cluster, "PATCH", path, parts[subresource], MERGE);
    const put = await call(cluster, "PUT", path, { ...shown, ...parts[subresource] });
    for (const [method, { status, body }] of Object.entries({ patched, put })) {
      strictEqual(status, 422, `${method} ${path}: ${JSON.stringify(body).slice(0, 500)}`);
      ok(
        stringAt(body, "message")?.includes("would remove everything but its name"),
        JSON.stringify(body).slice(0, 500),
      );
    }
  }
};

Deno.test("an object that cannot be converted leaves v1alpha1 to everybody else, and can be deleted", async () => {
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster);
  try {
    await installWithWebhooks(cluster, webhooks);
    const bad: Readonly<Record<string, JsonObject>> = {
      number: resource(NOW, "number", kept(OLD, "\u0000int:5")),
      invalid: resource(NOW, "invalid", leftover(OLD, '{"to":"\\u0000int:007"}')),
      full: resource(NOW, "full", FULL, {
        providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] },
      }),
    };
    await created(cluster, NOW, resource(NOW, "good"));
    for (const object of Object.values(bad)) await created(cluster, NOW, object);
    const shown = await items(cluster, OLD);
    deepStrictEqual(shown.map((object) => stringAt(object, "metadata", "name")), ["full", "good", "invalid", "number"]);
    deepStrictEqual(shown.filter(markerOf).map((object) => stringAt(object, "metadata", "name")), ["full"]);
    await watched(cluster, OLD, 4);
    await cluster.restartApiServer();
    strictEqual((await items(cluster, OLD)).length, 4);

    // Admission tells the next author of such an object what clients of v1alpha1 will see of it.
    strictEqual(
      (await call(cluster, "POST", VALIDATING, validatingConfiguration(webhooks.url, webhooks.caPem, "Fail"))).status,
      201,
    );
    await eventually("a warning", async () => {
      const written = await call(
        cluster,
        "POST",
        `${pathIn(NOW)}?dryRun=All`,
        put(bad.full ?? {}, ["metadata", "name"], "x"),
      );
      strictEqual(written.status, 201, JSON.stringify(written.body).slice(0, 500));
      return written.warnings.join("\n").includes("clients of v1alpha1 see nothing but its name") || undefined;
    });
    // Whoever writes back what he read would remove the rest.
    for (const version of [OLD, NOW]) {
      const patch = { metadata: { labels: { version } } };
      const { status, body } = await call(cluster, "PATCH", pathIn(version, "full"), patch, MERGE);
      const message = stringAt(body, "message") ?? "";
      if (version === OLD) ok(message.includes("this write would remove everything but the name"), message);
      else strictEqual(status, 200, message);
    }
    strictEqual(
      listAt((await call(cluster, "GET", pathIn(NOW, "full"))).body, "spec", "providers", "inference").length,
      1,
    );
    // The schema compares values, so that admission alone sees a write of the status that changes none.
    const unchanged = await call(cluster, "PATCH", `${pathIn(OLD, "full")}/status`, {}, MERGE);
    ok(
      stringAt(unchanged.body, "message")?.includes("this write would remove everything but the name"),
      JSON.stringify(unchanged.body).slice(0, 500),
    );
    await call(cluster, "DELETE", `${VALIDATING}/${VALIDATING_CONFIGURATION}`);
    // The schema rejects what admission does not see.
    await subresourcesRejected(cluster, OLD, "full", ["status"]);
    strictEqual(
      listAt((await call(cluster, "GET", pathIn(NOW, "full"))).body, "spec", "providers", "inference").length,
      1,
    );

    for (const [name, version] of [["number", OLD], ["invalid", NOW], ["full", OLD]] as const) {
      strictEqual((await call(cluster, "DELETE", pathIn(version, name))).status, 200, name);
    }
    deepStrictEqual((await items(cluster, OLD)).map((object) => stringAt(object, "metadata", "name")), ["good"]);
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});

Deno.test("an object of the Go operator that cannot be converted stops neither the operator nor the storage migration of others", async () => {
  const cluster = await startControlPlane();
  const webhooks = await startWebhooks(cluster);
  try {
    await installDefinition(cluster, goDefinition() as unknown as Definition);
    const env = Array.from({ length: 40_000 }, (_, index) => ({ name: `V${index}`, value: "" }));
    await created(cluster, OLD, resource(OLD, "good"));
    await created(cluster, OLD, resource(OLD, "number", kept(NOW, "\u0000int:5")));
    await created(cluster, OLD, resource(OLD, "invalid", leftover(NOW, '{"to":"\\u0000int:007"}')));
    await created(
      cluster,
      OLD,
      resource(OLD, "full", FULL, {
        server: { ...SPECS[OLD]?.server as JsonObject, containerSpec: { name: "other" } },
      }),
    );
    const finalized = resource(OLD, "wide", {}, {
      server: { ...SPECS[OLD]?.server as JsonObject, containerSpec: { env } },
    });
    await created(cluster, OLD, put(finalized, ["metadata", "finalizers"], ["a.example/b"]));
    await installWithWebhooks(cluster, webhooks);
    // Conversions of a CRD that was just changed begin a moment later.
    const shown = await eventually("v1alpha2 is served", async () => {
      const found = await items(cluster, NOW).catch(() => []);
      return at(named(found, "good"), "spec", "distribution") === undefined ? undefined : found;
    });
    deepStrictEqual(
      shown.filter(markerOf).map((object) => [stringAt(object, "metadata", "name"), object.spec]),
      ["full", "wide"].map((name) => [name, UNCONVERTED_SPECS[`llamastack.io/${NOW}`]]),
    );
    await watched(cluster, NOW, 5);
    const log: Array<string> = [];
    const console_log = console.log;
    console.log = (line: unknown) => void log.push(typeof line === "string" ? line : JSON.stringify(line));
    const operator = await startOperator(cluster, { install: false });
    try {
      await eventually(
        "the Deployment of another tenant",
        async () =>
          (await call(cluster, "GET", "/apis/apps/v1/namespaces/default/deployments/good")).status === 200 || undefined,
      );
      // The others are written anew, and what would be lost is left where it is.
      await eventually("the others are migrated", async () => {
        const { body } = await call(cluster, "GET", pathIn(NOW, "number"));
        return listAt(body, "status", "conditions").length > 0 || undefined;
      });
      await eventually(
        "the migration ends without the two",
        () =>
          log.some((line) => line.includes("storage migration is incomplete") && line.includes("2 resources")) ||
          undefined,
      );
      deepStrictEqual(at((await call(cluster, "GET", CRD)).body, "status", "storedVersions"), [OLD, NOW]);
      const [full, wide] = await Promise.all(["full", "wide"].map((name) => call(cluster, "GET", pathIn(OLD, name))));
      deepStrictEqual(at(full?.body, "spec", "server", "containerSpec", "name"), "other");
      strictEqual(listAt(wide?.body, "spec", "server", "containerSpec", "env").length, 40_000);
      for (const name of ["full", "wide"]) await subresourcesRejected(cluster, NOW, name, ["status", "scale"]);
      strictEqual(
        listAt((await call(cluster, "GET", pathIn(OLD, "wide"))).body, "spec", "server", "containerSpec", "env").length,
        40_000,
      );
    } finally {
      await operator.stop();
      console.log = console_log;
    }
    strictEqual((await call(cluster, "DELETE", pathIn(NOW, "full"))).status, 200);
    strictEqual((await call(cluster, "DELETE", pathIn(OLD, "number"))).status, 200);
    strictEqual((await call(cluster, "DELETE", pathIn(NOW, "invalid"))).status, 200);
    const ended = await call(cluster, "DELETE", pathIn(NOW, "wide"));
    ok(ended.status === 200 || ended.status === 202, JSON.stringify(ended.body).slice(0, 500));
    const released = await call(
      cluster,
      "PATCH",
      pathIn(OLD, "wide"),
      { metadata: { finalizers: null } },
      MERGE,
    );
    strictEqual(released.status, 200, JSON.stringify(released.body).slice(0, 500));
    deepStrictEqual((await items(cluster, NOW)).map((object) => stringAt(object, "metadata", "name")), ["good"]);
  } finally {
    await webhooks.stop();
    await cluster.stop();
  }
});
