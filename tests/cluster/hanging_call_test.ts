/** One write that the API server never answers: everybody else is served as if nothing were the matter. */
import { ok, strictEqual } from "node:assert/strict";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { openDoor } from "./faulty_door.ts";
import { startOperator } from "./operator.ts";
import { apply, imageOf, read, settled, withModels } from "./settled.ts";
import { eventually } from "../waiting.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
/** Longer than any test: what is served is served while the write still hangs. */
const PATIENCE = { callMs: 3_600_000, watchMs: 3_600_000 };
const OTHERS = Array.from({ length: 8 }, (_, index) => `other-${index}`);

const label = async (cluster: ControlPlane, name: string): Promise<string | undefined> =>
  stringAt(await read(cluster, `${DEPLOYMENTS}/${name}`), "spec", "template", "metadata", "labels", "edited");

const image = async (cluster: ControlPlane, name: string): Promise<string> =>
  imageOf(await read(cluster, `${DEPLOYMENTS}/${name}`));

const edited = (name: string, word: string): JsonObject =>
  manifest({ ...withModels(1), workload: { replicas: 1, overrides: { podLabels: { edited: word } } } }, name);

Deno.test("a write without an answer delays only its own resource", async (t) => {
  const cluster = await startControlPlane({ node: "Scheduled" });
  const log = console.log;
  console.log = () => {};
  let hung = 0;
  let isHanging = false;
  const door = openDoor(cluster, {
    hangs: (method, path) => {
      const hangs = isHanging && method !== "GET" && path.startsWith(`${DEPLOYMENTS}/hung`);
      if (hangs) hung++;
      return hangs;
    },
  });
  const servedMeanwhile = async (word: string) => {
    for (const name of OTHERS) {
      await apply(cluster, edited(name, word));
      await eventually(
        `the edit of ${name} is served`,
        async () => await label(cluster, name) === word || undefined,
      );
    }
  };
  try {
    const running = await startOperator(cluster, { url: door.url, patience: PATIENCE });
    try {
      for (const name of ["hung", ...OTHERS]) await apply(cluster, edited(name, "no"));
      for (const name of ["hung", ...OTHERS]) await settled(cluster, name, 1);
      await t.step("during an edit", async () => {
        isHanging = true;
        await apply(cluster, edited("hung", "yes"));
        await eventually("it hangs", () => Promise.resolve(hung > 0 || undefined));
        await servedMeanwhile("yes");
        strictEqual(await label(cluster, "hung"), "no");
        strictEqual(hung, 1);
      });
      await t.step("during an upgrade, which continues for the others", async () => {
        hung = 0;
        isHanging = false;
        door.endHanging();
        await eventually(
          "the edit is made up for",
          async () => await label(cluster, "hung") === "yes" || undefined,
        );
        for (const name of ["hung", ...OTHERS]) await settled(cluster, name, 1);
        isHanging = true;
        await apply(cluster, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "llama-stack-operator-config", namespace: "default" },
          data: {
            "image-overrides": "starter: mirror.example/ogxai/distribution-starter:0.7.2",
            upgradeParallelism: "2",
          },
        });
        await eventually("its upgrade hangs", () => Promise.resolve(hung > 0 || undefined));
        await servedMeanwhile("again");
        await eventually("the others are upgraded", async () => {
          const images = await Promise.all(OTHERS.map((name) => image(cluster, name)));
          return images.every((text) => text.endsWith(":0.7.2")) || undefined;
        });
        ok(!(await image(cluster, "hung")).endsWith(":0.7.2"));
      });
    } finally {
      await running.stop();
    }
  } finally {
    console.log = log;
    await door.close();
    await cluster.stop();
  }
});
