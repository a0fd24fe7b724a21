/**
 * Items that the pod template would have twice, because two of the resource are alike or because the operator has one of its
 * own. The API server rejects the whole Deployment then, with an error that names no field (500, observed on Kubernetes 1.36).
 */
import type { Spec } from "../api/v1alpha2.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { normalizedPath } from "../data/file_path.ts";
import { type Json, listAt, member } from "../data/json.ts";
import { quoted } from "../data/printable.ts";
import { RuleBroken } from "../failure/failures.ts";
import { CA_BUNDLE_FILE, CLUSTER_CA_FILE, CONFIG_FOLDER, DATA_VOLUME, PACKAGES_FOLDER } from "./environment.ts";
import { hasExternalProviders } from "./external_providers.ts";
import { CLIENT_TLS_FOLDER } from "./stages/client_certificate.ts";
import { TLS_FOLDER } from "./stages/server.ts";

/** Lists of the workload that reach the pod, with the fields that identify an item there. */
const LISTS: ReadonlyArray<readonly [list: ReadonlyArray<string>, keys: ReadonlyArray<string>]> = [
  [["overrides", "volumes"], ["name"]],
  [["overrides", "volumeMounts"], ["mountPath"]],
  [["overrides", "imagePullSecrets"], ["name"]],
  [["overrides", "resourceClaims"], ["name"]],
  [["resources", "claims"], ["name"]],
  [["topologySpreadConstraints"], ["topologyKey", "whenUnsatisfiable"]],
];

/** `dataFolder` is where the data volume is mounted; `hasConfig`: the server reads a file of the operator. */
export const doubledItems = (spec: Spec, dataFolder: string, hasConfig: boolean): ReadonlyArray<RuleBroken> => {
  const workload = (spec.workload ?? {}) as unknown as Json;
  const taken = takenPaths(spec, dataFolder, hasConfig);
  const found = (path: FieldPath, detail: string) => new RuleBroken({ path: ["spec", "workload", ...path], detail });
  return LISTS.flatMap(([list, keys]) => {
    const items = listAt(workload, ...list);
    const names = items.map((item) => JSON.stringify(keys.map((key) => member(item, key) ?? "")));
    return items.flatMap((item, index) => {
      const [value, path] = [String(member(item, keys[0] ?? "") ?? ""), [...list, index, keys[0] ?? ""]];
      const reserved = list.at(-1) === "volumeMounts" ? reservedBy(taken, value, dataFolder) : undefined;
      if (reserved !== undefined) return [found(path, `used by the operator: ${quoted(value)}; ${reserved}`)];
      if (list.at(-1) === "volumes" && value === DATA_VOLUME) {
        return [found(path, `the name ${quoted(value)} is used by the operator; choose another one`)];
      }
      const first = names.indexOf(names[index] ?? "");
      if (first === index) return [];
      const other = formatPath(["spec", "workload", ...list, first]);
      return [found(path, `${quoted(value)} is also in ${other}; remove one of them`)];
    });
  }).concat(
    takenPaths(spec, undefined, hasConfig).has(dataFolder)
      ? [
        found(
          ["storage", "mountPath"],
          `used by the operator for another volume: ${quoted(dataFolder)}; use another folder, such as /.llama`,
        ),
      ]
      : [],
  );
};

/** A mount over a file or folder of the operator hides it, however it is written; only the data volume may have more inside. */
const reservedBy = (
  taken: ReadonlyMap<string, string>,
  mountPath: string,
  dataFolder: string,
): string | undefined => {
  const path = normalized(mountPath);
  const found = [...taken].find(([folder]) =>
    path === normalized(folder) || folder !== dataFolder && path.startsWith(`${normalized(folder)}/`)
  );
  return found?.[1];
};

/** Runtimes take a relative path from the root of the container. */
const normalized = (path: string): string => normalizedPath(`/${path}`);

/** Paths where the operator itself mounts something, with what to set instead. */
const takenPaths = (
  spec: Spec,
  dataFolder: string | undefined,
  hasConfig: boolean,
): ReadonlyMap<string, string> =>
  new Map([
    ...(dataFolder === undefined ? [] : [[
      dataFolder,
      "its volume is that of spec.workload.storage; use spec.workload.storage.mountPath or spec.workload.storage.existingClaim",
    ]] as const),
    ...(hasConfig ? [[CONFIG_FOLDER, "it holds the config; use spec.overrideConfig"]] as const : []),
    ...(spec.networking?.tls?.enabled === true
      ? [[TLS_FOLDER, "it holds the certificate; use spec.networking.tls.secretName"]] as const
      : []),
    ...(spec.networking?.tls?.clientSecretName === undefined
      ? []
      : [[CLIENT_TLS_FOLDER, "it holds the client certificate; use spec.networking.tls.clientSecretName"]] as const),
    ...(spec.networking?.tls?.caBundle === undefined ? [] : [[
      CA_BUNDLE_FILE.slice(0, CA_BUNDLE_FILE.lastIndexOf("/")),
      "it holds the trusted CAs; use spec.networking.tls.caBundle",
    ]] as const),
    ...(spec.auth?.kubernetes === undefined ? [] : [[
      CLUSTER_CA_FILE.slice(0, CLUSTER_CA_FILE.lastIndexOf("/")),
      "it holds the CA of the API server, which spec.auth.kubernetes needs",
    ]] as const),
    ...(hasExternalProviders(spec)
      ? [[PACKAGES_FOLDER, "it holds the packages of spec.externalProviders"]] as const
      : []),
  ]);
