import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { ServerVersion } from "../../tools/install/python_server.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { ServerDidNotStart, startServer, uvicornCommand } from "../../tools/server/llama_stack.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { inFolder } from "../folder.ts";

const SERVERS = {
  "llama-stack 0.7.3": { failedStart: 1 },
  "ogx 1.4.1": { failedStart: 3 },
  "ogx 1.5.0": { failedStart: 3 },
} as const satisfies Partial<Record<ServerVersion, { failedStart: number }>>;

const configWith = (providerType: string, baseUrl: string): string => `
version: 2
distro_name: mini
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: ${providerType}
    config: {base_url: "${baseUrl}", api_token: "\${env.MODEL_KEY}"}
server: {port: 8321, insecure: true}
`;

for (const [server, { failedStart }] of Object.entries(SERVERS) as [ServerVersion, { failedStart: number }][]) {
  Deno.test(`startServer() boots ${server}, and a chat reaches the model server with the key`, () =>
    inFolder(async (dataDir) => {
      const models = startModelServer({ requireKey: "k-1 2#3" });
      const [port] = freePorts(1) as [number];
      const stack = await startServer({
        server,
        command: await uvicornCommand(server, port),
        config: configWith("remote::vllm", models.baseUrl),
        env: { MODEL_KEY: "k-1 2#3" },
        dataDir,
        port,
      }).catch(async (cause) => {
        await models.stop();
        throw cause;
      });
      try {
        const providers = await stack.get("/v1/providers");
        const listed = providers.body.data.map((item: { provider_type: string }) => item.provider_type);
        ok(listed.includes("remote::vllm"), listed);

        const messages = [{ role: "user", content: "hello" }];
        const chat = await stack.post("/v1/chat/completions", { model: "vllm/test-model", messages });
        strictEqual(chat.body.choices?.[0].message.content, "You said: hello", JSON.stringify(chat.body));
        const asked = models.requests.at(-1);
        deepStrictEqual([asked?.path, asked?.authorization], ["/v1/chat/completions", "Bearer k-1 2#3"]);
        match(await stack.log(), /Application startup complete/);
      } finally {
        const exitCode = await stack.stop();
        await models.stop();
        // Once everything is shut down, uvicorn ends itself by the signal that asked it to end.
        strictEqual(exitCode, 128 + 15);
      }
    }));

  Deno.test(`startServer() reports how a start of ${server} failed`, () =>
    inFolder(async (dataDir) => {
      const [port] = freePorts(1) as [number];
      const failure = await startServer({
        server,
        command: await uvicornCommand(server, port),
        config: configWith("remote::nothing", "http://127.0.0.1:1/v1"),
        env: { MODEL_KEY: "key" },
        dataDir,
        port,
      }).then(() => undefined, (error) => error);
      ok(failure instanceof ServerDidNotStart);
      strictEqual(failure.exitCode, failedStart);
      match(failure.message, new RegExp(`${server} ended with code ${failedStart}; .*log:\n[^]*remote::nothing`));
    }));
}

Deno.test("startServer() reaches a server with TLS", () =>
  inFolder(async (dataDir) => {
    const server = "ogx 1.4.1";
    const { certificateFile, keyFile, caFile } = await makeServerCertificate(dataDir);
    const [port] = freePorts(1) as [number];
    const tls = ["--ssl-certfile", certificateFile, "--ssl-keyfile", keyFile];
    const stack = await startServer({
      server,
      command: [...await uvicornCommand(server, port), ...tls],
      config: configWith("remote::vllm", "http://127.0.0.1:1/v1"),
      env: { MODEL_KEY: "key" },
      dataDir,
      port,
      scheme: "https",
      caFile,
    });
    try {
      deepStrictEqual((await stack.get("/v1/version")).body, { version: "1.4.1" });
    } finally {
      await stack.stop();
    }
  }));
