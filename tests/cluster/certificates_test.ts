/** The operator's own certificates, with two replicas and a real API server that calls them all the time. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect } from "node:tls";
import { customResourceDefinition } from "../../core/api/crd.ts";
import { AUTHORITY_SECRET } from "../../core/api/own_objects.ts";
import { AUTHORITY_KEY, authorityIn, certificatesIn } from "../../core/certificates/authority.ts";
import { CERTIFICATE_TIMES, type CertificateTimes } from "../../core/certificates/times.ts";
import { at, type JsonObject, listAt, objectAt, put, stringAt } from "../../core/data/json.ts";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control_plane.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { type Definition, installDefinition } from "../../tools/cluster/custom_resource_definition.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { manifest } from "../given.ts";
import { type RunningOperator, startOperator } from "./operator.ts";
import {
  balanced,
  call,
  installWithWebhooks,
  pathIn,
  patiently,
  untilCreated,
  validatingConfiguration,
} from "./webhooks.ts";
import { aMoment, eventually, until } from "../waiting.ts";

const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io";
const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/llama-stack-operator";
const SECRET = `/api/v1/namespaces/default/secrets/${AUTHORITY_SECRET}`;
const MERGE = "application/merge-patch+json";

/**
 * Months in seconds. Between two thirds of its life and its end a certificate must see another authority published, which
 * takes seconds on a busy machine.
 */
const SHORT: CertificateTimes = {
  authorityMs: 90_000,
  leafMs: 45_000,
  backDateMs: 2000,
  settleMs: 2000,
  formerMs: 60_000,
};
const LOOK_MS = 300;
const DAY = 24 * 60 * 60 * 1000;

const install = async (cluster: ControlPlane, port: number): Promise<void> => {
  const url = `https://127.0.0.1:${port}`;
  const definition = put(customResourceDefinition(), ["spec", "conversion", "webhook", "clientConfig"], {
    url: `${url}/convert`,
  });
  await installDefinition(cluster, definition as unknown as Definition);
  const path = CONFIGURATION.slice(0, CONFIGURATION.lastIndexOf("/"));
  const made = await call(cluster, "POST", path, validatingConfiguration(url, undefined, "Fail"));
  strictEqual(made.status, 201, JSON.stringify(made.body));
};

/** Lists of the former version come from the API server's watch cache: only a write is sure to be converted. */
const converted = (cluster: ControlPlane, name: string) =>
  call(cluster, "POST", `${pathIn("v1alpha1")}?dryRun=All`, {
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: { name },
    spec: { server: { distribution: { name: "starter" } } },
  });

/** Calls that require conversion and admission, without a pause. Each failed call is reported. */
const traffic = (cluster: ControlPlane) => {
  const failures: Array<string> = [];
  let [calls, going] = [0, true];
  const noted = (what: string, status: number, body: JsonObject) => {
    calls++;
    if (status >= 300) {
      failures.push(`${new Date().toISOString()} ${what} ${status} ${String(body.message).slice(0, 300)}`);
    }
  };
  const ended = (async () => {
    for (let turn = 0; going; turn++) {
      const asked = await patiently(() => converted(cluster, `dry-${turn}`));
      noted("conversion", asked.status, asked.body);
      const made = await patiently(() =>
        call(cluster, "POST", `${pathIn("v1alpha2")}?dryRun=All`, manifest({}, `dry-${turn}`))
      );
      noted("admission", made.status, made.body);
      await aMoment();
    }
  })();
  return {
    calls: () => calls,
    failures: () => failures,
    stop: async () => {
      going = false;
      await ended;
    },
  };
};

/** The API server keeps connections: new ones to each replica, judged by what is published, show what it would find. */
const newConnections = (cluster: ControlPlane, ports: ReadonlyArray<number>) => {
  const untrusted: Array<string> = [];
  let [trusted, going] = [0, true];
  const ended = (async () => {
    while (going) {
      const bundles = await bundlesOf(cluster);
      for (const port of ports) {
        for (const pem of bundles) {
          await peerOf(port, pem).then(() => trusted++, (error) => {
            // A replica that restarts takes no connection.
            if (!["ECONNREFUSED", "ECONNRESET"].includes(error.code)) {
              untrusted.push(`${new Date().toISOString()} ${port} ${error}`);
            }
          });
        }
      }
      await aMoment();
    }
  })();
  return {
    trusted: () => trusted,
    stop: async () => {
      going = false;
      await ended;
      return untrusted;
    },
  };
};

const bundlesOf = async (cluster: ControlPlane): Promise<ReadonlyArray<string>> => {
  const crd = (await call(cluster, "GET", CRD)).body;
  const configuration = (await call(cluster, "GET", CONFIGURATION)).body;
  return [
    stringAt(crd, "spec", "conversion", "webhook", "clientConfig", "caBundle"),
    stringAt(listAt(configuration, "webhooks")[0], "clientConfig", "caBundle"),
  ].map((text) => text === undefined ? "" : atob(text));
};

const authority = async (cluster: ControlPlane) =>
  authorityIn(atob(stringAt((await call(cluster, "GET", SECRET)).body, "data", AUTHORITY_KEY) ?? ""));

const start = (
  cluster: ControlPlane,
  port: number,
  replica: string,
  life: { times: CertificateTimes; lookMs: number },
) =>
  startOperator(cluster, {
    install: false,
    leaderElect: true,
    replica,
    certificateLife: life,
    webhooks: { webhookAddress: `127.0.0.1:${port}`, webhookNames: ["127.0.0.1"], drainMs: 500 },
  });

/** Within this an API server on a busy machine uses a new caBundle. */
const SETTLE_MS = 10_000;

Deno.test("certificates that the operator makes itself, with two replicas", async (t) => {
  const cluster = await startControlPlane();
  const ports = freePorts(2);
  const balancer = balanced(ports);
  const replicas: Array<RunningOperator> = [];
  const usual = { times: { ...CERTIFICATE_TIMES, settleMs: SETTLE_MS }, lookMs: LOOK_MS };
  const working = () =>
    eventually("calls succeed", async () => {
      const asked = await converted(cluster, "probe");
      const made = await call(cluster, "POST", `${pathIn("v1alpha2")}?dryRun=All`, manifest({}, "probe"));
      return asked.status === 201 && made.status === 201 ? true : undefined;
    });
  try {
    await install(cluster, balancer.port);
    await t.step("two replicas that start at once agree on one authority, and both can be called", async () => {
      replicas.push(...await Promise.all(ports.map((port, index) => start(cluster, port, `r${index}`, usual))));
      // Admission is called and answers.
      await untilCreated(cluster, "v1alpha2", manifest({}, "kept"));
      await working();
      const found = await authority(cluster);
      deepStrictEqual((await bundlesOf(cluster)).map((pem) => certificatesIn(pem).length), [1, 1]);
      for (const port of ports) {
        await eventually(`port ${port} is served`, () => probed(port, found?.certificate ?? "").catch(() => undefined));
      }
    });

    const healed = (what: string, breakIt: () => Promise<unknown>, other: boolean) =>
      t.step(`heals: ${what}`, async () => {
        const before = (await authority(cluster))?.certificate;
        await breakIt();
        await eventually("both bundles trust the authority", async () => {
          const current = (await authority(cluster).catch(() => undefined))?.certificate;
          if (current === undefined || other && current === before) return undefined;
          return (await bundlesOf(cluster)).every((pem) => pem.includes(current.trim())) ? true : undefined;
        });
        if (other) {
          // Replicas serve under the former authority for a while.
          const bundles = await bundlesOf(cluster);
          ok(
            bundles.every((pem) => pem.includes(before?.trim() ?? "nothing")),
            "the former authority is trusted still",
          );
        }
        await working();
      });
    const isServedAnew = async () => {
      for (const port of ports) {
        await eventually(`port ${port} is served under the newest authority`, async () => {
          const newest = (await authority(cluster).catch(() => undefined))?.certificate ?? "";
          return await peerOf(port, newest).then(() => true, () => undefined);
        });
      }
    };
    const calls = traffic(cluster);
    const connections = newConnections(cluster, ports);
    const backup = objectAt((await call(cluster, "GET", SECRET)).body, "data");
    await healed("the Secret is deleted", () => call(cluster, "DELETE", SECRET), true);
    // With another path, calls in the meantime would count as those of strangers.
    strictEqual(stringAt((await call(cluster, "GET", SECRET)).body, "data", "webhook-path"), backup["webhook-path"]);
    await healed(
      "the Secret is corrupted",
      () => call(cluster, "PATCH", SECRET, { data: { [AUTHORITY_KEY]: btoa("{}") } }, MERGE),
      true,
    );
    await healed(
      "the key in the Secret is another one's",
      async () => {
        const mixed = { current: { ...await authority(cluster), key: "-----BEGIN PRIVATE KEY-----\nAAAA\n" } };
        await call(cluster, "PATCH", SECRET, { data: { [AUTHORITY_KEY]: btoa(JSON.stringify(mixed)) } }, MERGE);
      },
      true,
    );
    await isServedAnew();
    await healed(
      "the Secret is replaced by that of a backup while a replica restarts",
      async () => {
        await replicas.pop()?.stop();
        await call(cluster, "PATCH", SECRET, { data: backup }, MERGE);
        replicas.push(await start(cluster, ports[1] as number, "again", usual));
      },
      true,
    );
    await t.step("no call failed while the Secret was lost and found, whichever replica answered", async () => {
      await isServedAnew();
      await until("many calls were made", () => calls.calls() > 50 && connections.trusted() > 50);
      await calls.stop();
      deepStrictEqual(calls.failures(), []);
      deepStrictEqual(await connections.stop(), []);
    });
    const emptied = { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } };
    await healed(
      "the caBundle of the CRD is emptied by hand",
      () => call(cluster, "PATCH", CRD, emptied, MERGE),
      false,
    );
    await healed(
      "the caBundle of the webhook is indented by hand, which the API server accepts and cannot use",
      async () => {
        const value = btoa(` ${(await bundlesOf(cluster))[1]}`);
        const indented = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }];
        const answer = await call(cluster, "PATCH", CONFIGURATION, indented, "application/json-patch+json");
        strictEqual(answer.status, 200, JSON.stringify(answer.body));
      },
      false,
    );
    await healed("the caBundle of the webhook is overwritten by hand", async () => {
      const path = "/webhooks/0/clientConfig/caBundle";
      const foreign = await makeAuthority({ notBeforeMs: Date.now() - DAY, notAfterMs: Date.now() + DAY });
      const wrong = [{ op: "replace", path, value: btoa(foreign.certificate) }];
      await call(cluster, "PATCH", CONFIGURATION, wrong, "application/json-patch+json");
    }, false);

    await t.step("only caBundle and path are owned by the operator in what others installed", async () => {
      for (const path of [CRD, CONFIGURATION]) {
        const managed = listAt((await call(cluster, "GET", path)).body, "metadata", "managedFields")
          .filter((managedField) => stringAt(managedField, "manager") === "llama-stack-operator-certificates");
        const leaves: ReadonlyArray<string> = JSON.stringify(managed.map((item) =>
          at(item, "fieldsV1")
        )).match(/"f:[a-zA-Z]+":\{\}/g) ?? [];
        ok(
          leaves.every((leaf) => ['"f:caBundle":{}', '"f:name":{}', '"f:strategy":{}', '"f:url":{}'].includes(leaf)),
          leaves.join(),
        );
        ok(leaves.includes('"f:caBundle":{}'));
      }
    });

    await t.step("after the commands of the runbook, a leaked authority is trusted nowhere", async () => {
      const leaked = certificatesIn((await bundlesOf(cluster)).join("\n"));
      for (const { text } of await commandsRunBy("tests/cluster/certificates_test.ts")) {
        // Replicas are no pods here.
        if (/^kubectl scale .* --replicas=0$/.test(text)) {
          for (const replica of replicas.splice(0)) await replica.stop();
        } else if (/^kubectl scale .* --replicas=2$/.test(text)) {
          replicas.push(...await Promise.all(ports.map((port, index) => start(cluster, port, `s${index}`, usual))));
        } else if (!text.startsWith("kubectl wait ")) {
          const words = text.replace("-n llama-stack-operator-system", "-n default").match(/'[^']*'|\S+/g) ?? [];
          await cluster.kubectl(words.slice(1).map((word) => word.replace(/^'(.*)'$/, "$1")));
        }
      }
      await working();
      strictEqual(replicas.length, ports.length);
      const bundles = await bundlesOf(cluster);
      deepStrictEqual(bundles.map((pem) => certificatesIn(pem).length), [1, 1]);
      ok(leaked.length > 0 && leaked.every((text) => !bundles.join("\n").includes(text.trim())));
    });
  } finally {
    for (const replica of replicas) await replica.stop();
    balancer.close();
    await cluster.stop();
  }
});

Deno.test("authorities and certificates end and are replaced while they are used, and no call fails", async () => {
  const cluster = await startControlPlane();
  const ports = freePorts(2);
  const balancer = balanced(ports);
  const replicas: Array<RunningOperator> = [];
  try {
    await install(cluster, balancer.port);
    replicas.push(
      ...await Promise.all(
        ports.map((port, index) => start(cluster, port, `r${index}`, { times: SHORT, lookMs: LOOK_MS })),
      ),
    );
    // Admission is called and answers.
    await untilCreated(cluster, "v1alpha2", manifest({}, "kept"));
    await eventually(
      "the old version is converted",
      async () => (await converted(cluster, "probe")).status === 201 ? true : undefined,
    );
    const calls = traffic(cluster);
    const first = (await authority(cluster))?.certificate;
    const seen = new Set<string>();
    await eventually("another authority has signed", async () => {
      const found = await authority(cluster);
      if (found !== undefined) seen.add(found.certificate);
      return seen.size >= 2 ? true : undefined;
    });
    await eventually(
      "the first one is forgotten",
      async () => (await bundlesOf(cluster)).every((pem) => !pem.includes(first?.trim() ?? "")) ? true : undefined,
    );
    await until("many calls were made", () => calls.calls() > 100);
    await calls.stop();
    deepStrictEqual(calls.failures(), []);
  } finally {
    for (const replica of replicas) await replica.stop();
    balancer.close();
    await cluster.stop();
  }
});

Deno.test("an externally managed certificate is served from its directory, and the caBundles are not changed", async () => {
  const cluster = await startControlPlane();
  const folder = await Deno.makeTempDir();
  const [port] = freePorts(1) as [number];
  const url = `https://127.0.0.1:${port}`;
  const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const authority = await makeAuthority(validity);
  const mount = async () => {
    const { cert, key } = await makeLeaf(authority, ["127.0.0.1"], validity);
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
    return cert;
  };
  let replica: RunningOperator | undefined;
  try {
    await installWithWebhooks(cluster, { url, caPem: authority.certificate });
    const managersBefore = listAt((await call(cluster, "GET", CRD)).body, "metadata", "managedFields").length;
    replica = await startOperator(cluster, {
      install: false,
      certificateLife: { times: CERTIFICATE_TIMES, lookMs: LOOK_MS },
      webhooks: { webhookAddress: `127.0.0.1:${port}`, certificateDirectory: folder, drainMs: 0 },
    });
    // The folder is filled later than the pod starts, as by cert-manager.
    await mount();
    const old = {
      ...manifest({}),
      apiVersion: "llamastack.io/v1alpha1",
      spec: { server: { distribution: { name: "starter" } } },
    };
    await untilCreated(cluster, "v1alpha1", old);
    const calls = traffic(cluster);
    const served = () => peerOf(port, authority.certificate);
    const before = await served();
    await mount();
    await eventually("the other certificate is served", async () => await served() === before ? undefined : true);
    await calls.stop();
    deepStrictEqual(calls.failures(), []);
    strictEqual((await call(cluster, "GET", SECRET)).status, 404);
    strictEqual(listAt((await call(cluster, "GET", CRD)).body, "metadata", "managedFields").length, managersBefore);
  } finally {
    await replica?.stop();
    await cluster.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Serial number of what is served to a new connection. */
const peerOf = (port: number, authority: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ca: authority, servername: "" }, () => {
      resolve(String(socket.getPeerCertificate().serialNumber));
      socket.destroy();
    });
    socket.on("error", reject);
  });

/** Calls one replica as the API server would. */
const probed = async (port: number, authority: string): Promise<true> => {
  const client = Deno.createHttpClient({ caCerts: [authority] });
  try {
    const answer = await fetch(`https://127.0.0.1:${port}/convert`, { method: "POST", client, body: "{}" });
    ok((await answer.text()).includes("ConversionReview"));
    return true;
  } finally {
    client.close();
  }
};

Deno.test("the operator follows the API server to a new CA without a restart", async () => {
  const cluster = await startControlPlane();
  const log: Array<string> = [];
  const console_log = console.log;
  console.log = (...words: ReadonlyArray<unknown>) => void log.push(words.join(" "));
  try {
    const operator = await startOperator(cluster, {
      connection: {
        url: cluster.url,
        caPem: () => Deno.readTextFileSync(cluster.caFile),
        clientCertificate: undefined,
        token: () => cluster.adminToken,
      },
    });
    const isServed = (name: string) =>
      eventually(`${name} has its Deployment`, async () => {
        const found = await cluster.fetch(`/apis/apps/v1/namespaces/default/deployments/${name}`);
        await found.body?.cancel();
        return found.ok || undefined;
      });
    const created = (name: string) =>
      cluster.kubectl(["create", "-n", "default", "-f", "-"], JSON.stringify(manifest({}, name)));
    try {
      await created("before");
      await isServed("before");
      const former = cluster.caPem;
      await cluster.renewAuthority();
      ok(cluster.caPem !== former);
      await created("after");
      await isServed("after");
    } finally {
      await operator.stop();
    }
  } finally {
    console.log = console_log;
    await cluster.stop();
  }
});
