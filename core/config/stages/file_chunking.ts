/** How files are cut that vector stores take up: `spec.vectorStores.chunking`. */
import { type JsonObject, put, stringAt } from "../../data/json.ts";
import { SettingInvalid } from "../../failure/failures.ts";
import { warning } from "../../failure/warning.ts";

import { type Draft, entriesOf, type Facts, noted, withConfig, withEntries } from "../draft.ts";
import { baseId } from "../servers/base.ts";
import { providerType } from "../servers/catalogue.ts";
import type { Staged } from "../stage.ts";
import { readField } from "./vector_store_choice.ts";

/** The ratio of the servers' own sizes, 800 and 400: a fixed number could be more than the size. */
export const chunkOverlapDefault = (size: number): number => Math.floor(size / 2);

/** Both in the config of a file processor and in `file_ingestion_params`. */
const CHUNKING_KEYS = ["default_chunk_size_tokens", "default_chunk_overlap_tokens"] as const;

/**
 * File processors cut the files. The section has the same keys, and no server reads them where files are added; they
 * are written nevertheless, so that the config has no other numbers than those that count.
 */
export const withChunking = (draft: Draft, facts: Facts): Staged<SettingInvalid> => {
  const chunking = readField(facts, "chunking");
  if (chunking === undefined) return { draft, failures: [] };
  const { maxChunkSizeTokens: size, chunkOverlapTokens: overlap = chunkOverlapDefault(size) } = chunking;
  const values: Readonly<Record<typeof CHUNKING_KEYS[number], number>> = {
    default_chunk_size_tokens: size,
    default_chunk_overlap_tokens: overlap,
  };
  const path = ["spec", "vectorStores", "chunking"];
  const keysOf = (entry: JsonObject) => {
    const known = providerType(facts.server.catalogue, "file_processors", stringAt(entry, "provider_type") ?? "");
    return CHUNKING_KEYS.filter((key) => Object.hasOwn(known?.fields ?? {}, key));
  };
  const entries = entriesOf(draft.config, "file_processors");
  if (entries.every((entry) => keysOf(entry).length === 0)) {
    return {
      draft,
      failures: [
        new SettingInvalid({
          path,
          detail: "the config has no file processor that cuts files; do not disable file_processors or files in " +
            "spec.disabled, or remove the field and let requests have a chunking_strategy",
        }),
      ],
    };
  }
  const withValues = (
    tree: JsonObject,
    place: ReadonlyArray<string>,
    keys: ReadonlyArray<typeof CHUNKING_KEYS[number]>,
  ) => keys.reduce((made, key) => put(made, [...place, key], values[key]), tree);
  // Both sizes or none: one of each could make an overlap that is longer than a chunk.
  const hasOwnSizes = (entry: JsonObject) =>
    draft.declared.some(({ api, id, config: settings }) =>
      api === "file_processors" && id === baseId(entry) && CHUNKING_KEYS.some((key) => Object.hasOwn(settings, key))
    );
  const apart = entries.filter(hasOwnSizes).flatMap((entry) => baseId(entry) ?? []);
  const config = withEntries(
    withValues(draft.config, ["vector_stores", "file_ingestion_params"], CHUNKING_KEYS),
    "file_processors",
    entries.map((entry) => hasOwnSizes(entry) ? entry : withValues(entry, ["config"], keysOf(entry))),
  );
  return {
    draft: noted(withConfig(draft, config), {
      warnings: [
        ...(apart.length === 0 ? [] : [warning(
          "SettingOverruled",
          path,
          `not used by ${apart.map((id) => `"${id}"`).join(", ")}, whose settings have chunk sizes`,
        )]),
        warning(
          "FieldNotRead",
          path,
          `${facts.serverName} cuts files that are attached one by one into 800 tokens with an overlap of 400, unless the ` +
            "request has a chunking_strategy; files that a store is created with, and those of batches, are cut as set here",
        ),
      ],
    }),
    failures: [],
  };
};
