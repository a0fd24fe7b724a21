/** /readyz on a real API server names the kinds that the operator cannot read, and is ok once it can. */
import { ok, strictEqual } from "node:assert/strict";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { startControlPlane } from "../../tools/cluster/control_plane.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { manifest } from "../given.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { installGatewayKinds, installPrometheusKinds } from "./optional_definitions.ts";
import { apply, settled, withModels } from "./settled.ts";
import { eventually } from "../waiting.ts";

const CRD = "llamastackdistributions.llamastack.io";
const BUDGETS = "poddisruptionbudgets";
const OPTIONAL = ["httproutes", "backendtlspolicies", "podmonitors", "prometheusrules"];

Deno.test("/readyz names a missing definition and a forbidden kind, and is ok once they are there", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const lines: Array<string> = [];
  const log = console.log;
  console.log = (...words: ReadonlyArray<unknown>) => void lines.push(words.join(" "));
  let forbidden: ReadonlyArray<string> = [];
  const door = openDoor(cluster, {
    watchMs: 1000,
    instead: (_, path) =>
      !forbidden.some((plural) => path.includes(`/${plural}`)) ? undefined : Response.json({
        kind: "Status",
        status: "Failure",
        reason: "Forbidden",
        message: 'they are forbidden: User "operator" cannot list resource',
        code: 403,
      }, { status: 403 }),
  });
  const [port = 0] = freePorts(1);
  let seen = "";
  const readyz = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    seen = answer === undefined ? "no answer" : `${answer.status} ${await answer.text()}`;
    return { status: answer?.status, text: seen };
  };
  const ready = () => eventually("ready", async () => (await readyz()).status === 200 || undefined);
  const notReady = (words: ReadonlyArray<string>) =>
    eventually(`not ready: ${words.join()}`, async () => {
      const { status, text } = await readyz();
      return status === 503 && words.every((word) => text.includes(word)) ? text : undefined;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; last seen: ${seen}`);
    });
  const install = () => installDefinition(cluster, customResourceDefinition() as unknown as Definition);
  try {
    const running = await startOperator(cluster, { url: door.url, install: false, healthAddress: `127.0.0.1:${port}` });
    try {
      await t.step("the definition is missing from the start", async () => {
        const text = await notReady([`CustomResourceDefinition ${CRD}`, "v1alpha2", "not installed"]);
        ok(!text.includes("no message"), text);
        ok(lines.some((line) => line.includes(CRD)), "the log says so too");
      });
      await t.step("it is installed", async () => {
        await install();
        await ready();
        await apply(cluster, manifest(withModels(1)));
        await settled(cluster, "my", 1);
      });
      await t.step("it is deleted, and comes back", async () => {
        await cluster.kubectl(["delete", "customresourcedefinition", CRD]);
        await notReady([`CustomResourceDefinition ${CRD}`]);
        await install();
        await ready();
        await apply(cluster, manifest(withModels(1)));
        await settled(cluster, "my", 1);
      });
      await t.step("one kind is forbidden, and allowed again", async () => {
        forbidden = [BUDGETS];
        await notReady([BUDGETS, "forbidden", "list or watch"]);
        const livez = await fetch(`http://127.0.0.1:${port}/livez`);
        await livez.body?.cancel();
        strictEqual(livez.status, 200);
        forbidden = [];
        await ready();
      });
    } finally {
      await running.stop();
    }
    await t.step("one kind is forbidden from the start", async () => {
      forbidden = [BUDGETS];
      const second = await startOperator(cluster, { url: door.url, healthAddress: `127.0.0.1:${port}` });
      try {
        await notReady([BUDGETS, "forbidden"]);
        forbidden = [];
        await ready();
      } finally {
        await second.stop();
      }
    });
    await t.step(
      "kinds that not every cluster has are forbidden from the start, as with Roles of a former release",
      async () => {
        await installGatewayKinds(cluster, "HTTPRoute", "BackendTLSPolicy");
        await installPrometheusKinds(cluster, "PodMonitor", "PrometheusRule");
        forbidden = OPTIONAL;
        const third = await startOperator(cluster, { url: door.url, healthAddress: `127.0.0.1:${port}` });
        try {
          await notReady(OPTIONAL.map((plural) => `/${plural}: 403`));
          await apply(cluster, manifest(withModels(1), "other"));
          await settled(cluster, "other", 1);
          await notReady(OPTIONAL);
          forbidden = [];
          await ready();
        } finally {
          await third.stop();
        }
      },
    );
  } finally {
    console.log = log;
    await door.close();
    await cluster.stop();
  }
});
