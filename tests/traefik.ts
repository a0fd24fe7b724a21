/** Traefik on loopback, for the Ingresses and Gateways of a cluster; it reaches pods as a node does. */
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { lastLines, startInBackground, waitUntilReady } from "../tools/cluster/background_process.ts";
import type { ControlPlane } from "../tools/cluster/control_plane.ts";
import { freePorts } from "../tools/cluster/free_ports.ts";
import { installControlPlane } from "../tools/install/control_plane.ts";

export const INGRESS_CLASS = "traefik";
export const INGRESS_CONTROLLER = "traefik.io/ingress-controller";
export const GATEWAY_CONTROLLER = "traefik.io/gateway-controller";

/** How Traefik connects to servers that serve HTTPS, under a name that `service.serverstransport` gives to it. */
export interface ServersTransport {
  readonly name: string;
  readonly caFile: string;
  readonly serverName: string;
}

export interface Traefik extends AsyncDisposable {
  /** That of the listeners of a Gateway. */
  readonly port: number;
  /** Through it, as a client that asks for this host does. */
  get(host: string, path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** The texts in the order and the parts in which they arrive. */
  stream(host: string, path: string): Promise<AsyncIterable<string>>;
  log(): Promise<string>;
}

export const startTraefik = async (
  { url, adminToken, caPem }: Pick<ControlPlane, "url" | "adminToken" | "caPem">,
  folder: string,
  { name, caFile, serverName }: ServersTransport,
  providers: ReadonlyArray<"kubernetesingress" | "kubernetesgateway"> = ["kubernetesingress"],
): Promise<Traefik> => {
  const { traefik } = await installControlPlane(["traefik"]);
  const [port = 0] = freePorts(1);
  const [caOfCluster, dynamic, logFile] = ["cluster.crt", "dynamic.yaml", "traefik.log"].map((file) =>
    join(folder, file)
  ) as [string, string, string];
  await Deno.writeTextFile(caOfCluster, caPem);
  const serversTransports = { [name]: { rootCAs: [caFile], serverName } };
  // Traefik reads YAML and TOML by their names; JSON is YAML.
  await Deno.writeTextFile(dynamic, JSON.stringify({ http: { serversTransports } }));
  const controller = await startInBackground({
    command: [
      traefik,
      ...["--global.checknewversion=false", "--log.level=DEBUG"],
      `--entrypoints.web.address=127.0.0.1:${port}`,
      `--providers.file.filename=${dynamic}`,
      ...providers.flatMap((provider) =>
        ["=true", `.endpoint=${url}`, `.token=${adminToken}`, `.certauthfilepath=${caOfCluster}`]
          .map((option) => `--providers.${provider}${option}`)
      ),
    ],
    logFile,
  });
  const asked = (host: string, path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ port, host: "127.0.0.1", path, headers: { host }, agent: false }, resolve).on("error", reject).end();
    });
  const get: Traefik["get"] = async (host, path) => {
    const answer = await asked(host, path);
    let text = "";
    for await (const part of answer.setEncoding("utf8")) text += part;
    return { status: answer.statusCode ?? 0, text };
  };
  if (!await waitUntilReady(controller, () => get("nobody", "/").then(() => true, () => false), START_WITHIN_MS)) {
    await controller.stop();
    throw new Error(`Traefik did not start:\n${lastLines(await controller.log(), 20)}`);
  }
  return {
    port,
    get,
    stream: async (host, path) => (await asked(host, path)).setEncoding("utf8"),
    log: () => controller.log(),
    [Symbol.asyncDispose]: async () => void await controller.stop(),
  };
};

const START_WITHIN_MS = 120_000;
