/** Whom a NetworkPolicy lets in. */
import { isObject, type Json, type JsonObject, listAt, member, stringAt } from "../data/json.ts";

export const ingressRules = (policy: JsonObject): ReadonlyArray<Json> => listAt(policy, "spec", "ingress");

/** By its `spec.ingress`, as the API server has it or as it is written; as text, so that it can be compared. */
export const allowedClients = (
  ingress: Json | undefined,
): { readonly peers: ReadonlyArray<string>; readonly ports: string } => {
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
