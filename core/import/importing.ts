/** From a config to a resource with its proof: for each candidate server, of which the one with the best proof is taken. */
import * as Result from "effect/Result";
import { API_VERSION, KIND } from "../api/v1alpha2.ts";
import type { Surroundings } from "../config/derive.ts";
import { MOUNT_DEFAULT } from "../config/data_folders.ts";
import { variablesIn } from "../config/known_environment.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { unreadFields } from "../config/stages/unread_fields.ts";
import { formatPath } from "../data/field_path.ts";
import type { DoubledKey } from "../data/doubled_keys.ts";
import { assumed, defaultedIn } from "./assumed.ts";
import { corrected, withRequiredApis } from "./corrections.ts";
import { faultsOf } from "./faults.ts";
import { express, isInside } from "./express.ts";
import type { Read } from "./entries.ts";
import { meaningOf } from "./meaning.ts";
import { type Proof, prove } from "./proof.ts";
import { keepingAll } from "./whole.ts";
import { shapeFaults } from "./shape.ts";
import { type Asked, type Candidate, candidatesFor, USUAL } from "./server.ts";
import { valueIn, type ValueOf, type Variables } from "./variables.ts";
import { withoutSecretValues } from "./withheld.ts";

/** A config and what is known around it. */
export interface Source {
  readonly tree: JsonObject;
  readonly variables: Variables;
  /** Whether every other variable is not set. */
  readonly isComplete: boolean;
  /** What the result has beside the config: metadata, and parts of the spec. */
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  /** Keys that the config has twice. */
  readonly doubled?: ReadonlyArray<DoubledKey>;
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

/**
 * Authentication and what gets lost first, then the name that the config has itself, since its image has the packages, and what is
 * added; of several servers the first.
 */
const costOf = ({ differences, losesAuth, candidate }: Tried, tree: JsonObject): number => {
  const lost = differences.filter(({ kind }) => kind !== "added").length;
  const isNamed = [tree.distro_name, tree.image_name].includes(candidate.name);
  return (losesAuth ? 10_000_000 : 0) + 10_000 * lost + (isNamed ? 0 : 1_000) + 10 * (differences.length - lost) +
    (candidate.name === USUAL ? 1 : 2);
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
  const variables = assumed(tree, server, source.variables, clean);
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
  const misshapen = [
    ...shapeFaults(source.tree, server),
    ...unreadFields(source.tree, server).map(({ path, message }) => `${formatPath(path)}: ${message}`),
  ];
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
      ...(isObject(at(expressed.spec, "networking", "allowedFrom") ?? null) &&
          at(source.spec, "networking", "allowedFrom") === undefined
        ? [
          "spec.networking.allowedFrom is added, because server.auth trusts the headers of a gateway: with {} only pods of the " +
          "same namespace reach the server; name the namespace of your gateway in it",
        ]
        : []),
      ...fixed.map((name) => `${name} is ${environment[name]}, as the operator sets it on this server`),
    ],
    faults: faultsOf(tree, server, variables, source.doubled).filter((fault) => !misshapen.includes(fault)),
    misshapen,
  }));
};

const onNewVolume = (folders: ReadonlySet<string>, mountPath: string | undefined): ReadonlyArray<string> =>
  mountPath === undefined
    ? []
    : [...folders].map((folder) =>
      isInside(folder, mountPath)
        ? `files in ${folder}: the volume of spec.workload.storage is new; name the old one in spec.workload.storage.existingClaim, or copy them`
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
