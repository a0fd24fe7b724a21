/** Where the server of a pod template listens: its first port, with TLS if its probes speak it. */
import { at, type Json, listAt, stringAt } from "../data/json.ts";

export interface ServerPort {
  readonly port: number;
  readonly isTls: boolean;
}

/** Undefined where the template names no port. */
export const serverPortIn = (template: Json | undefined): ServerPort | undefined => {
  const [server] = listAt(template, "spec", "containers");
  const port = at(listAt(server, "ports")[0], "containerPort");
  if (typeof port !== "number") return undefined;
  return { port, isTls: stringAt(server, "readinessProbe", "httpGet", "scheme") === "HTTPS" };
};
