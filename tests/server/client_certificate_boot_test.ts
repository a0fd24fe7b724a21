/** A model server that answers nobody without a certificate answers a server with `networking.tls.clientSecretName`. */
import { ok, strictEqual } from "node:assert/strict";
import { dirname, join } from "node:path";
import { CLIENT_TLS_FOLDER } from "../../core/config/stages/client_certificate.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installServer } from "../../tools/install/python_server.ts";
import { boot } from "../../tools/server/boot.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { until } from "../waiting.ts";
import { onEveryServer } from "./tested_servers.ts";

const MODEL_SERVER = `
import http.server, json, ssl, sys

port, certificate, key, clients = sys.argv[1:]

class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "me"}]})

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "hello, holder of a certificate"}
        self.reply({"id": "c", "object": "chat.completion", "created": 0, "model": "m",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.verify_mode = ssl.CERT_REQUIRED
context.load_verify_locations(clients)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
`;

Deno.test("a model server that demands a certificate answers every server that presents one, and no other", () =>
  inFolder((folder) =>
    onEveryServer(async (server) => {
      const [own, client] = [join(folder, server.minor, "own"), join(folder, server.minor, "client")];
      for (const each of [own, client]) await Deno.mkdir(each, { recursive: true });
      const [serving, presented] = [await makeServerCertificate(own), await makeServerCertificate(client)];
      const file = join(own, "model_server.py");
      await Deno.writeTextFile(file, MODEL_SERVER);
      const [port] = freePorts(1) as [number];
      const { python } = await installServer("ogx 1.5.0");
      const models = new Deno.Command(python, {
        args: [file, String(port), serving.certificateFile, serving.keyFile, presented.caFile],
        env: { PATH: dirname(python) },
        stdout: "null",
        stderr: "null",
      }).spawn();
      try {
        await until("the model server listens", () =>
          Deno.connect({ port, hostname: "127.0.0.1" }).then((connection) => {
            connection.close();
            return true;
          }, () => false));
        const asked = (tls: JsonObject) =>
          manifest({
            distribution: { name: server.distribution },
            networking: { tls },
            providers: {
              inference: [{
                provider: "vllm",
                endpoint: `https://127.0.0.1:${port}/v1`,
                settings: { network: { tls: { verify: false } } },
              }],
            },
          });
        const files = {
          [`${CLIENT_TLS_FOLDER}/tls.crt`]: await Deno.readTextFile(presented.certificateFile),
          [`${CLIENT_TLS_FOLDER}/tls.key`]: await Deno.readTextFile(presented.keyFile),
        };
        const chat = { model: "vllm/m", messages: [{ role: "user", content: "hello" }] };
        {
          await using stack = await boot(asked({ clientSecretName: "me" }), { ...server.options, files });
          const { status, body } = await stack.post("/v1/chat/completions", chat);
          strictEqual(status, 200, JSON.stringify(body));
          strictEqual(body.choices[0].message.content, "hello, holder of a certificate");
        }
        await using stack = await boot(asked({}), server.options);
        ok((await stack.post("/v1/chat/completions", chat)).status >= 400);
      } finally {
        models.kill();
        await models.status;
      }
    })
  ));
