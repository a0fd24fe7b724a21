/** Datasets that the server gives to NVIDIA's service, which reads them from an address. Source: remote/datasetio/nvidia/datasetio.py. */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { entryOf } from "../draft.ts";
import type { KnownVariables } from "../known_environment.ts";
import type { Server } from "../servers/families/families.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { mayBeLeftOut, registeredIn } from "./registering.ts";

export const BY_URI_ALONE = "a provider of type remote::nvidia takes no rows; write uri, or use another provider";

export const isByUriAlone = (config: JsonObject, provider: string): boolean =>
  stringAt(entryOf(config, "datasetio", provider), "provider_type") === "remote::nvidia";

/** The same of the datasets that a config registers, whoever wrote it. */
export const datasetsWithRows = (
  config: JsonObject,
  server: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> =>
  registeredIn(config, server.family, "datasets", known).flatMap(({ resource, path }) =>
    stringAt(objectAt(resource, "source"), "type") === "rows" && !mayBeLeftOut(resource, known) &&
      isByUriAlone(config, stringAt(objectAt(resource, "metadata"), "provider_id") ?? "")
      ? [{ path: [...path, "source"], message: BY_URI_ALONE, isFatal: true }]
      : []
  );
