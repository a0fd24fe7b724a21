/** Two providers with the same path in the pod, of which one finds what the other made there: most servers do not start. */
import type { FieldPath } from "../../data/field_path.ts";
import { normalizedPath } from "../../data/file_path.ts";
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { RuleBroken } from "../../failure/failures.ts";
import { entriesOf } from "../draft.ts";
import { knownEnvironment, knownValues, type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { baseId } from "../servers/base.ts";
import type { Stage } from "../stage.ts";
import type { EntryFinding } from "./entry_findings.ts";

/**
 * What types have at the path in a field of theirs, by `<type> <field>`. The client of Qdrant locks its folder. Source: seen on 1.5.0,
 * read in qdrant_client/local/async_qdrant_local.py.
 */
const KINDS: Readonly<Record<string, "file" | "folder" | "locked folder">> = {
  "inline::localfs storage_dir": "folder",
  "inline::milvus db_path": "file",
  "inline::qdrant path": "locked folder",
  "inline::sqlite-vec db_path": "file",
  "inline::sqlite_vec db_path": "file",
};

interface Placed {
  readonly id: string;
  readonly api: string;
  readonly field: string;
  readonly kind: "file" | "folder" | "locked folder";
  /** As it is in the pod, as far as that is known. */
  readonly place: string;
  /** In the config. */
  readonly path: FieldPath;
}

/** Providers with a path that another one before them has and that they cannot share. */
const sharedPaths = (
  config: JsonObject,
  known: KnownVariables,
): ReadonlyArray<Placed & { readonly other: Placed }> => {
  const placed = Object.keys(objectAt(config, "providers")).flatMap((api) => placedIn(config, api, known));
  return placed.flatMap((one, index) => {
    const other = placed.slice(0, index).find((before) =>
      before.place === one.place &&
      (one.kind === "locked folder" && before.kind === one.kind || (one.kind === "file") !== (before.kind === "file"))
    );
    return other === undefined ? [] : [{ ...one, other }];
  });
};

const sharedWith = ({ id }: Placed): string =>
  `provider ${quoted(id)} has the same path, which the two cannot share; use another one`;

const placedIn = (config: JsonObject, api: string, { environment, valueOf }: KnownVariables): ReadonlyArray<Placed> =>
  entriesOf(config, api).flatMap((entry, index) => {
    if (stateOf(entry, environment) !== "On") return [];
    return Object.entries(objectAt(entry, "config")).flatMap(([field, text]): ReadonlyArray<Placed> => {
      const kind = KINDS[`${stringAt(entry, "provider_type")} ${field}`];
      const read = kind === undefined ? undefined : readValue(text, valueOf);
      return kind === undefined || typeof read !== "string" || read === ":memory:" ? [] : [{
        id: baseId(entry) ?? "",
        api,
        field,
        kind,
        place: normalizedPath(read.startsWith("/") ? read : `/${read.startsWith("~") ? "" : "<work>/"}${read}`),
        path: ["providers", api, index, "config", field],
      }];
    });
  });

/** Of the entries of a config, whoever wrote it. */
export const sharedPathFindings = (config: JsonObject, known: KnownVariables): ReadonlyArray<EntryFinding> =>
  sharedPaths(config, known).map(({ other, path }) => ({ path, message: sharedWith(other), isFatal: true }));

/** Of the providers of a resource, among each other and beside those of the base config. */
export const rejectSharedPaths: Stage<RuleBroken> = (draft, facts) => {
  if (!draft.declared.some(({ type }) => Object.keys(KINDS).some((of) => of.startsWith(`${type} `)))) {
    return { draft, failures: [] };
  }
  const environment = knownEnvironment(facts, draft.env);
  const known = { environment, valueOf: knownValues(environment, facts) };
  const failures = sharedPaths(draft.config, known).flatMap(({ other, ...one }) =>
    [[one, other] as const, [other, one] as const].flatMap(([{ api, id, field }, sharing]) =>
      draft.declared.filter((provider) => provider.api === api && provider.id === id)
        .map(({ path }) => new RuleBroken({ path: [...path, "settings", field], detail: sharedWith(sharing) }))
    ).slice(0, 1)
  );
  return { draft, failures };
};
