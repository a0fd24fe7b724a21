/** Secret references → environment variables with fixed names and placeholders in the config. */
import { PROVIDER_LISTS, type ProviderList } from "../../api/api_names.ts";
import { effectiveId } from "../../api/rules.ts";
import type { SecretKeyRef } from "../../api/secret_key_ref.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import type { Json } from "../../data/json.ts";
import { EnvNameCollision, SettingInvalid } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import type { EnvEntry } from "../draft.ts";
import { externalProviders } from "../external_providers.ts";
import type { KnownProvider } from "./known_provider.ts";
import type { Stage } from "../stage.ts";

/** `LLSD_<ID>_<FIELD>`: upper-case, everything outside [A-Z0-9] becomes `_`, since the server expands no other names. */
export const envName = (id: string, field: string): string => `LLSD_${envPart(id)}_${envPart(field)}`;

/**
 * What stands for a provider in these names: its id, after the name of its API where a provider of an earlier list has that
 * id too.
 */
export const nameOfProvider = ({ providers }: Spec, list: ProviderList, id: string): string => {
  const first = PROVIDER_LISTS.find(({ field }) =>
    field === list || (providers?.[field] ?? []).some((other) => effectiveId(other as unknown as Json) === id)
  );
  const api = PROVIDER_LISTS.find(({ field }) => field === list)?.api;
  return first?.field === list ? id : `${api}_${id}`;
};

/** The form that the server expands; unset or empty stops its start, which is right for a secret. */
export const placeholder = (name: string): string => `\${env.${name}}`;

export const secretEntry = (name: string, ref: SecretKeyRef, path: FieldPath): EnvEntry => ({
  env: { name, valueFrom: { secretKeyRef: { name: ref.secretKeyRef.name, key: ref.secretKeyRef.key } } },
  path,
});

/** A Secret contains text: lists and maps can be written in settings alone. */
export const unfitReferences = (
  { provider, type, known, path }: KnownProvider,
): ReadonlyArray<SettingInvalid> =>
  Object.keys(provider.secretRefs ?? {}).flatMap((name) => {
    const field = Object.hasOwn(known.fields, name) ? known.fields[name] : undefined;
    return field?.converted !== true && (field?.type === "object" || field?.type === "array")
      ? [
        new SettingInvalid({
          path: [...path, "secretRefs", name],
          detail:
            `the field of provider type "${type}" is a ${field.type === "array" ? "list" : "map"}, and a Secret ` +
            `contains text; write it in settings.${name}, with \${env.NAME} for its secret parts`,
        }),
      ]
      : [];
  });

/** After all stages: no environment variable may stand for two fields. */
export const rejectCollisions: Stage<EnvNameCollision> = (draft, { spec }) => {
  const found = envCollisions(draft.env).map((collision) => ({ collision, ids: providerIds(collision.paths, spec) }));
  // Two ids that become one name collide in each of their fields: one mistake, one message.
  const first = (ids: ReadonlyArray<string>) => found.find((other) => other.ids.join("\n") === ids.join("\n"));
  return {
    draft,
    failures: found.filter((item) => item.ids.length < 2 || first(item.ids) === item)
      .map(({ collision, ids }) =>
        ids.length < 2
          ? collision
          : new EnvNameCollision({ name: collision.name, path: collision.path, paths: collision.paths, ids })
      ),
  };
};

/** The ids of the providers to which the fields belong; empty where one belongs to none. */
const providerIds = (paths: ReadonlyArray<string>, spec: Spec): ReadonlyArray<string> => {
  const ids = paths.map((path) => {
    const external = externalProviders(spec).find((other) => path.startsWith(`${formatPath(other.path)}.`));
    if (external !== undefined) return external.provider.providerId;
    const [, list, index] = /^spec\.providers\.([A-Za-z]+)\[([0-9]+)\]/.exec(path) ?? [];
    const provider = PROVIDER_LISTS.find(({ field }) => field === list);
    const entry = provider === undefined ? undefined : spec.providers?.[provider.field]?.[Number(index)];
    return entry === undefined ? undefined : effectiveId(entry as unknown as Json);
  });
  const known = [...new Set(ids.filter((id) => id !== undefined))];
  return ids.every((id) => id !== undefined) ? known : [];
};

/** One failure per name that two fields ask for, with both paths, unless both want the same literal value. */
const envCollisions = (entries: ReadonlyArray<EnvEntry>): ReadonlyArray<EnvNameCollision> =>
  [...Map.groupBy(entries, ({ env }) => env.name)].filter(([, [first, ...others]]) =>
    others.some(({ env }) => env.value === undefined || env.value !== first?.env.value)
  ).map(([name, all]) =>
    new EnvNameCollision({
      name,
      path: all[1]?.path ?? [],
      paths: [...new Set(all.map(({ path }) => formatPath(path)))],
    })
  );

const envPart = (part: string): string => part.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
