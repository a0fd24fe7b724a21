/** `volumeMounts` of the container, next to those of the operator. Source: ValidateVolumeMounts of Kubernetes. */
import { quoted } from "../../data/printable.ts";
import { foldersOf } from "../../config/data_folders.ts";
import { NO_OVERRIDES, resolveDistribution } from "../../config/servers/distribution.ts";
import { EMBEDDED_DISTRIBUTIONS } from "../../config/servers/distributions.ts";
import { chooseSource } from "../../config/source.ts";
import * as Result from "effect/Result";
import type { Spec } from "../../api/v1alpha2.ts";
import { isObject, type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../../data/json.ts";
import { ownVolumeNames, reservedPaths } from "../../resources/pod_volumes.ts";
import type { Broken } from "../change_rule.ts";
import { broken, inside } from "./broken.ts";
import { climbs } from "./paths.ts";

/** Of the whole spec: which volumes and paths the operator uses depends on other blocks. */
export function* mounts(spec: Json): Generator<Broken> {
  if (!isObject(spec)) return;
  const own = ownMounts(spec);
  const mine = listAt(spec, "workload", "overrides", "volumeMounts");
  const named = new Set([
    ...own.volumes,
    ...listAt(spec, "workload", "overrides", "volumes").flatMap((item) => stringAt(item, "name") ?? []),
  ]);
  const paths = new Set<string>();
  for (const [index, item] of mine.entries()) {
    if (!isObject(item)) continue;
    const [name, path] = [stringAt(item, "name") ?? "", stringAt(item, "mountPath") ?? ""];
    const at = ["workload", "overrides", "volumeMounts", index];
    if (!named.has(name)) yield broken(`no volume is named ${quoted(name)}; add it to volumes`, ...at, "name");
    const reserved = own.paths.find((place) => place.path === path);
    if (path === "") yield broken("empty; use a path of the container", ...at, "mountPath");
    else if (reserved !== undefined) {
      yield broken(`used by the operator: ${quoted(path)}; ${reserved.instead}`, ...at, "mountPath");
    } else if (paths.has(path)) {
      yield broken(`two volumeMounts have the mountPath ${quoted(path)}; remove one of them`, ...at, "mountPath");
    }
    paths.add(path);
    yield* inside(at, mount(item));
  }
  const data = own.paths[0];
  const other = own.paths.slice(1).find(({ path }) => path === data?.path);
  if (other !== undefined) {
    yield broken(
      `used by the operator for another volume: ${quoted(other.path)}; use another folder, such as /.llama`,
      "workload",
      "storage",
      "mountPath",
    );
  }
}

/** What the operator itself mounts for this spec, which has not been decoded. */
const ownMounts = (spec: JsonObject) => {
  const networking = { tls: objectAt(spec, "networking", "tls") };
  const bundle = member(networking.tls, "caBundle");
  const tls = { enabled: networking.tls.enabled, ...(isObject(bundle) ? { caBundle: bundle } : {}) };
  const relevant = {
    distribution: {},
    networking: { tls },
    externalProviders: objectAt(spec, "externalProviders"),
    workload: { storage: { mountPath: stringAt(spec, "workload", "storage", "mountPath") ?? "" } },
  } as unknown as Spec;
  const hasConfig = isObject(spec.overrideConfig) ||
    chooseSource({ ...spec, overrideConfig: undefined } as unknown as Spec, needsFix(spec))._tag !==
      "DistributionDefault";
  return {
    volumes: ownVolumeNames(relevant, hasConfig),
    paths: reservedPaths(relevant, foldersOf(relevant).mount, hasConfig),
  };
};

/** Whether the distribution does not start without a generated config. */
const needsFix = (spec: JsonObject): boolean => {
  const [name, serverVersion] = ["name", "serverVersion"].map((field) => stringAt(spec, "distribution", field));
  if (name === undefined) return false;
  const wanted = { name, ...(serverVersion === undefined ? {} : { serverVersion }) };
  const found = Result.getOrUndefined(resolveDistribution(wanted, EMBEDDED_DISTRIBUTIONS, NO_OVERRIDES));
  return found?.fixNeededToStart === true;
};

function* mount(item: JsonObject): Generator<Broken> {
  const [path, template] = [stringAt(item, "subPath") ?? "", stringAt(item, "subPathExpr") ?? ""];
  for (const [field, text] of [["subPath", path], ["subPathExpr", template]] as const) {
    if (climbs(text)) {
      yield broken(`not a path inside the volume: ${quoted(text)}; use a relative path without ".."`, field);
    }
  }
  if (path !== "" && template !== "") {
    yield broken("cannot be combined with subPath; remove one of them", "subPathExpr");
  }
  const [recursive, propagation] = [stringAt(item, "recursiveReadOnly"), stringAt(item, "mountPropagation")];
  // Also where the setting allow.privileged is on: the container itself is never privileged.
  if (propagation === "Bidirectional") {
    yield broken("Bidirectional needs a privileged container; use HostToContainer", "mountPropagation");
  }
  if (recursive === undefined || recursive === "Disabled") return;
  if (recursive !== "Enabled" && recursive !== "IfPossible") {
    yield broken(
      `unknown value: ${quoted(recursive)}; use Enabled, IfPossible or Disabled`,
      "recursiveReadOnly",
    );
  } else if (item.readOnly !== true || propagation !== undefined && propagation !== "None") {
    yield broken("only valid with readOnly: true, and without mountPropagation", "recursiveReadOnly");
  }
}
