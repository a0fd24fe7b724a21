/** Secret references → environment variables with fixed names and placeholders in the config. */
import type { SecretKeyRef } from "../../api/v1alpha2.ts";
import { EnvNameCollision } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import type { EnvEntry } from "../draft.ts";
import { type Stage, stage } from "../stage.ts";

/** `LLSD_<ID>_<FIELD>`: upper-case, everything outside [A-Z0-9] becomes `_`, since the server expands no other names. */
export const envName = (id: string, field: string): string => `LLSD_${envPart(id)}_${envPart(field)}`;

/** The form that the server expands; unset or empty stops its start, which is right for a secret. */
export const placeholder = (name: string): string => `\${env.${name}}`;

export const secretEntry = (name: string, ref: SecretKeyRef, path: FieldPath): EnvEntry => ({
  env: { name, valueFrom: { secretKeyRef: { name: ref.secretKeyRef.name, key: ref.secretKeyRef.key } } },
  path,
});

/** After all stages: two fields must not share an environment variable. */
export const refuseCollisions: Stage<EnvNameCollision> = stage((draft) => ({
  draft,
  failures: envCollisions(draft.env),
}));

/** One failure per name that two fields ask for, with both paths. */
export const envCollisions = (entries: ReadonlyArray<EnvEntry>): ReadonlyArray<EnvNameCollision> => {
  const byName = new Map<string, Array<FieldPath>>();
  for (const { env, path } of entries) byName.set(env.name, [...(byName.get(env.name) ?? []), path]);
  return [...byName].filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) =>
      new EnvNameCollision({ name, path: paths[1] ?? [], paths: [...new Set(paths.map(formatPath))] })
    );
};

const envPart = (part: string): string => part.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
