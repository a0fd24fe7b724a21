/**
 * Shows why the client library gives types only: it opens a TLS connection for each request.
 *
 * `deno run --allow-all docs/decisions/client_node_connections.ts`
 */
import { createServer } from "node:https";
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { makeServerCertificate } from "../../tools/server/certificate.ts";

const REQUESTS = 20;

const folder = await Deno.makeTempDir();
const { certificateFile, keyFile } = await makeServerCertificate(folder);
const [cert, key] = [await Deno.readTextFile(certificateFile), await Deno.readTextFile(keyFile)];
let connections = 0;
const server = createServer({ cert, key }, (_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }));
});
server.on("secureConnection", () => connections++);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const url = `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;

const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "c", server: url, caData: btoa(cert), skipTLSVerify: false }, {
  name: "u",
  token: "t",
});
const api = config.makeApiClient(CoreV1Api);
for (let count = 0; count < REQUESTS; count++) await api.readNamespacedConfigMap({ name: "a", namespace: "b" });
console.log(`client library: ${connections} connections for ${REQUESTS} requests`);

connections = 0;
const client = Deno.createHttpClient({ caCerts: [cert], http2: false });
for (let count = 0; count < REQUESTS; count++) {
  await (await fetch(`${url}/api/v1/namespaces/b/configmaps/a`, { client })).text();
}
console.log(`fetch of the runtime: ${connections} connections for ${REQUESTS} requests`);
await Deno.remove(folder, { recursive: true });
Deno.exit(0);
