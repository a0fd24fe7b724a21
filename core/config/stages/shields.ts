/** Shields: registered under a safety provider, in server families that have them. */
import type { Spec } from "../../api/v1alpha2.ts";
import type { Shield } from "../../api/server_resources.ts";
import {
  MissingProviderForResource,
  NotSupportedByServer,
  type ProviderSwitchedOff,
  SettingInvalid,
  type UnknownProvider,
} from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { isConditional } from "../servers/base.ts";
import { type Draft, type Facts, noted, withConfig } from "../draft.ts";
import type { ServerFamily } from "../servers/families/family.ts";
import { modelKey } from "./models.ts";
import { type ApiOfList, namedProvider, usualProviders } from "./provider_of_resource.ts";
import type { Stage } from "../stage.ts";

type ShieldFailure =
  | MissingProviderForResource
  | NotSupportedByServer
  | ProviderSwitchedOff
  | SettingInvalid
  | UnknownProvider;

export const registerShields: Stage<ShieldFailure> = (draft, facts) => {
  const shields = shieldsOf(facts.spec);
  const [first] = shields;
  if (first === undefined) return { draft, failures: [] };
  const { family } = facts.server;
  const path = ["spec", "resources", first.list];
  if (!family.shields) {
    const instead = family.insteadOf.safety ?? `remove ${path.join(".")}`;
    return {
      draft,
      failures: [new NotSupportedByServer({ path, what: "shields", server: facts.serverName, instead })],
    };
  }
  const providers = usualProviders(SAFETY, draft, facts).map(({ id, entry, declared }): SafetyProvider => ({
    id,
    type: stringAt(entry, "provider_type") ?? "",
    declared,
  }));
  if (providers.length === 0 && shields.some(({ provider }) => provider === undefined)) {
    return { draft, failures: [new MissingProviderForResource({ path, resource: first.list, field: "safety" })] };
  }
  const placed = shields.map((shield) => place(shield, providers, draft, facts));
  const config = placed.flatMap(({ entry }) => entry === undefined ? [] : [entry])
    .reduce((tree, entry) => register(tree, entry, family), draft.config);
  return {
    draft: noted(withConfig(draft, withDefault(config, first.name, family)), {
      warnings: placed.flatMap(({ warnings }) => warnings),
    }),
    failures: placed.flatMap(({ failures }) => failures),
  };
};

const SAFETY: ApiOfList = { api: "safety", field: "safety" };

/** A shield of the resource, with its place there. */
export interface NamedShield extends Shield {
  readonly list: "shields" | "shieldConfigs";
  readonly path: FieldPath;
}

export const shieldsOf = ({ resources }: Pick<Spec, "resources">): ReadonlyArray<NamedShield> => [
  ...(resources?.shields ?? []).map((name, index): NamedShield => ({
    name,
    list: "shields",
    path: ["spec", "resources", "shields", index],
  })),
  ...(resources?.shieldConfigs ?? []).map((shield, index): NamedShield => ({
    ...shield,
    list: "shieldConfigs",
    path: ["spec", "resources", "shieldConfigs", index],
  })),
];

interface SafetyProvider {
  readonly id: string;
  readonly type: string;
  /** The resource names it; one of the base that serves a single shield is not meant by any other name. */
  readonly declared: boolean;
}

interface Placed {
  readonly entry?: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<MissingProviderForResource | ProviderSwitchedOff | SettingInvalid | UnknownProvider>;
}

/** Types that serve only one shield, with a fixed name; that shield is not assigned to any other provider. */
const NAMED: ReadonlyArray<
  {
    readonly type: string;
    readonly shields: ReadonlyArray<string>;
    /** With any other name the server does not start; the first one is what others mean. */
    readonly targets: readonly [string, ...Array<string>];
  }
> = [
  { type: "inline::prompt-guard", shields: ["prompt-guard", "Prompt-Guard-86M"], targets: ["Prompt-Guard-86M"] },
  {
    type: "inline::code-scanner",
    shields: ["code-scanner", "code-shield"],
    targets: ["code-scanner", "code-shield"],
  },
];

/** The only targets of a type, by the name of the type; undefined: any. */
export const targetsOf = (type: string): ReadonlyArray<string> | undefined =>
  NAMED.find((row) => row.type === type)?.targets;

const place = (
  shield: NamedShield,
  providers: ReadonlyArray<SafetyProvider>,
  draft: Draft,
  facts: Facts,
): Placed => {
  const { name, path, list, provider: wanted } = shield;
  if (wanted !== undefined) {
    const { found, warnings, failures } = namedProvider(
      { ...SAFETY, id: wanted, path: [...path, "provider"] },
      draft,
      facts,
    );
    if (found === undefined) return { warnings, failures };
    const placed = targeted(shield, wanted, stringAt(found, "provider_type") ?? "", draft.config, facts.server.family);
    return { ...placed, warnings: [...warnings, ...placed.warnings] };
  }
  const special = NAMED.find(({ shields }) => shields.includes(name));
  const general = providers.filter(({ type }) => !NAMED.some((row) => row.type === type));
  const provider = special === undefined
    ? general[0] ?? providers.find(({ declared }) => declared)
    : providers.find(({ type }) => type === special.type) ?? general[0];
  if (provider === undefined) {
    const types = special === undefined ? ["inline::llama-guard"] : [special.type];
    return {
      warnings: [],
      failures: [
        new MissingProviderForResource({ path, resource: list, field: "safety", entry: { name, types } }),
      ],
    };
  }
  return targeted(shield, provider.id, provider.type, draft.config, facts.server.family);
};

const LLAMA_GUARD = "inline::llama-guard";

const targeted = (
  { name, path, providerShieldId, params }: NamedShield,
  provider: string,
  type: string,
  config: JsonObject,
  family: ServerFamily,
): Placed => {
  const fixed = targetsOf(type);
  if (fixed !== undefined && providerShieldId !== undefined && !fixed.includes(providerShieldId)) {
    const detail = `provider type "${type}" serves only ${fixed.join(" and ")}`;
    return { warnings: [], failures: [new SettingInvalid({ path: [...path, "providerShieldId"], detail })] };
  }
  const model = type === LLAMA_GUARD ? guardModel(name, providerShieldId, config, family) : undefined;
  const isUnrouted = type === LLAMA_GUARD && model === undefined;
  const target = model ?? providerShieldId ?? fixed?.[0] ?? name;
  return {
    entry: {
      shield_id: name,
      provider_id: provider,
      provider_shield_id: target,
      ...(params === undefined ? {} : { params: params as JsonObject }),
    },
    warnings: !isUnrouted ? [] : [
      warning(
        "UnroutedShield",
        path,
        `no registered model is named "${target}"${
          providerShieldId === undefined ? ', and no single model has "guard" in its name' : ""
        }: ` +
          `the shield calls a model "${target}", which must exist; register it under spec.resources.models`,
      ),
    ],
    failures: [],
  };
};

/** What llama-guard calls: the routed id `<provider>/<model>` of the registered model that the shield means. */
const guardModel = (
  name: string,
  wanted: string | undefined,
  config: JsonObject,
  family: ServerFamily,
): string | undefined => {
  const models = listAt(config, ...family.resourcesAt, "models").filter(isObject)
    .filter((model) => !(stringAt(model, "model_id") ?? "").includes("${env."));
  const exact = models.find((model) =>
    [stringAt(model, "model_id"), stringAt(model, "provider_model_id"), modelKey(model, family)].includes(
      wanted ?? name,
    )
  );
  const guards = wanted === undefined ? models.filter((model) => /guard/i.test(modelKey(model, family))) : [];
  const found = exact ?? (guards.length === 1 ? guards[0] : undefined);
  return found === undefined ? undefined : modelKey(found, family);
};

const register = (config: JsonObject, entry: JsonObject, { resourcesAt }: ServerFamily): JsonObject => {
  const registered = listAt(config, ...resourcesAt, "shields").filter(isObject);
  return put(
    config,
    [...resourcesAt, "shields"],
    upsert(registered, entry, (other) => bareId(other) === bareId(entry)),
  );
};

const bareId = (entry: JsonObject): string =>
  (stringAt(entry, "shield_id") ?? "").replace(/^\$\{env\.[A-Z0-9_]+:[+=](.*)\}$/, "$1");

/** As soon as one shield is registered, the server insists that its default is one of those that are on. */
const withDefault = (config: JsonObject, first: string, { resourcesAt }: ServerFamily): JsonObject => {
  const current = stringAt(config, "safety", "default_shield_id");
  const on = listAt(config, ...resourcesAt, "shields").filter((entry) => !isConditional(entry))
    .map((entry) => stringAt(entry, "shield_id"));
  return current === undefined || on.includes(current) ? config : put(config, ["safety", "default_shield_id"], first);
};
