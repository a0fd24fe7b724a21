/** What a change would do to data that a server has stored: lost by a change of the server family, or in conflict with it. */
import { claimsOf, templateSpec } from "../../resources/pod_spec.ts";
import { serverOfImage } from "../../config/servers/distribution.ts";
import type { ServerFamily } from "../../config/servers/families/family.ts";
import { STORES_IN_BACKENDS } from "../../config/servers/families/stores_in_backends.ts";
import { serverName, serverOf } from "../../config/servers/families/families.ts";
import * as Result from "effect/Result";
import { RegistryConflict, ServerFamilyChangeLosesData } from "../../failure/failures.ts";
import { isObject, isSameValue, type JsonObject, listAt, member, stringAt } from "../../data/json.ts";
import { readConfigYaml } from "../../data/yaml.ts";
import type { KnownEnvironment } from "../../config/known_environment.ts";
import { lossesOf, type Place } from "./family_losses.ts";
import { movedStores } from "./moved_stores.ts";
import { REGISTRIES, type Registry } from "./registries.ts";
import type { Prepared } from "../prepare.ts";
import type { LiveDeployment } from "../../snapshot/live_deployment.ts";
import { hasServed } from "../../snapshot/running_server.ts";
import type { ClusterSnapshot } from "../../snapshot/cluster_snapshot.ts";
import { liveConfig } from "../../snapshot/live_config.ts";
import { liveObject } from "../../snapshot/live_object.ts";

/** Annotation of the resource: the server family that may use the data, e.g. `1.2`. */
export const ACCEPT_FAMILY_CHANGE_ANNOTATION = "llamastack.io/accept-server-family-change";

/** A change that the data of the running server would not survive. */
export type DataFailure = ServerFamilyChangeLosesData | RegistryConflict;

export interface StoredDataFindings {
  readonly failures: ReadonlyArray<DataFailure>;
  /** Messages for the time of the change; nothing to fix. */
  readonly notices: ReadonlyArray<string>;
}

const NOTHING: StoredDataFindings = { failures: [], notices: [] };

/** `live` is the Deployment as it is; nothing is stored before one of its pods was available. */
export const storedDataFindings = (
  prepared: Prepared,
  live: LiveDeployment | undefined,
  snapshot: ClusterSnapshot,
): StoredDataFindings => {
  if (live === undefined || !hasServed(live)) return NOTHING;
  const left = leftClaims(live, prepared);
  if (runsAsWanted(prepared, live)) return { failures: [], notices: left };
  const runs = runningConfig(live, snapshot);
  const stored = storedIn(live, runs, serverIn(live)?.family);
  if (stored.length === 0) return { failures: [], notices: left };
  const move = familyChange(prepared, live, stored, snapshot);
  const registry = runs === undefined || move.moved ? NOTHING : registryChanges(prepared, runs, live);
  return {
    failures: [...move.failures, ...registry.failures],
    notices: [...move.notices, ...registry.notices, ...left],
  };
};

const leftClaims = ({ claims }: LiveDeployment, { objects }: Prepared): ReadonlyArray<string> => {
  const next = claimsOf(templateSpec(objects.deployment));
  return claims.filter((name) => !next.includes(name)).map((name) =>
    `The server no longer uses the volume claim "${name}"; its data stays there, and the server does not find it`
  );
};

/** The most frequent case, which needs no config to be read: the pods run this config in this image. */
const runsAsWanted = ({ blueprint }: Prepared, live: LiveDeployment): boolean =>
  blueprint.configFile !== undefined && live.image === blueprint.image &&
  live.configMaps.includes(blueprint.configFile.configMapName);

interface Running {
  readonly name: string;
  readonly tree: JsonObject;
}

/** The config that the Deployment names, as its ConfigMap has it. */
const runningConfig = (live: LiveDeployment, snapshot: ClusterSnapshot): Running | undefined => {
  const found = snapshot.configs.map(liveConfig).find(({ name }) => live.configMaps.includes(name));
  if (found?.text === undefined) return undefined;
  const { tree } = Result.getOrElse(readConfigYaml(found.text), () => ({ tree: null }));
  return isObject(tree) ? { name: found.name, tree } : undefined;
};

/** Where data outlives a pod. */
const storedIn = (
  { claims }: LiveDeployment,
  runs: Running | undefined,
  family: ServerFamily | undefined,
): ReadonlyArray<Place> => {
  const stores = family?.stores ?? STORES_IN_BACKENDS;
  const types = runs === undefined ? [] : stores.backends(runs.tree).map(([, type]) => type);
  return [
    ...(claims.length > 0 ? ["a volume claim" as const] : []),
    ...(types.some((type) => type.endsWith("postgres")) ? ["PostgreSQL" as const] : []),
    ...(types.some((type) => type.endsWith("redis")) ? ["Redis" as const] : []),
  ];
};

const familyChange = (
  prepared: Prepared,
  live: LiveDeployment,
  stored: ReadonlyArray<Place>,
  snapshot: ClusterSnapshot,
): StoredDataFindings & { readonly moved: boolean } => {
  const from = serverIn(live);
  const image = prepared.blueprint.image;
  const path = ["spec", "distribution"];
  const to = prepared.server === undefined ? undefined : serverOf(prepared.server);
  if (from === undefined || to === undefined) {
    const other = live.image !== image;
    return {
      moved: other,
      failures: [],
      notices: other && (from === undefined) !== (to === undefined)
        ? [
          `The version of the server ${
            to === undefined ? `in image "${image}"` : "that was running before"
          } is unknown, so data in ${stored.join(" and ")} may be lost`,
        ]
        : [],
    };
  }
  const moved = from.family.name !== to.family.name;
  const losses = lossesOf(from, to, stored);
  if (losses.length === 0) return { moved, ...NOTHING };
  const [old, next] = moved
    ? [from.family.servers, to.family.servers]
    : [serverName(from.version), serverName(to.version)];
  if (prepared.derived._tag === "Override") {
    return {
      moved,
      failures: [],
      notices: [`Changing from ${old} to ${next} loses ${losses.join("; ")}`],
    };
  }
  const accepted = liveObject(snapshot.resource).annotations[ACCEPT_FAMILY_CHANGE_ANNOTATION];
  return {
    moved,
    failures: accepted === to.family.name ? [] : [
      new ServerFamilyChangeLosesData({
        path,
        from: old,
        to: next,
        losses,
        accept: `${ACCEPT_FAMILY_CHANGE_ANNOTATION}: "${to.family.name}"`,
      }),
    ],
    notices: [],
  };
};

const serverIn = ({ record: { server }, image }: LiveDeployment) =>
  server !== undefined ? serverOf(server) : serverOfImage(image ?? "");

/** The server compares what it should register with what it stored, and exits if they differ. */
const registryChanges = (prepared: Prepared, runs: Running, live: LiveDeployment): StoredDataFindings => {
  if (prepared.derived._tag !== "Generated" || prepared.blueprint.configFile?.configMapName === runs.name) {
    return NOTHING;
  }
  const { config: { tree }, server } = prepared.derived;
  const found = REGISTRIES.map((registry) => changes(runs.tree, tree, server.family, registry));
  const gone = found.flatMap((registry) => registry.gone);
  return {
    failures: found.flatMap(({ conflicts }) => conflicts),
    notices: [
      ...(gone.length === 0 ? [] : [
        `The server keeps what was removed from the resource: it still lists ${gone.map((id) => `"${id}"`).join(", ")}`,
      ]),
      ...movedStores(
        { tree: runs.tree, environment: environmentIn(live.podSpec) },
        { tree, environment: environmentIn(templateSpec(prepared.objects.deployment)) },
        server,
      ),
    ],
  };
};

/** What the container of the server finds; `envFrom` and the image may have more. */
const environmentIn = (podSpec: JsonObject): KnownEnvironment => {
  const [container] = listAt(podSpec, "containers");
  const variables = new Map(listAt(container, "env").map((entry) => [stringAt(entry, "name"), entry]));
  return (variable) => {
    const entry = variables.get(variable);
    if (entry === undefined) return listAt(container, "envFrom").length === 0 ? "Unset" : "Unknown";
    return member(entry, "valueFrom") === undefined && (stringAt(entry, "value") ?? "") === "" ? "Unset" : "Set";
  };
};

const WAYS_OUT: Readonly<Record<ServerFamily["modelsAreKnownBy"], string>> = {
  modelId: "register it with another name, and set providerModelId to its name at the provider",
  providerModelId: "declare its provider a second time with another id, and register the model there",
};

const changes = (
  before: JsonObject,
  after: JsonObject,
  family: ServerFamily,
  { kind, section, list = section, keyOf, fixed }: Registry,
) => {
  const entries = (tree: JsonObject) =>
    new Map(
      listAt(tree, ...family.resourcesAt, section).filter(isObject).map((object) => [keyOf(object, family), object]),
    );
  const [old, wanted] = [entries(before), entries(after)];
  return {
    conflicts: [...wanted].flatMap(([id, entry]) => {
      const known = old.get(id);
      const changed = known === undefined
        ? []
        : Object.entries(fixed).filter(([, valueOf]) => !isSameValue(valueOf(known) ?? {}, valueOf(entry) ?? {})).map((
          [name],
        ) => name);
      return changed.length === 0 ? [] : [
        new RegistryConflict({
          path: ["spec", "resources", list],
          kind,
          id,
          changed,
          way: kind === "model" ? WAYS_OUT[family.modelsAreKnownBy] : "register it with another name",
        }),
      ];
    }),
    gone: [...old.keys()].filter((id) => !wanted.has(id)),
  };
};
