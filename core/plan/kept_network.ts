/**
 * Who may connect to a server that another operator made: as it was, until the author edits `allowedFrom`, `expose` or `policy`. A
 * NetworkPolicy that the other operator did not make, because it read these fields only under a flag, is not made when its
 * server is adopted, and the peers of one that it made stay.
 */
import { sha256Hex } from "../data/digest.ts";
import { at, isObject, type Json, type JsonObject, listAt, put, sortedKeys, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";
import { type Warning, warning } from "../failure/warning.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { MANIFEST_ANNOTATION } from "../resources/objects.ts";
import { type ClusterSnapshot, liveOf } from "../snapshot/cluster_snapshot.ts";
import type { Prepared } from "./prepare.ts";
import { deploymentIn } from "../snapshot/live_deployment.ts";
import { RECORD_ANNOTATIONS } from "../snapshot/record.ts";
import { withoutDefaults } from "./written_defaults.ts";
import { liveResource } from "../snapshot/live_resource.ts";
import { liveObject } from "../snapshot/live_object.ts";

/** Annotation of the NetworkPolicy: the peers that the operator would not allow, and the fields for which they stay. */
export const PEERS_ANNOTATION = "llamastack.io/adopted-peers";

/** The same objects where nothing is kept. */
export const withKeptNetwork = (prepared: Prepared, snapshot: ClusterSnapshot): Prepared => {
  // One that guards the server (objects.ts) is made as the resource says.
  const policy = prepared.objects.after.find(({ kind }) => kind === "NetworkPolicy");
  if (policy === undefined) return prepared;
  const live = liveOf(snapshot, policy);
  return live === undefined ? withoutPolicy(prepared, snapshot) : withPeers(prepared, policy, live, snapshot);
};

const withoutPolicy = (prepared: Prepared, snapshot: ClusterSnapshot): Prepared => {
  const { objects } = prepared;
  const live = deploymentIn(snapshot);
  const fields = fieldsOf(snapshot.resource);
  // A policy for every server is what the operator's own setting asks for.
  const isOpen = live !== undefined && snapshot.operator.platform.networkPolicies !== true &&
    (live.record.template === undefined || live.record.open === fields);
  return !isOpen ? prepared : {
    ...prepared,
    objects: {
      ...objects,
      after: objects.after.filter(({ kind }) => kind !== "NetworkPolicy"),
      deployment: annotated(objects.deployment, RECORD_ANNOTATIONS.open, fields),
    },
    warnings: [...prepared.warnings, notYetRestricted],
  };
};

const withPeers = (
  prepared: Prepared,
  policy: Manifest,
  live: JsonObject,
  snapshot: ClusterSnapshot,
): Prepared => {
  const { objects } = prepared;
  const peers = furtherPeers(policy, live, snapshot);
  if (peers.length === 0) return prepared;
  const [rule, ...further] = listAt(policy, "spec", "ingress").filter(isObject);
  const ingress = [{ ...rule, from: [...peersIn(rule, "from"), ...peers] }, ...further];
  const kept = annotated(
    put(policy, ["spec", "ingress"], ingress) as Manifest,
    PEERS_ANNOTATION,
    JSON.stringify({ fields: fieldsOf(snapshot.resource), peers }),
  );
  return {
    ...prepared,
    objects: { ...objects, after: objects.after.map((manifest) => manifest === policy ? kept : manifest) },
  };
};

/** Of a policy that the operator has not applied yet, all of its peers; afterwards those that it recorded. */
const furtherPeers = (policy: Manifest, live: JsonObject, { resource }: ClusterSnapshot): ReadonlyArray<JsonObject> => {
  const own = new Set(allPeers(policy).map(textOf));
  const recorded = (name: string) => liveObject(live).annotations[name];
  if (recorded(MANIFEST_ANNOTATION) === undefined) return allPeers(live).filter((peer) => !own.has(textOf(peer)));
  const read = objectIn(recorded(PEERS_ANNOTATION));
  return stringAt(read, "fields") === fieldsOf(resource)
    ? peersIn(read, "peers").filter((peer) => !own.has(textOf(peer)))
    : [];
};

/** Digest of the fields that the policy follows from. */
const fieldsOf = (resource: JsonObject): string => {
  const spec = withoutDefaults(liveResource(resource).spec, liveObject(resource));
  return sha256Hex(
    JSON.stringify([
      ...["allowedFrom", "expose"].map((field) => sortedKeys(at(spec, "networking", field) ?? null)),
      // Only where it is set: digests that were recorded without this field stay valid.
      ...[at(spec, "networking", "policy")].flatMap((policy) => policy === undefined ? [] : [sortedKeys(policy)]),
    ]),
  );
};

const annotated = (manifest: Manifest, name: string, value: string): Manifest =>
  put(manifest, ["metadata", "annotations", name], value) as Manifest;

const peersIn = (value: Json | undefined, ...path: ReadonlyArray<string>): ReadonlyArray<JsonObject> =>
  listAt(value, ...path).filter(isObject);

const allPeers = (policy: JsonObject): ReadonlyArray<JsonObject> =>
  listAt(policy, "spec", "ingress").flatMap((rule) => peersIn(rule, "from"));

const textOf = (peer: Json): string => JSON.stringify(sortedKeys(peer));

const notYetRestricted: Warning = warning(
  "NotYetRestricted",
  ["spec", "networking", "allowedFrom"],
  "not applied yet, because the operator that created this server did not apply it either: every pod of the cluster can " +
    "connect. The next edit of this field, or of expose, creates the NetworkPolicy",
);
