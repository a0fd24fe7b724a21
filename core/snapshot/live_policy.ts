/** Whom a NetworkPolicy lets in. */
import { isObject, type Json, listAt, member, stringAt } from "../data/json.ts";

export interface AllowedClients {
  /** As text, so that they can be compared. */
  readonly peers: ReadonlyArray<string>;
  /** Those of each rule. */
  readonly ports: string;
}

/** By its `spec.ingress`, as the API server has it or as it is written. */
export const allowedClients = (ingress: Json | undefined): AllowedClients => {
  const rules = listAt(ingress);
  return {
    peers: rules.flatMap((rule) => listAt(rule, "from")).filter(isObject).map((peer) => JSON.stringify(peer)),
    ports: JSON.stringify(
      rules.map((rule) =>
        listAt(rule, "ports").map((port) => [stringAt(port, "protocol") ?? "TCP", member(port, "port") ?? null])
      ),
    ),
  };
};
