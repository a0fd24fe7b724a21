/** From a config to a resource with its proof: for each candidate server, of which the one with the best proof is taken. */
import * as Result from "effect/Result";
import { API_VERSION, KIND } from "../api/v1alpha2.ts";
import type { Surroundings } from "../config/derive.ts";
import { baseId, conditionOf } from "../config/servers/base.ts";
import { MOUNT_DEFAULT } from "../config/data_folders.ts";
import { entriesOf } from "../config/draft.ts";
import { neededVariables, variablesIn } from "../config/known_environment.ts";
import { providerType } from "../config/servers/catalogue.ts";
import { apiOn, type Server } from "../config/servers/families/families.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import { corrected, withRequiredApis } from "./corrections.ts";
import { faultsOf } from "./faults.ts";
import { express, isInside, OF_OPERATOR } from "./express.ts";
import { idIn, type Read } from "./entries.ts";
import { meaningOf } from "./meaning.ts";
import { type Proof, prove } from "./proof.ts";
import { keepingAll } from "./whole.ts";
import { shapeFaults } from "./shape.ts";
import { type Asked, type Candidate, candidatesFor, USUAL } from "./server.ts";
import { SECRET_NAME, settledText, valueIn, type ValueOf, type Variable, type Variables } from "./variables.ts";
import { isSecretHeader, type Withheld, withoutSecretValues } from "./withheld.ts";

/** A config and what is known around it. */
export interface Source {
  readonly tree: JsonObject;
  readonly variables: Variables;
  /** Whether every other variable is not set. */
  readonly isComplete: boolean;
  /** What the result has beside the config: metadata, and parts of the spec. */
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  /** Keys of the Secret to create that the spec names already. */
  readonly secrets?: ReadonlyArray<string>;
}

export interface ImportOptions extends Asked {
  readonly keepData: boolean;
}

export interface Imported extends Proof {
  readonly candidate: Candidate;
  readonly rivals: ReadonlyArray<string>;
  /** A resource that keeps the whole config. */
  readonly whole: JsonObject;
  /** Keys of the Secret to create, as far as a resource names them. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Variables that a resource may have with a value in place of one that nobody knows here. */
  readonly toFillIn: ReadonlyArray<string>;
  /** Whether the certificate of the config goes into a Secret that is to be created. */
  readonly hasNewCertificate: boolean;
  /** Variables whose defaults are written out. */
  readonly defaulted: ReadonlyArray<string>;
  readonly dead: ReadonlyArray<string>;
  readonly off: ReadonlyArray<string>;
  readonly corrections: ReadonlyArray<string>;
  readonly faults: ReadonlyArray<string>;
  /** Parts that could not be read, and so not be compared. */
  readonly misshapen: ReadonlyArray<string>;
  /** Without secret values. */
  readonly tree: JsonObject;
}

interface Tried extends Omit<Imported, "whole"> {
  /** Variables that the config reads. */
  readonly ownEnv: ReadonlyArray<Json>;
  readonly own: Read;
}

export const importConfig = (
  source: Source,
  options: ImportOptions,
  surroundings: Surroundings,
): Result.Result<Imported, ReadonlyArray<string>> => {
  const { tried, rivals } = candidatesFor(source.tree, surroundings.distributions, options);
  if (tried.length === 0) return Result.fail([noServer(options, surroundings)]);
  const results = tried.map((candidate) => withCandidate(source, candidate, options, surroundings));
  const proofs = results.filter(Result.isSuccess).map(({ success }) => success);
  const best = proofs.reduce<Tried | undefined>(
    (before, next) => before === undefined || costOf(next, source.tree) < costOf(before, source.tree) ? next : before,
    undefined,
  );
  if (best !== undefined) {
    const { ownEnv, own, ...imported } = best;
    return Result.succeed({
      ...imported,
      whole: keepingAll(
        best,
        [...listAt(source.spec, "workload", "overrides", "env"), ...ownEnv],
        source.tree,
        own,
        surroundings,
      ),
      rivals: rivals.filter((rival) => rival !== best.candidate.server.catalogue.server),
    });
  }
  return Result.fail(results.flatMap((result) => Result.isFailure(result) ? result.failure : []).slice(0, 1));
};

const noServer = ({ distribution, serverVersion }: Asked, { distributions }: Surroundings): string =>
  distribution !== undefined && !distributions.has(distribution)
    ? `the operator has no distribution ${distribution}; --distribution chooses one of ${
      [...distributions.keys()].join(", ")
    }`
    : `the operator has no ${distribution === undefined ? "distribution" : `release of ${distribution}`} on server ${
      serverVersion ?? "versions that import knows"
    }; --server-version and --distribution choose others`;

/** Authentication and differences first, then the name that the config has itself; of several servers the first. */
const costOf = ({ differences, losesAuth, candidate }: Tried, tree: JsonObject): number => {
  const lost = differences.filter(({ kind }) => kind !== "added").length;
  const isNamed = [tree.distro_name, tree.image_name].includes(candidate.name);
  return (losesAuth ? 10_000_000 : 0) + 10_000 * lost + 10 * (differences.length - lost) +
    (isNamed ? 0 : candidate.name === USUAL ? 1 : 2);
};

const withCandidate = (
  source: Source,
  candidate: Candidate,
  options: ImportOptions,
  surroundings: Surroundings,
): Result.Result<Tried, ReadonlyArray<string>> => {
  const { server } = candidate;
  const clean = withoutSecretValues(source.tree, server);
  const spelled = corrected(clean.tree, server);
  const { tree, corrections } = withRequiredApis(spelled.tree, candidate.base, server);
  const variables = assumed(tree, server, source, clean);
  const { environment } = server.family.process;
  const fixed = Object.keys(environment).filter((name) =>
    JSON.stringify(tree).includes(`\${env.${name}`) && !variables.has(name)
  );
  const valueOf: ValueOf = (name) => fixed.includes(name) ? environment[name] : valueIn(variables)(name);
  const own: Read = { tree, server, valueOf, isComplete: source.isComplete };
  const base: Read = { ...own, tree: candidate.base };
  const name = stringAt(source.metadata, "name") ?? "";
  const storage = at(source.spec, "workload", "storage");
  const expressed = express({
    own,
    base,
    variables,
    names: variablesIn(JSON.stringify(source.tree)),
    name,
    keepData: options.keepData,
    mountPath: storage === undefined ? undefined : stringAt(storage, "mountPath") ?? MOUNT_DEFAULT,
  });
  const { isUsual } = candidate;
  const hasCertificate = at(source.spec, "networking", "tls", "secretName") !== undefined;
  const resource: JsonObject = {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: source.metadata,
    spec: inOrder(merged({
      distribution: {
        name: candidate.name,
        ...(isUsual && options.serverVersion === undefined ? {} : { serverVersion: server.version }),
      },
      ...source.spec,
    }, hasCertificate ? put(expressed.spec, ["networking", "tls"], undefined) : expressed.spec)),
  };
  const meaning = meaningOf(own);
  return Result.map(prove(resource, expressed, own, base, surroundings), (proof): Tried => ({
    ...proof,
    candidate,
    rivals: [],
    ownEnv: expressed.ownEnv,
    own,
    secrets: new Map([...expressed.secrets, ...(source.secrets ?? []).map((key) => [key, `YOUR_${key}`] as const)]),
    hasNewCertificate: !hasCertificate && at(expressed.spec, "networking", "tls") !== undefined,
    toFillIn: [...variables].filter(([, { kind }]) => kind === "open").map(([key]) => key),
    defaulted: defaultedIn(tree, valueOf),
    dead: meaning.dead,
    off: meaning.off,
    moved: [...proof.moved, ...onNewVolume(meaning.folders, expressed.mountPath)],
    corrections: [
      ...spelled.corrections,
      ...corrections,
      ...fixed.map((name) => `${name} is ${environment[name]}, as the operator sets it on this server`),
    ],
    faults: faultsOf(tree, server, variables),
    misshapen: shapeFaults(source.tree, server),
    tree,
  }));
};

const onNewVolume = (folders: ReadonlySet<string>, mountPath: string | undefined): ReadonlyArray<string> =>
  mountPath === undefined
    ? []
    : [...folders].map((folder) =>
      isInside(folder, mountPath)
        ? `files in ${folder}: the volume of spec.workload.storage is new; name the old one in existingClaim, or copy them`
        : `files in ${folder}: not in the volume of spec.workload.storage, which is at ${mountPath}`
    );

/** As samples have it. */
const BLOCKS = [
  "distribution",
  "providers",
  "resources",
  "connectors",
  "vectorStores",
  "storage",
  "disabled",
  "networking",
  "auth",
];

const inOrder = (spec: JsonObject): JsonObject =>
  Object.fromEntries([...BLOCKS, ...Object.keys(spec)].flatMap((key) => key in spec ? [[key, spec[key] ?? null]] : []));

const merged = (below: JsonObject, above: JsonObject): JsonObject =>
  Object.entries(above).reduce<JsonObject>((map, [key, value]) => {
    const before = map[key];
    // Variables of both.
    if (isList(before ?? null) && isList(value)) return { ...map, [key]: [...before as ReadonlyArray<Json>, ...value] };
    return { ...map, [key]: isObject(before) && isObject(value) ? merged(before, value) : value };
  }, below);

/** With the variables that must be set, because the server would not start without them. */
const assumed = (tree: JsonObject, server: Server, { variables }: Source, withheld: Withheld): Variables => {
  const found = new Map<string, Variable>(variables);
  for (const name of withheld.variables) found.set(name, { kind: "secret" });
  for (const name of withheld.defaulted) {
    const known = found.get(name);
    if (known === undefined || known.kind === "value" && known.value === "") found.set(name, { kind: "secret" });
  }
  const secret = secretVariables(tree, server);
  for (const name of secret) {
    const known = found.get(name);
    if (known?.kind === "value" && known.value !== "") found.set(name, { kind: "secret" });
  }
  const assume = (name: string) => {
    const known = found.get(name);
    if (known !== undefined && !(known.kind === "value" && known.value === "")) return;
    found.set(name, secret.has(name) || SECRET_NAME.test(name) ? { kind: "secret" } : { kind: "open" });
  };
  const valueOf = valueIn(found);
  for (const name of neededIn(tree, valueOf)) assume(name);
  const conditions = new Map(
    Object.keys(objectAt(tree, "providers")).flatMap((api) =>
      entriesOf(tree, api).flatMap((entry): ReadonlyArray<readonly [string, string]> => {
        const condition = conditionOf(entry);
        return condition === undefined ? [] : [[`${api}/${baseId(entry)}`, condition]];
      })
    ),
  );
  const assumeCondition = (api: string, id: Json | undefined) => {
    const condition = conditions.get(`${api}/${id}`);
    if (condition !== undefined) assume(condition);
  };
  // A provider that a registered resource needs is on.
  for (const [list, api] of server.family.toolGroups ? NEEDING : NEEDING.slice(0, 2)) {
    for (const entry of listAt(tree, ...server.family.resourcesAt, list).filter(isObject)) {
      const id = settledText(String(entry.provider_id ?? ""), valueIn(found));
      const key = settledText(String(entry.model_id ?? entry.shield_id ?? entry.toolgroup_id ?? ""), valueIn(found));
      if (key !== null && key !== "") assumeCondition(api, id);
    }
  }
  const section = objectAt(tree, "vector_stores");
  const defaults = [
    ["vector_io", section.default_provider_id],
    ["inference", stringAt(section, "default_embedding_model", "provider_id")],
    ["inference", stringAt(section, "default_reranker_model", "provider_id")],
  ] as const;
  for (const [api, id] of defaults) assumeCondition(api, id);
  return found;
};

const NEEDING = [["models", "inference"], ["shields", "safety"], ["tool_groups", "tool_runtime"]] as const;

/** Without a default, in what is on. */
const neededIn = (tree: JsonObject, valueOf: ValueOf): ReadonlyArray<string> => [
  ...new Set(neededVariables(textsOfActive(tree, valueOf))),
];

/** With a default that is not empty. */
const defaultedIn = (tree: JsonObject, valueOf: ValueOf): ReadonlyArray<string> =>
  [...new Set([...textsOfActive(tree, valueOf).matchAll(/\$\{env\.([A-Z0-9_]+):=[^}]/g)].map(([, name = ""]) => name))]
    .filter((name) => valueOf(name) === "" && !OF_OPERATOR.has(name));

const textsOfActive = (tree: JsonObject, valueOf: ValueOf): string => {
  const providers = Object.values(objectAt(tree, "providers")).flatMap((entries) =>
    listAt({ entries }, "entries").filter((entry) => isObject(entry) && idIn(entry, valueOf) !== undefined)
  );
  return JSON.stringify([providers, { ...tree, providers: {} } as Json]);
};

/** Variables in fields that are secret, by the type of the provider or by their name. */
const secretVariables = (tree: JsonObject, server: Server): ReadonlySet<string> => {
  const within = (value: Json, isSecret: (key: string) => boolean, key = ""): ReadonlyArray<string> => {
    if (typeof value === "string") return isSecret(key) ? variablesIn(value) : [];
    if (isList(value)) return value.flatMap((item) => within(item, isSecret, key));
    if (!isObject(value)) return [];
    const isSecretHere = (name: string) => isSecret(name) || isSecretHeader(name, key);
    return Object.entries(value).flatMap(([name, inner]) => within(inner, isSecretHere, name));
  };
  const ofProviders = Object.keys(objectAt(tree, "providers")).flatMap((api) =>
    entriesOf(tree, api).flatMap((entry) => {
      const known = providerType(server.catalogue, apiOn(server, api) ?? api, stringAt(entry, "provider_type") ?? "");
      const isSecret = (key: string) => known?.fields[key]?.secret === true || SECRET_NAME.test(key);
      return within(objectAt(entry, "config"), isSecret);
    })
  );
  return new Set([
    ...ofProviders,
    ...within({ ...tree, providers: {} }, (key) => SECRET_NAME.test(key)),
    ...[...JSON.stringify(tree).matchAll(PASSWORD_VARIABLE)].map(([, name = ""]) => name),
  ]);
};

/** In the place of the password of `user:password@host`. */
const PASSWORD_VARIABLE = /:\$\{env\.([A-Z0-9_]+)(?::[=+][^}]*)?\}@/g;
