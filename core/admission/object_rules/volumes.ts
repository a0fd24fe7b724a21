/**
 * `volumes` of the pod, of the kinds that the operator allows by default, and of hostPath and nfs. Source: ValidateVolumes of
 * Kubernetes.
 */
import { quoted } from "../../data/printable.ts";
import { isNamespaceName, isObjectName } from "../../api/object_names.ts";
import { isObject, type Json, type JsonObject, member, stringAt } from "../../data/json.ts";
import { amount } from "../../data/quantity.ts";
import { DATA_VOLUME } from "../../resources/pod_volumes.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, filled, inside, itemsOf, part } from "./broken.ts";
import { annotationKeys, labels } from "./labels.ts";
import { projectedSources } from "./projected_sources.ts";
import { files, mode, podFile } from "./volume_files.ts";

export function* volumes(value: Json): Generator<Broken> {
  const names = new Set<string>();
  for (const [index, item] of itemsOf(value).entries()) {
    if (!isObject(item)) continue;
    const name = stringAt(item, "name");
    if (name === DATA_VOLUME) {
      yield broken(`the name ${quoted(name)} is used by the operator; choose another one`, index, "name");
    } else if (name !== undefined && names.has(name)) {
      yield broken(`two volumes are named ${quoted(name)}; rename one of them`, index, "name");
    } else if (name !== undefined && !isNamespaceName(name)) {
      yield broken(
        `not the name of a volume: ${quoted(name)}; use up to 63 lower-case letters, digits and "-"`,
        index,
        "name",
      );
    }
    names.add(name ?? "");
    yield* inside([index], volume(item));
  }
}

function* volume(item: JsonObject): Generator<Broken> {
  // One without a kind is an emptyDir.
  const kinds = Object.keys(item).filter((key) => isObject(item[key]));
  if (kinds.length > 1) yield broken(`has more than one kind: ${kinds.join(", ")}; keep one of them`);
  yield* part(item, "emptyDir", function* (source) {
    if ((amount(source.sizeLimit) ?? 0) < 0) yield broken("must not be negative", "sizeLimit");
  });
  yield* part(item, "configMap", function* (source) {
    yield* filled(source, "name", "name a ConfigMap");
    yield* files(source);
  });
  yield* part(item, "secret", function* (source) {
    yield* filled(source, "secretName", "name a Secret");
    yield* files(source);
  });
  yield* part(item, "downwardAPI", function* (source) {
    yield* mode(source, "defaultMode");
    yield* each(source, "items", podFile);
  });
  yield* part(item, "projected", function* (source) {
    yield* mode(source, "defaultMode");
    yield* projectedSources(source);
  });
  yield* part(item, "persistentVolumeClaim", (source) => filled(source, "claimName", "name a claim"));
  yield* part(item, "csi", csi);
  yield* part(item, "ephemeral", ephemeral);
  yield* part(item, "hostPath", function* ({ path }) {
    if (path === "") yield broken("empty; use a path of the node", "path");
    else if (typeof path === "string" && path.split("/").includes("..")) {
      yield broken(`must not contain "..": ${quoted(path)}`, "path");
    }
  });
  yield* part(item, "nfs", function* (source) {
    yield* filled(source, "server", "name the NFS server");
    const path = stringAt(source, "path");
    if (path !== undefined && !path.startsWith("/")) {
      yield broken(`not an absolute path: ${quoted(path)}; begin it with "/"`, "path");
    }
  });
}

const DRIVER_CHARACTERS_MAX = 63;

function* csi(source: JsonObject): Generator<Broken> {
  const driver = stringAt(source, "driver");
  if (driver !== undefined && (driver.length > DRIVER_CHARACTERS_MAX || !isObjectName(driver.toLowerCase()))) {
    yield broken(`not the name of a CSI driver: ${quoted(driver)}`, "driver");
  }
  yield* part(source, "nodePublishSecretRef", function* (reference) {
    const name = stringAt(reference, "name") ?? "";
    if (!isObjectName(name)) yield broken(`not the name of a Secret: ${quoted(name)}`, "name");
  });
}

function* ephemeral(source: JsonObject): Generator<Broken> {
  if (!isObject(member(source, "volumeClaimTemplate"))) {
    yield broken("required field is missing; describe the claim", "volumeClaimTemplate");
  }
  yield* part(source, "volumeClaimTemplate", function* (template) {
    yield* part(template, "metadata", function* (metadata) {
      yield* inside(["labels"], labels(metadata.labels ?? null));
      yield* inside(["annotations"], annotationKeys(metadata.annotations ?? null));
    });
    yield* part(template, "spec", function* (spec) {
      const modes = itemsOf(spec.accessModes);
      if (modes.length === 0) {
        yield broken("needs at least one mode; use ReadWriteOnce", "accessModes");
      } else if (modes.length > 1 && modes.includes("ReadWriteOncePod")) {
        yield broken("ReadWriteOncePod cannot be combined with other modes", "accessModes");
      }
      const size = isObject(spec.resources) && isObject(spec.resources.requests)
        ? spec.resources.requests.storage
        : undefined;
      if (size === undefined) {
        yield broken("required field is missing; use a size such as 10Gi", "resources", "requests", "storage");
      } else if ((amount(size) ?? 1) <= 0) {
        yield broken("must be greater than 0", "resources", "requests", "storage");
      }
      const name = stringAt(spec, "storageClassName") ?? "";
      if (name !== "" && !isObjectName(name)) {
        yield broken(`not the name of a StorageClass: ${quoted(name)}`, "storageClassName");
      }
    });
  });
}
