/** Shields: registered under a safety provider, in server families that have them. */
import { MissingProviderForResource, NotSupportedByServer } from "../../failure/failures.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { isObject, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { baseId, isConditional } from "../servers/base.ts";
import { type Draft, entriesOf, type Facts, noted, withConfig } from "../draft.ts";
import type { ServerFamily } from "../servers/families/family.ts";
import { modelKey } from "./models.ts";
import { type Stage, stage, type Staged } from "../stage.ts";

export const registerShields: Stage<MissingProviderForResource | NotSupportedByServer> = stage(
  (draft, facts): Staged<MissingProviderForResource | NotSupportedByServer> => {
    const shields = facts.spec.resources?.shields ?? [];
    if (shields.length === 0) return { draft, failures: [] };
    const path: FieldPath = ["spec", "resources", "shields"];
    const { family } = facts.server;
    if (!family.shields) {
      const instead = family.insteadOf.safety ?? "remove spec.resources.shields";
      return {
        draft,
        failures: [new NotSupportedByServer({ path, what: "shields", server: facts.serverName, instead })],
      };
    }
    const providers = safetyProviders(draft, facts);
    if (providers.length === 0) {
      return { draft, failures: [new MissingProviderForResource({ path, resource: "shields", field: "safety" })] };
    }
    const placed = shields.map((name, index) => place(name, [...path, index], providers, draft.config, family));
    const config = placed.flatMap(({ entry }) => entry === undefined ? [] : [entry])
      .reduce((tree, entry) => register(tree, entry, family), draft.config);
    return {
      draft: noted(withConfig(draft, withDefault(config, shields[0] ?? "", family)), {
        warnings: placed.flatMap(({ warnings }) => warnings),
      }),
      failures: placed.flatMap(({ failures }) => failures),
    };
  },
);

interface SafetyProvider {
  readonly id: string;
  readonly type: string;
  /** The resource names it; one of the base that serves a single shield is not meant by any other name. */
  readonly declared: boolean;
}

/** Declared ones first, then those of the base that are on without conditions. */
const safetyProviders = (draft: Draft, facts: Facts): ReadonlyArray<SafetyProvider> => {
  const written = [
    ...(facts.spec.providers?.safety ?? []).map(({ id, provider }) => id ?? provider.split("::").at(-1) ?? ""),
    ...draft.external.filter(({ api }) => api === "safety").map(({ id }) => id),
  ];
  const all = entriesOf(draft.config, "safety").filter((entry) => !isConditional(entry))
    .map((entry) => {
      const id = baseId(entry) ?? "";
      return { id, type: stringAt(entry, "provider_type") ?? "", declared: written.includes(id) };
    });
  return [...all.filter(({ declared }) => declared), ...all.filter(({ declared }) => !declared)];
};

interface Placed {
  readonly entry?: JsonObject;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<MissingProviderForResource>;
}

/** Types that serve only one shield, with a fixed name; that shield is not assigned to any other provider. */
const NAMED: ReadonlyArray<
  { readonly type: string; readonly shields: ReadonlyArray<string>; readonly target: string }
> = [
  { type: "inline::prompt-guard", shields: ["prompt-guard", "Prompt-Guard-86M"], target: "Prompt-Guard-86M" },
  { type: "inline::code-scanner", shields: ["code-scanner", "code-shield"], target: "code-scanner" },
];

const place = (
  name: string,
  path: FieldPath,
  providers: ReadonlyArray<SafetyProvider>,
  config: JsonObject,
  family: ServerFamily,
): Placed => {
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
        new MissingProviderForResource({ path, resource: "shields", field: "safety", entry: { name, types } }),
      ],
    };
  }
  const fixed = NAMED.find(({ type }) => type === provider.type)?.target;
  const target = fixed ?? (provider.type === "inline::llama-guard" ? guardModel(name, config, family) : name);
  const unrouted = provider.type === "inline::llama-guard" && target === undefined
    ? [
      warning(
        "UnroutedShield",
        path,
        `no registered model is named "${name}", and no single model has "guard" in its name: ` +
          `the shield calls a model "${name}", which must exist; register it under spec.resources.models`,
      ),
    ]
    : [];
  return {
    entry: { shield_id: name, provider_id: provider.id, provider_shield_id: target ?? name },
    warnings: unrouted,
    failures: [],
  };
};

/** What llama-guard calls: the routed id `<provider>/<model>` of the registered model that the shield means. */
const guardModel = (name: string, config: JsonObject, family: ServerFamily): string | undefined => {
  const models = listAt(config, ...family.resourcesAt, "models").filter(isObject)
    .filter((model) => !(stringAt(model, "model_id") ?? "").includes("${env."));
  const exact = models.find((model) =>
    [stringAt(model, "model_id"), stringAt(model, "provider_model_id"), modelKey(model, family)].includes(name)
  );
  const guards = models.filter((model) => /guard/i.test(modelKey(model, family)));
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
