/** Settings that become invalid, and an operator that starts anew, on a real API server: nothing opens. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import { HMAC_SECRET } from "../../core/api/own_objects.ts";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { validTextsIn } from "../../core/operator/own_secret.ts";
import { looking } from "../../shell/cli/look.ts";
import { LiveSettings } from "../../shell/controller/operator_settings.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { manifest } from "../given.ts";
import { RESTRICTIONS, TYPOS } from "../restrictive_settings.ts";
import { eventually } from "../waiting.ts";
import { startOperator } from "./operator.ts";
import { apply, condition, isObserved, read, RESOURCES } from "./settled.ts";
import { call, installWithWebhooks, pathIn, startWebhooks, untilCreated, validatingConfiguration } from "./webhooks.ts";

const POLICY = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/np-network-policy";
const SECRET = `/api/v1/namespaces/default/secrets/${HMAC_SECRET}`;
const settings = (data: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: SETTINGS_CONFIG_MAP, namespace: "default" },
  data,
});

const evil = (name: string) =>
  manifest({
    networking: { expose: { hostname: "bank.example.com" } },
    workload: { overrides: { serviceAccountName: "admin" } },
  }, name);
const fair = (name: string) =>
  manifest({
    networking: { expose: { hostname: `${name}.apps.example.com` } },
    workload: { overrides: { serviceAccountName: "llama-a" } },
  }, name);

const isThere = async (cluster: ControlPlane, path: string): Promise<boolean> => {
  const answer = await cluster.fetch(path);
  await answer.body?.cancel();
  return answer.ok;
};
const deployment = (name: string) => `/apis/apps/v1/namespaces/default/deployments/${name}`;

/** Applied, and refused: nothing was made of it. */
const isRefused = async (cluster: ControlPlane, name: string): Promise<void> => {
  await eventually(`${name} is refused`, async () => {
    const resource = await read(cluster, `${RESOURCES}/${name}`);
    return stringAt(condition(resource, "ConfigGenerated"), "reason") === "NotAllowed" || undefined;
  });
  strictEqual(await isThere(cluster, deployment(name)), false);
  strictEqual(await isThere(cluster, `/apis/networking.k8s.io/v1/namespaces/default/ingresses/${name}-ingress`), false);
};

const isMade = (cluster: ControlPlane, path: string) =>
  eventually(`${path} is there`, async () => await isThere(cluster, path) || undefined);

const stored = async (cluster: ControlPlane) => validTextsIn(await read(cluster, SECRET));

/** What the commands take for the settings. */
const seenByCommands = (cluster: ControlPlane) =>
  Effect.runPromise(looking(Effect.flatMap(LiveSettings, Ref.get), {
    connection: {
      url: cluster.url,
      caPem: () => cluster.caPem,
      clientCertificate: undefined,
      token: () => cluster.adminToken,
    },
    operatorNamespace: "default",
    relatedImages: new Map(),
  }));

Deno.test("an entry of the settings that becomes invalid keeps its last valid value over restarts, and opens nothing", async (t) => {
  const cluster = await startControlPlane();
  const logged: Array<string> = [];
  const log = console.log;
  console.log = (line: unknown) => void logged.push(typeof line === "string" ? line : JSON.stringify(line));
  let operator = await startOperator(cluster);
  const restart = async () => {
    await operator.stop();
    logged.length = 0;
    operator = await startOperator(cluster, { install: false });
  };
  const says = (words: string) =>
    eventually(
      `the log says: ${words}`,
      () => logged.some((line) => line.includes("invalid settings") && line.includes(words)) || undefined,
    );
  try {
    await apply(cluster, settings(RESTRICTIONS));
    await apply(cluster, manifest({}, "np"));
    // The settings count from then on.
    await isMade(cluster, POLICY);
    await apply(cluster, evil("evil"));
    await isRefused(cluster, "evil");

    await t.step("after an edit that nobody can read, and a restart, all is as it was", async () => {
      await apply(cluster, settings(TYPOS));
      await says("allow.ingressHosts: expected a list of at most");
      deepStrictEqual(await stored(cluster), RESTRICTIONS);
      for (const name of ["first", "second"]) {
        await restart();
        await apply(cluster, fair(name));
        await isMade(cluster, deployment(name));
        await isMade(cluster, `/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/${name}-network-policy`);
        await apply(cluster, evil(`evil-${name}`));
        await isRefused(cluster, `evil-${name}`);
        await isRefused(cluster, "evil");
        await says(
          'enableNetworkPolicy.enabled: \\"maybe\\" is neither true nor false; the last valid value still applies',
        );
        ok(await isThere(cluster, POLICY));
      }
      deepStrictEqual(await stored(cluster), RESTRICTIONS);
    });

    await t.step("commands and admission take the same values", async () => {
      const { networkPolicies, allow } = await seenByCommands(cluster);
      deepStrictEqual([networkPolicies, allow.ingressHosts, allow.serviceAccounts], [
        true,
        ["*.apps.example.com"],
        ["llama-*"],
      ]);
      const webhooks = await startWebhooks(cluster);
      try {
        await installWithWebhooks(cluster, webhooks);
        await apply(cluster, validatingConfiguration(webhooks.url, webhooks.caPem, "Fail"));
        const unknown = manifest({ distribution: { name: "no" } }, "unknown");
        await eventually("admission is called", async () => {
          const { status } = await call(cluster, "POST", `${pathIn("v1alpha2")}?dryRun=All`, unknown);
          return status === 422 || undefined;
        });
        const answer = await eventually("admission refuses", async () => {
          const { status, body } = await call(cluster, "POST", pathIn("v1alpha2"), evil("evil-admitted"));
          if (status === 201) throw new Error("admitted");
          const message = stringAt(body, "message") ?? "";
          return message.includes("allow.") ? message : undefined;
        });
        ok(answer.includes("allow.ingressHosts") && answer.includes("allow.serviceAccounts"), answer);
        await untilCreated(cluster, "v1alpha2", fair("admitted"));
      } finally {
        await cluster.kubectl(["delete", "validatingwebhookconfiguration", "llama-stack-operator"]);
        await webhooks.stop();
      }
    });

    await t.step("if no valid value is known, nothing is allowed, and NetworkPolicies stay", async () => {
      await cluster.kubectl([
        ...["patch", "secret", HMAC_SECRET, "-n", "default", "--type=json"],
        ...["-p", JSON.stringify([{ op: "remove", path: "/data/valid-settings" }])],
      ]);
      await restart();
      await says("servers that have a NetworkPolicy keep it, because no valid value is known");
      await says("it allows nothing, because no valid value is known");
      await apply(cluster, fair("third"));
      await isRefused(cluster, "third");
      await apply(cluster, manifest({}, "plain"));
      await isMade(cluster, deployment("plain"));
      // Its NetworkPolicy would follow the Deployment, and the status follows all.
      await eventually(
        "plain is observed",
        async () => isObserved(await read(cluster, `${RESOURCES}/plain`)) || undefined,
      );
      ok(await isThere(cluster, POLICY));
      strictEqual(await isThere(cluster, POLICY.replace("np-", "plain-")), false);
      ok(await isThere(cluster, deployment("first")));
    });

    await t.step("with valid entries they count again", async () => {
      await apply(cluster, settings(RESTRICTIONS));
      await isMade(cluster, deployment("third"));
      await isMade(cluster, POLICY.replace("np-", "plain-"));
      await isRefused(cluster, "evil");
    });

    await t.step("settings that somebody deletes while no operator runs are the defaults, and stay so", async () => {
      await operator.stop();
      await cluster.kubectl(["delete", "configmap", SETTINGS_CONFIG_MAP, "-n", "default"]);
      await restart();
      await eventually("the NetworkPolicy is gone", async () => !(await isThere(cluster, POLICY)) || undefined);
      await isMade(cluster, deployment("evil"));
      await eventually("nothing is kept", async () => Object.keys(await stored(cluster)).length === 0 || undefined);
    });
  } finally {
    console.log = log;
    await operator.stop();
    await cluster.stop();
  }
});
