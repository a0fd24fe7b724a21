/** Vector stores, datasets, scoring functions and benchmarks that the server registers when it starts: one row for each kind. */
import type { Spec } from "../../api/v1alpha2.ts";
import { MissingProviderForResource, NotSupportedByServer, SettingInvalid } from "../../failure/failures.ts";
import { type FieldPath, formatPath } from "../../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, put, stringAt, upsert } from "../../data/json.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { type Draft, entryOf, type Facts, noted, withConfig } from "../draft.ts";
import { providerType } from "../servers/catalogue.ts";
import { isOlderMinor, serverName } from "../servers/families/families.ts";
import type { Stage, Staged } from "../stage.ts";
import { BY_URI_ALONE, isByUriAlone } from "./datasets_of_nvidia.ts";
import { unfitCollection } from "./collection_names.ts";
import { type ApiOfList, namedProvider, usualProviders } from "./provider_of_resource.ts";
import { isPattern } from "./python_patterns.ts";
import { builtInFunctions, FUNCTIONS_SINCE, TYPES_TAKING_FUNCTIONS, unknownParts } from "./scoring_functions.ts";
import { type ChoiceFailure, registeredEmbedding } from "./vector_store_choice.ts";

type RegistryFailure = ChoiceFailure | MissingProviderForResource;

type List = "vectorStores" | "datasets" | "scoringFunctions" | "benchmarks";
type Item<Name extends List> = NonNullable<NonNullable<Spec["resources"]>[Name]>[number];

interface Kind<Name extends List> extends ApiOfList {
  /** The list of `spec.resources`. */
  readonly list: Name;
  /** The list of the config, and the field that identifies its entries. */
  readonly section: string;
  readonly key: string;
  /** The first and the last minor version that registers them. Source: RESOURCES in core/stack.py. */
  readonly since: string;
  readonly until: string | undefined;
  /** The id of the provider that the server takes unless the resource names one. */
  readonly usual?: (item: Item<Name>) => string;
  /** Built-in types that register such resources; unset: all do. */
  readonly types?: ReadonlyArray<string>;
  readonly entryOf: (item: Item<Name>, provider: string, path: FieldPath, draft: Draft, facts: Facts) => Written;
}

interface Written {
  /** Beside the id. */
  readonly entry?: JsonObject;
  readonly warnings?: ReadonlyArray<Warning>;
  readonly failures?: ReadonlyArray<RegistryFailure>;
}

const STORES: Kind<"vectorStores"> = {
  list: "vectorStores",
  section: "vector_stores",
  key: "vector_store_id",
  api: "vector_io",
  field: "vectorIo",
  since: "0.4",
  until: undefined,
  entryOf: ({ embeddingModel, displayName, providerVectorStoreId, name }, provider, path, draft, facts) => {
    const model = registeredEmbedding(embeddingModel, [...path, "embeddingModel"], draft, facts);
    const type = stringAt(entryOf(draft.config, "vector_io", provider), "provider_type") ?? "";
    const detail = unfitCollection(type, name);
    const unfit = detail === undefined ? [] : [new SettingInvalid({ path: [...path, "name"], detail })];
    return {
      ...(model.found === undefined ? {} : {
        entry: {
          provider_id: provider,
          provider_vector_store_id: providerVectorStoreId ?? name,
          embedding_model: model.found.id,
          embedding_dimension: model.found.dimension,
          ...(displayName === undefined ? {} : { vector_store_name: displayName }),
        },
      }),
      warnings: model.warnings,
      failures: [...model.failures, ...unfit],
    };
  },
};

/** The server reads the provider of a dataset there. Source: register_dataset in core/routing_tables/datasets.py. */
const PROVIDER = "provider_id";
const TRAINING = "post-training/messages";

const DATASETS: Kind<"datasets"> = {
  list: "datasets",
  section: "datasets",
  key: "dataset_id",
  api: "datasetio",
  field: "datasetIo",
  since: "0.2",
  until: "0.7",
  usual: ({ uri }) => uri?.startsWith("huggingface") === true ? "huggingface" : "localfs",
  entryOf: ({ purpose, uri, rows, provider, metadata }, id, path, { config }, { server, serverName: name }) => {
    if (Object.hasOwn(metadata ?? {}, PROVIDER)) {
      const detail = `write it as ${formatPath([...path, "provider"])}`;
      return { failures: [new SettingInvalid({ path: [...path, "metadata", PROVIDER], detail })] };
    }
    if (purpose === TRAINING && !isOlderMinor(server.version, "0.7")) {
      const instead = `choose another one, or use ${serverName("0.6")} or older`;
      const what = `datasets for ${TRAINING}`;
      return { failures: [new NotSupportedByServer({ path: [...path, "purpose"], what, server: name, instead })] };
    }
    if (uri === undefined && isByUriAlone(config, id)) {
      return { failures: [new SettingInvalid({ path: [...path, "rows"], detail: BY_URI_ALONE })] };
    }
    const all = { ...metadata as JsonObject | undefined, ...(provider === undefined ? {} : { [PROVIDER]: provider }) };
    return {
      entry: {
        purpose,
        source: uri === undefined ? { type: "rows", rows: rows as unknown as Json } : { type: "uri", uri },
        ...(Object.keys(all).length === 0 ? {} : { metadata: all }),
      },
    };
  },
};

const FUNCTIONS: Kind<"scoringFunctions"> = {
  list: "scoringFunctions",
  section: "scoring_fns",
  key: "scoring_fn_id",
  api: "scoring",
  field: "scoring",
  since: FUNCTIONS_SINCE,
  until: "0.7",
  types: TYPES_TAKING_FUNCTIONS,
  entryOf: ({ name, description, returnType, judge, metadata }, provider, path, draft) => ({
    failures: builtInFunctions(draft.config).includes(name)
      ? [
        new SettingInvalid({ path: [...path, "name"], detail: "a provider has a function of this name; change it" }),
      ]
      : [],
    warnings: (judge?.scoreRegexes ?? []).flatMap((pattern, index) =>
      isPattern(pattern) ? [] : [
        warning(
          "PatternInvalid",
          [...path, "judge", "scoreRegexes", index],
          "this does not look like a regular expression of Python, and with an invalid one every request to score fails",
        ),
      ]
    ),
    entry: {
      provider_id: provider,
      // The request with which the server registers it needs one.
      description: description ?? name,
      return_type: { type: returnType ?? "string" },
      ...(judge === undefined ? {} : {
        params: {
          type: "llm_as_judge",
          judge_model: judge.model,
          ...(judge.promptTemplate === undefined ? {} : { prompt_template: judge.promptTemplate }),
          ...(judge.scoreRegexes === undefined ? {} : { judge_score_regexes: judge.scoreRegexes }),
          ...(judge.aggregations === undefined ? {} : { aggregation_functions: judge.aggregations }),
        },
      }),
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    },
  }),
};

const BENCHMARKS: Kind<"benchmarks"> = {
  list: "benchmarks",
  section: "benchmarks",
  key: "benchmark_id",
  api: "eval",
  field: "eval",
  since: "0.2",
  until: "0.7",
  entryOf: ({ dataset, scoringFunctions, metadata }, provider, path, draft, facts) => ({
    warnings: unknownParts({ dataset, scoringFunctions }, path, draft, facts),
    entry: {
      provider_id: provider,
      dataset_id: dataset,
      scoring_functions: scoringFunctions,
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    },
  }),
};

export const registerOthers: Stage<RegistryFailure> = (draft, facts) =>
  [
    (before: Draft) => registered(STORES, before, facts),
    (before: Draft) => registered(DATASETS, before, facts),
    (before: Draft) => registered(FUNCTIONS, before, facts),
    (before: Draft) => registered(BENCHMARKS, before, facts),
  ].reduce<Staged<RegistryFailure>>((before, next) => {
    const after = next(before.draft);
    return { draft: after.draft, failures: [...before.failures, ...after.failures] };
  }, { draft, failures: [] });

const registered = <Name extends List>(kind: Kind<Name>, draft: Draft, facts: Facts): Staged<RegistryFailure> => {
  const items = (facts.spec.resources?.[kind.list] ?? []) as ReadonlyArray<Item<Name>>;
  if (items.length === 0) return { draft, failures: [] };
  const path: FieldPath = ["spec", "resources", kind.list];
  const unsupported = unsupportedKind(kind, path, facts);
  if (unsupported !== undefined) return { draft, failures: [unsupported] };
  const place = [...facts.server.family.resourcesAt, kind.section];
  return items.reduce<Staged<RegistryFailure>>((before, item, index) => {
    const here = [...path, index];
    const provider = providerFor(kind, item, here, before.draft, facts);
    const { entry, warnings = [], failures = [] } = provider.id === undefined
      ? {}
      : kind.entryOf(item, provider.id, here, before.draft, facts);
    const { config } = before.draft;
    const entries = listAt(config, ...place).filter(isObject);
    const isThis = (other: JsonObject) => stringAt(other, kind.key) === item.name;
    const after = entry === undefined
      ? config
      : put(config, place, upsert(entries, { [kind.key]: item.name, ...entry }, isThis));
    return {
      draft: noted(withConfig(before.draft, after), { warnings: [...provider.warnings, ...warnings] }),
      failures: [...before.failures, ...provider.failures, ...failures],
    };
  }, { draft, failures: [] });
};

const unsupportedKind = <Name extends List>(
  { list, since, until, section }: Kind<Name>,
  path: FieldPath,
  { server: { version }, serverName: server }: Facts,
): NotSupportedByServer | undefined => {
  const tooOld = isOlderMinor(version, since);
  if (!tooOld && (until === undefined || !isOlderMinor(until, version))) return undefined;
  const other = tooOld ? `${serverName(since)} or newer` : `${serverName(until ?? since)} or older`;
  return new NotSupportedByServer({
    path,
    what: section.replaceAll("_", " ").replace("fns", "functions"),
    server,
    instead: `remove spec.resources.${list}, or use ${other}`,
  });
};

interface Provided {
  readonly id?: string;
  readonly warnings: ReadonlyArray<Warning>;
  readonly failures: ReadonlyArray<RegistryFailure>;
}

const providerFor = <Name extends List>(
  kind: Kind<Name>,
  item: Item<Name>,
  path: FieldPath,
  draft: Draft,
  facts: Facts,
): Provided => {
  const { types, list, field } = kind;
  const isAble = (entry: JsonObject): boolean => {
    const type = stringAt(entry, "provider_type") ?? "";
    return types === undefined || types.includes(type) ||
      providerType(facts.server.catalogue, kind.api, type) === undefined;
  };
  const wanted = item.provider ?? kind.usual?.(item);
  if (wanted !== undefined) {
    const place = [...path, "provider"];
    const { found, warnings, failures } = namedProvider({ ...kind, id: wanted, path: place }, draft, facts);
    if (found === undefined) return { warnings, failures };
    if (isAble(found)) return { id: wanted, warnings, failures };
    const detail = `provider type "${stringAt(found, "provider_type")}" registers none; use one of type ${
      types?.join(" or ")
    }`;
    return { warnings, failures: [new SettingInvalid({ path: place, detail })] };
  }
  const [first] = usualProviders(kind, draft, facts).filter(({ entry }) => isAble(entry));
  if (first !== undefined) return { id: first.id, warnings: [], failures: [] };
  const entry = types === undefined ? {} : { entry: { name: item.name, types } };
  return { warnings: [], failures: [new MissingProviderForResource({ path, resource: list, field, ...entry })] };
};
