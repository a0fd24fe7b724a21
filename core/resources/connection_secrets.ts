/** The Secrets `<cr>-sql-<digest>` and `<cr>-kv-<digest>`: connection parts under the names of their variables, owned, rotated with the source. */
import * as Redacted from "effect/Redacted";
import { kvSecretName, sqlSecretName } from "../config/stages/storage.ts";
import type { Blueprint, Manifest } from "./blueprint.ts";
import { metadataOf } from "./metadata.ts";
import { manifest } from "./kubernetes_objects.ts";

/** Which of the two a resource needs. */
export const connectionSecrets = (
  blueprint: Blueprint,
  parts: ConnectionParts,
): ReadonlyArray<Manifest> => {
  const needed = new Set(
    blueprint.env.flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef?.name === undefined ? [] : [valueFrom.secretKeyRef.name]
    ),
  );
  return [
    { name: sqlSecretName(blueprint.name, blueprint.spec), data: parts.sql },
    { name: kvSecretName(blueprint.name, blueprint.spec), data: parts.kv },
  ].filter(({ name }) => needed.has(name)).map(({ name, data }) =>
    manifest<"Secret">({
      apiVersion: "v1",
      kind: "Secret",
      metadata: metadataOf(blueprint, name, { component: "storage-connection" }),
      type: "Opaque",
      // Offline the values are unknown: the Secret is rendered without data. Not stringData: the API server never
      // stores it, so each apply of it would count as a change.
      ...(data === undefined ? {} : { data: encoded(data) }),
    })
  );
};

/** By variable name; undefined where the source Secrets have not been read. */
export interface ConnectionParts {
  readonly sql: Readonly<Record<string, Redacted.Redacted<string>>> | undefined;
  readonly kv: Readonly<Record<string, Redacted.Redacted<string>>> | undefined;
}

export const UNREAD_PARTS: ConnectionParts = { sql: undefined, kv: undefined };

/** What is written into our own Secret. */
const encoded = (values: Readonly<Record<string, Redacted.Redacted<string>>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, new TextEncoder().encode(Redacted.value(value)).toBase64()]),
  );
