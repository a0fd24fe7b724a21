/** Storage backends besides those of `storage.kv` and `storage.sql`, to which settings of providers refer by name. */
import {
  ForbiddenSetting,
  NotSupportedByServer,
  RuleBroken,
  SecretValueUnusable,
  SettingInvalid,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { type JsonObject, objectAt, put, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { Backend } from "../../api/v1alpha2.ts";
import { type Draft, type EnvEntry, type Facts, noted, withConfig } from "../draft.ts";
import {
  expandedSettings,
  expandedText,
  knownEnvironment,
  knownValues,
  type ValueOf,
  variablesIn,
} from "../known_environment.ts";
import { absentFields, type CatalogueModel } from "../servers/catalogue.ts";
import { ruleMisfits } from "../servers/class_misfits.ts";
import { backendOf } from "../servers/families/stores_in_backends.ts";
import { secretOf } from "./expanded_texts.ts";
import { isWord, NO_PORT, unfitBackendTexts } from "./backend_findings.ts";
import { brokenRules } from "./provider_rules.ts";
import { brokenBySecrets } from "./secret_rules.ts";
import { type Places, settingFindings, strayFindings } from "./provider_settings.ts";
import { envName, placeholder, secretEntry } from "./secrets.ts";
import { redisInLog } from "./storage.ts";
import type { Stage } from "../stage.ts";

type BackendFailure = ForbiddenSetting | NotSupportedByServer | RuleBroken | SecretValueUnusable | SettingInvalid;

export const addBackends: Stage<BackendFailure> = (draft, facts) => {
  const made = (facts.spec.storage?.backends ?? []).map((backend, index) =>
    ofBackend(backend, ["spec", "storage", "backends", index], draft, facts)
  );
  const config = made.reduce(
    (tree, { name, value }) => value === undefined ? tree : put(tree, ["storage", "backends", name], value),
    draft.config,
  );
  return {
    draft: made.reduce(noted, withConfig(draft, config)),
    failures: made.flatMap(({ failures }) => failures),
  };
};

interface Made {
  readonly name: string;
  readonly value: JsonObject | undefined;
  readonly env: ReadonlyArray<EnvEntry>;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<BackendFailure>;
}

const ofBackend = (backend: Backend, path: FieldPath, draft: Draft, facts: Facts): Made => {
  const { name, type, secretRefs = {} } = backend;
  const { catalogue } = facts.server;
  const without = { name, value: undefined, env: [], warnings: [] };
  const known = catalogue.backends[type];
  if (known === undefined) {
    const [what, instead] = ["storage backends", "remove it, or use Llama Stack 0.3 or newer"];
    return { ...without, failures: [new NotSupportedByServer({ path, what, server: facts.serverName, instead })] };
  }
  const clash = nameClash(backend, draft, facts);
  if (clash !== undefined) {
    return { ...without, failures: [new RuleBroken({ path: [...path, "name"], detail: clash })] };
  }
  const settings = (backend.settings ?? {}) as JsonObject;
  const whose = `backend type "${type}"`;
  const places: Places = {
    of: (key) => [...path, Object.hasOwn(secretRefs, key) ? "secretRefs" : "settings", key],
    secret: (key) => `use secretRefs.${key}`,
    instead: () => undefined,
    isReference: (key) => Object.hasOwn(secretRefs, key),
  };
  const env = Object.entries(secretRefs).map(([field, ref]) => ({
    field,
    entry: secretEntry(envName(`storage_${name}`, field), ref, [...path, "secretRefs", field]),
  }));
  const given: JsonObject = {
    ...(type.endsWith("_sqlite") ? { db_path: fileOf(name, facts) } : {}),
    ...settings,
    ...Object.fromEntries(env.map(({ field, entry }) => [field, placeholder(entry.env.name)])),
  };
  const asked = { api: "storage", type };
  const checked = settingFindings(settings, asked, known, places, facts, whose);
  const stray = strayFindings(given, type, known, places, whose);
  const withOwn: Draft = { ...draft, env: [...draft.env, ...env.map(({ entry }) => entry)] };
  const environment = knownEnvironment(facts, withOwn.env);
  const written = knownValues(environment, facts);
  const secret = (variable: string) => secretOf(variable, withOwn, facts);
  const valueOf = (variable: string) => written(variable) ?? secret(variable)?.value;
  const ofSecret = (field: string, variable: string, expected: string) => {
    const found = secret(variable);
    const detail = `field ${field} of backend "${name}": ${expected}`;
    return new SecretValueUnusable({ path: found?.path ?? path, key: found?.key ?? "", detail });
  };
  const unfit = unfitBackendTexts({ type, ...given }, [], facts, valueOf);
  const expanded = unfit.map(({ path: place, message: expected, text }) => {
    const [variable] = variablesIn(text).filter((name) => secret(name)?.value !== undefined);
    return variable === undefined
      ? new SettingInvalid({ path: [...path, "settings", ...place], detail: expected })
      : ofSecret(place.join("."), variable, expected);
  });
  const input = { environment, version: facts.server.version };
  const rules = [
    ...brokenRules("storage", type, { ...input, config: expandedSettings(given, written) }, [...path, "settings"]),
    ...brokenBySecrets({ api: "storage", type, settings: given }, written, (name) => secret(name)?.value, input)
      .map(({ field, variable, detail }) => ofSecret(field.join("."), variable, detail)),
  ];
  // A host from a variable may have the account in front of it.
  const isHidden = env.length > 0 || typeof settings.host === "string" && settings.host.includes("${env.");
  const place = env.length > 0 ? "secretRefs" : "settings";
  const quiet = type === "kv_redis" && isHidden ? redisInLog(facts, [...path, place]) : undefined;
  return {
    name,
    value: { type, ...given },
    env: [...env.map(({ entry }) => entry), ...(quiet?.env ?? [])],
    warnings: [
      ...checked.warnings,
      ...stray.warnings,
      ...(quiet?.warnings ?? []),
      ...borrowedPassword(type, given, path, facts),
    ],
    failures: [
      ...checked.failures,
      ...stray.failures,
      ...expanded,
      ...missing(backend, given, known, places, (name) => valueOf(name) ?? (secret(name) && OF_SECRET)),
      ...unfitPort(settings, path),
      ...rules,
      ...Object.keys(secretRefs).filter((field) => Object.hasOwn(settings, field)).map((field) =>
        new RuleBroken({ path: [...path, "settings", field], detail: "also in secretRefs; remove one of the two" })
      ),
    ],
  };
};

const fileOf = (name: string, { folders }: Facts): string => `\${env.SQLITE_STORE_DIR:=${folders.state}}/${name}.db`;

/** The kind of a backend, as its type begins. */
const kindOf = (type: string): string => type.slice(0, type.indexOf("_"));

/** A backend of the base config may be replaced by one of its kind: the stores of the server refer to it. */
const nameClash = ({ name, type }: Backend, { config }: Draft, { spec }: Facts): string | undefined => {
  const before = stringAt(objectAt(config, "storage", "backends")[name], "type");
  if (before === undefined) return undefined;
  const placed = (["kv", "sql"] as const).find((kind) =>
    spec.storage?.[kind] !== undefined && backendOf(config, kind) === name
  );
  if (placed !== undefined) return `storage.${placed} configures the backend ${quoted(name)}; choose another name`;
  return kindOf(before) === kindOf(type)
    ? undefined
    : `${quoted(name)} replaces a backend of type ${before}, to which stores refer; choose another name`;
};

/** Fields that the class of the backend requires, and its conditions between fields. */
const missing = (
  { type }: Backend,
  given: JsonObject,
  known: CatalogueModel,
  places: Places,
  valueOf: ValueOf,
): ReadonlyArray<SettingInvalid> =>
  [
    ...absentFields(known.fields, given)
      .map((name) => ({ path: [name], message: `required by backend type "${type}"; set it` })),
    ...ruleMisfits(known, given, [], (text) => expandedText(text, valueOf)),
  ].map(({ path: [name], message }) => new SettingInvalid({ path: places.of(String(name)), detail: message }));

/** In place of the value of a Secret that is not known. */
const OF_SECRET = "x";

/** The class takes a number or a text, of which the catalogue knows nothing. */
const unfitPort = ({ port = 0 }: JsonObject, path: FieldPath): ReadonlyArray<SettingInvalid> =>
  typeof port === "number" || typeof port === "string" && !isWord(port)
    ? []
    : [new SettingInvalid({ path: [...path, "settings", "port"], detail: NO_PORT })];

const isGiven = (given: JsonObject, field: string): boolean => ![undefined, null, ""].includes(given[field] as null);

/** PGPASSWORD holds for the whole process: without a password of its own, a backend would send that of storage.sql. */
const borrowedPassword = (
  type: string,
  given: JsonObject,
  path: FieldPath,
  { spec }: Facts,
): ReadonlyArray<Warning> =>
  type.endsWith("_postgres") && spec.storage?.sql?.type === "postgres" &&
    !isGiven(given, "password") && !isGiven(given, "connection_string")
    ? [
      warning(
        "FieldNotRead",
        [...path, "secretRefs", "password"],
        "not set, so that the backend would use the password of storage.sql; set it",
      ),
    ]
    : [];
