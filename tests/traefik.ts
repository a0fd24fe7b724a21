/** Traefik on the private host, for the Ingresses of the cluster; it reaches pods as a node does. */
import { request } from "node:http";
import { join } from "node:path";
import { lastLines, startInBackground, waitUntilReady } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { readSession } from "./session.ts";

export const INGRESS_CLASS = "traefik";

/** How Traefik connects to servers that serve HTTPS, under a name that `service.serverstransport` gives to it. */
export interface ServersTransport {
  readonly name: string;
  readonly caFile: string;
  readonly serverName: string;
}

export interface IngressController extends AsyncDisposable {
  /** Through it, as a client that asks for this host does. */
  get(host: string, path: string): Promise<{ readonly status: number; readonly text: string }>;
  log(): Promise<string>;
}

export const startIngressController = async (
  folder: string,
  { name, caFile, serverName }: ServersTransport,
): Promise<IngressController> => {
  const { traefik } = await installControlPlane(["traefik"]);
  const { url, adminToken, caPem } = readSession();
  const [port = 0] = freePorts(1);
  const [caOfCluster, dynamic, logFile] = ["cluster.crt", "dynamic.yaml", "traefik.log"].map((file) =>
    join(folder, file)
  ) as [string, string, string];
  await Deno.writeTextFile(caOfCluster, caPem);
  const serversTransports = { [name]: { rootCAs: [caFile], serverName } };
  // Traefik reads YAML and TOML by their names; JSON is YAML.
  await Deno.writeTextFile(dynamic, JSON.stringify({ http: { serversTransports } }));
  const ingresses = "--providers.kubernetesingress";
  const controller = await startInBackground({
    command: [
      traefik,
      ...["--global.checknewversion=false", "--log.level=DEBUG"],
      `--entrypoints.web.address=127.0.0.1:${port}`,
      `--providers.file.filename=${dynamic}`,
      ...["=true", `.endpoint=${url}`, `.token=${adminToken}`, `.certauthfilepath=${caOfCluster}`]
        .map((option) => `${ingresses}${option}`),
    ],
    logFile,
  });
  const get: IngressController["get"] = (host, path) =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: "127.0.0.1", path, headers: { host }, agent: false }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part) => text += part);
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      asked.on("error", reject).end();
    });
  if (!await waitUntilReady(controller, () => get("nobody", "/").then(() => true, () => false), START_WITHIN_MS)) {
    await controller.stop();
    throw new Error(`Traefik did not start:\n${lastLines(await controller.log(), 20)}`);
  }
  return { get, log: () => controller.log(), [Symbol.asyncDispose]: async () => void await controller.stop() };
};

const START_WITHIN_MS = 120_000;
