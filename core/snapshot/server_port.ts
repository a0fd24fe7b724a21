/** Where the server of a pod template listens: its first port, with TLS if its probes speak it. */
import { at, type Json, listAt, stringAt } from "../data/json.ts";

export interface ServerPort {
  readonly port: number;
  /** Undefined where no probe says it. */
  readonly isTls: boolean | undefined;
}

/** Undefined where the template names no port. */
export const serverPortIn = (template: Json | undefined): ServerPort | undefined => {
  const [server] = listAt(template, "spec", "containers");
  const port = at(listAt(server, "ports")[0], "containerPort");
  if (typeof port !== "number") return undefined;
  const schemes = ["startupProbe", "readinessProbe", "livenessProbe"].flatMap((probe) =>
    stringAt(server, probe, "httpGet", "scheme") ?? []
  );
  return { port, isTls: schemes.length === 0 ? undefined : schemes.includes("HTTPS") };
};
