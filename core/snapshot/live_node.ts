/** Where the nodes and the API servers of the cluster are. */
import { type Json, type JsonObject, listAt, stringAt } from "../data/json.ts";

/** Addresses of a node. Its others are names, which have one of these. */
export const nodeAddresses = (node: JsonObject): ReadonlyArray<string> =>
  listAt(node, "status", "addresses")
    .filter((entry) => ["InternalIP", "ExternalIP"].includes(stringAt(entry, "type") ?? ""))
    .flatMap((entry) => stringAt(entry, "address") ?? []);

/** Addresses in an EndpointSlice; none if there is no such object. */
export const endpointAddresses = (slice: Json): ReadonlyArray<string> =>
  listAt(slice, "endpoints").flatMap((endpoint) => listAt(endpoint, "addresses"))
    .filter((address) => typeof address === "string");
