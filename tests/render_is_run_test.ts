/** `render` prints what `run` applies, but for a fixed list; the list is what this file substitutes, and nothing else. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Result from "effect/Result";
import { decodeResource } from "../core/api/decode.ts";
import { renderCommand } from "../core/command/render.ts";
import { PLAIN } from "../core/command/outcome.ts";
import type { JsonObject } from "../core/data/json.ts";
import { isObject, type Json, listAt, member, objectAt, put, stringAt } from "../core/data/json.ts";
import { CA_ANNOTATION } from "../core/plan/ca_bundle.ts";
import { SECRETS_ANNOTATION } from "../core/plan/prepare.ts";
import { tlsPair } from "../tools/tls_pair.ts";
import { referencesOf } from "../core/snapshot/references.ts";
import type { ConfigMapContent } from "../core/config/config_map_content.ts";
import { MANIFEST_ANNOTATION } from "../core/resources/objects.ts";
import { readManifests } from "../core/data/yaml.ts";
import { SURROUNDINGS } from "./given.ts";
import { OPERATOR, planOf, secretsOf, snapshot } from "./snapshots.ts";

const SAMPLES = new URL("../deploy/samples/", import.meta.url);

/** What differs by its nature: the owner's uid, digests of what only the cluster knows, split connection strings. */
const comparable = (object: JsonObject): JsonObject => {
  const metadata = objectAt(object, "metadata");
  const { ownerReferences: _owner, ...rest } = metadata;
  const annotations = Object.fromEntries(
    Object.entries(objectAt(metadata, "annotations")).filter(([name]) =>
      name !== MANIFEST_ANNOTATION && !isRecord(name)
    ),
  );
  const bare = put({ ...object, metadata: rest }, ["metadata", "annotations"], annotations);
  if (object.kind === "Secret") return put(bare, ["data"], "…");
  if (object.kind !== "Deployment") return bare;
  const pod = Object.fromEntries(
    Object.entries(objectAt(bare, "spec", "template", "metadata", "annotations"))
      .filter(([name]) => name !== SECRETS_ANNOTATION && name !== CA_ANNOTATION),
  );
  return put(bare, ["spec", "template", "metadata", "annotations"], pod);
};

/** The record of what a template was made from, on the Deployment itself. */
const isRecord = (name: string): boolean =>
  name.startsWith("llamastack.io/") && !name.startsWith("llamastack.io/config");

const platforms = [
  ["Kubernetes", OPERATOR.platform],
  ["the Prometheus Operator", { ...OPERATOR.platform, served: ["PodMonitor", "PrometheusRule"] }],
  ["the Gateway API", {
    ...OPERATOR.platform,
    served: ["HTTPRoute", "BackendTLSPolicy"],
    gatewayParentRefs: [{ name: "public", namespace: "gateways" }],
  }],
  ["OpenShift", { ...OPERATOR.platform, openshift: true, served: ["Route"], networkPolicies: true }],
] as const;

const PAIR: Readonly<Record<string, string>> = await tlsPair(["my-service.default.svc"]);

for (const { name } of Deno.readDirSync(SAMPLES)) {
  for (const [cluster, platform] of platforms) {
    Deno.test(`render prints what run applies for the sample ${name} on ${cluster}`, async () => {
      const text = await Deno.readTextFile(new URL(name, SAMPLES));
      const resource = Result.getOrThrow(readManifests(text))[0] as JsonObject;
      const { spec } = Result.getOrThrow(decodeResource(resource, "strict"));
      const secrets = new Map<string, Record<string, string>>();
      const configMaps = new Map<string, ConfigMapContent>();
      const maps = new Set<string>();
      for (const { kind, name: object, key = "any" } of referencesOf(spec)) {
        if (kind === "Secret") {
          const value = object === "database" ? "postgresql://stack:pw@db:5432/stack" : PAIR[key] ?? `value of ${key}`;
          secrets.set(object, { ...secrets.get(object), [key]: value });
        } else {
          maps.add(object);
          configMaps.set(`default/${object}`, {
            data: { [key]: key === "config.yaml" ? "version: 2" : "" },
            binaryData: {},
          });
        }
      }
      const seen = {
        ...snapshot(spec as unknown as JsonObject, { secrets: secretsOf(Object.fromEntries(secrets)), configMaps }),
      };
      const namespaced = put(put(resource, ["metadata", "namespace"], "default"), ["metadata", "uid"], "u");
      const applied = planOf({ ...seen, resource: namespaced, operator: { ...OPERATOR, platform } }).steps
        .flatMap((step) => step._tag === "Apply" ? [step.manifest as JsonObject] : [])
        // Copies of ConfigMaps that only the cluster has.
        .filter((entry) =>
          entry.kind !== "ConfigMap" || maps.size === 0 ||
          member(objectAt(entry, "data"), "config.yaml") !== "version: 2"
        );
      // Its certificates are in the name of their copy.
      const bundle = spec.networking?.tls?.caBundle?.configMapName;
      const beside = [...configMaps].filter(([key]) => key === `default/${bundle}`).map(([, { data }]) => ({
        name: "bundle.yaml",
        text: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: bundle }, data }),
      }));
      const { stdout, code, stderr } = renderCommand([{ name, text }, ...beside], SURROUNDINGS, {
        only: undefined,
        format: "yaml",
        style: PLAIN,
        platform,
      });
      ok(code === 0, stderr);
      const printed = Result.getOrThrow(readManifests(stdout)) as ReadonlyArray<JsonObject>;
      const own = (list: ReadonlyArray<JsonObject>) => list.map((entry) => withoutReadMaps(comparable(entry), maps));
      deepStrictEqual(own(printed), own(applied));
    });
  }
}

/** The copy of an author's ConfigMap has its content in its name; offline the original stands for it. */
const withoutReadMaps = (object: JsonObject, maps: ReadonlySet<string>): JsonObject => {
  const volumes = listAt(object, "spec", "template", "spec", "volumes");
  if (maps.size === 0 || volumes.length === 0) return object;
  const same = (volume: Json) =>
    isObject(volume) && stringAt(volume, "configMap", "name") !== undefined
      ? put(volume, ["configMap", "name"], "…")
      : volume;
  return put(object, ["spec", "template", "spec", "volumes"], volumes.map(same));
};
