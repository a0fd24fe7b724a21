/** Volumes of the pod and where they are mounted, in a stable order. */
import { CA_BUNDLE_FILE, CLUSTER_CA_FILE, CONFIG_FOLDER, DATA_VOLUME } from "../config/environment.ts";
import { hasExternalProviders } from "../config/external_providers.ts";
import { SHORT_DIGITS, shortDigest } from "../data/digest.ts";
import { normalizedPath } from "../data/file_path.ts";
import { PUBLIC_AUTHORITIES } from "../config/mounted_files.ts";
import { CLIENT_TLS_FOLDER } from "../config/stages/client_certificate.ts";
import { TLS_FOLDER } from "../config/stages/server.ts";
import type { V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import { type Blueprint, servesTls } from "./blueprint.ts";
import { mountedClaim } from "./claim.ts";
import { EXTERNAL_VOLUME, externalMounts, externalVolume } from "./external_containers.ts";
import type { AsJson } from "./kubernetes_objects.ts";

/**
 * Name of the operator's copy of the CA bundle. Other certificates are another copy, so that pods of a former template, and a
 * rollback to it, keep theirs. Where they have not been read, it is a name for each ConfigMap.
 */
export const caBundleName = (
  { name, namespace, spec: { networking }, caBundleDigest }: Pick<
    Blueprint,
    "name" | "namespace" | "spec" | "caBundleDigest"
  >,
): string => {
  const { configMapName, configMapNamespace: from } = networking?.tls?.caBundle ?? {};
  return `${name}-ca-bundle-${
    caBundleDigest?.slice(0, SHORT_DIGITS) ?? shortDigest([from === namespace ? null : from, configMapName])
  }`;
};
export const CA_BUNDLE_KEY = "ca-bundle.crt";

/** The folder of the file that holds all authorities which the server trusts. */
const TRUSTED_FOLDER = CA_BUNDLE_FILE.slice(0, CA_BUNDLE_FILE.lastIndexOf("/"));
const TRUSTED_VOLUME = "trusted-authorities";
const CA_VOLUME = "ca-bundle";
export const CONFIG_VOLUME = "user-config";
const TLS_VOLUME = "tls";
const CLIENT_TLS_VOLUME = "client-tls";

/**
 * Kubernetes keeps it in every namespace. The volume of a ServiceAccount has the same file, but not where its token is not
 * mounted.
 */
const CLUSTER_CA = { configMapName: "kube-root-ca.crt", key: "ca.crt" };
const CLUSTER_CA_VOLUME = "cluster-ca";

/** Whether the CAs of the resource are added to those of the image, which only the pod can do. */
export const addsAuthorities = ({ networking }: Blueprint["spec"]): boolean =>
  networking?.tls?.caBundle !== undefined && networking.tls.caBundle.exclusive !== true;

const SOURCE_FOLDER = "/ca-bundle";

/**
 * Writes the file before the server starts. The variables that HTTP clients read (`SSL_CERT_FILE` and the like) replace the
 * authorities of the image, and none of them adds to those.
 */
export const authoritiesCommand = (spec: Blueprint["spec"]): {
  readonly command: ReadonlyArray<string>;
  readonly mounts: ReadonlyArray<AsJson<V1VolumeMount>>;
} => ({
  command: [
    "/bin/sh",
    "-c",
    [
      "set -e",
      `for file in "$(python3 -c 'import certifi; print(certifi.where())' 2>/dev/null)" ${
        PUBLIC_AUTHORITIES.join(" ")
      }; do`,
      '  if [ -n "$file" ] && [ -s "$file" ]; then cat "$file"; echo; fi',
      `done >${CA_BUNDLE_FILE}`,
      `cat ${SOURCE_FOLDER}/${CA_BUNDLE_KEY} >>${CA_BUNDLE_FILE}`,
    ].join("\n"),
  ],
  mounts: [
    { name: freeName(spec, CA_VOLUME), mountPath: SOURCE_FOLDER, readOnly: true },
    { name: freeName(spec, TRUSTED_VOLUME), mountPath: TRUSTED_FOLDER },
  ],
});

export interface PodVolumes {
  readonly volumes: ReadonlyArray<AsJson<V1Volume>>;
  readonly mounts: ReadonlyArray<AsJson<V1VolumeMount>>;
}

const TMP_VOLUME = "tmp";
const TMP_FOLDER = "/tmp";

/** A volume of the author keeps its name, and that of the operator takes another one: pods need both. */
export const freeName = (spec: Blueprint["spec"], name: string): string =>
  (spec.workload?.overrides?.volumes ?? []).some((volume) => volume.name === name)
    ? freeName(spec, `lls-${name}`)
    : name;

interface Row {
  readonly volume: AsJson<V1Volume>;
  readonly mount?: AsJson<V1VolumeMount> | undefined;
  readonly mounts?: ReadonlyArray<AsJson<V1VolumeMount>>;
}

export const podVolumes = (blueprint: Blueprint): PodVolumes => {
  const { spec, configFile, folders } = blueprint;
  const claimed = mountedClaim(blueprint);
  const free = (volume: string): string => freeName(spec, volume);
  const needed: ReadonlyArray<Row | undefined> = [
    {
      volume: {
        name: DATA_VOLUME,
        ...(claimed === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claimed } }),
      },
      mount: { name: DATA_VOLUME, mountPath: folders.mount },
    },
    configFile === undefined ? undefined : {
      volume: {
        name: free(CONFIG_VOLUME),
        configMap: {
          name: configFile.configMapName,
          items: [
            ...(configFile.key === undefined ? [] : [{ key: configFile.key, path: "config.yaml" }]),
            ...configFile.others.map((key) => ({ key, path: key })),
          ],
        },
      },
      // With external providers the server gets the config that `prepare-providers` completes.
      mount: hasExternalProviders(spec)
        ? undefined
        : { name: free(CONFIG_VOLUME), mountPath: CONFIG_FOLDER, readOnly: true },
    },
    ...externalRows(blueprint, free),
    servesTls(spec)
      ? {
        volume: { name: free(TLS_VOLUME), secret: { secretName: spec.networking?.tls?.secretName ?? "" } },
        mount: { name: free(TLS_VOLUME), mountPath: TLS_FOLDER, readOnly: true },
      }
      : undefined,
    spec.networking?.tls?.clientSecretName === undefined ? undefined : {
      volume: {
        name: free(CLIENT_TLS_VOLUME),
        // libpq rejects a key that everybody may read.
        secret: { secretName: spec.networking.tls.clientSecretName, defaultMode: 0o440 },
      },
      mount: { name: free(CLIENT_TLS_VOLUME), mountPath: CLIENT_TLS_FOLDER, readOnly: true },
    },
    spec.auth?.kubernetes === undefined ? undefined : {
      volume: {
        name: free(CLUSTER_CA_VOLUME),
        configMap: { name: CLUSTER_CA.configMapName, items: [{ key: CLUSTER_CA.key, path: CLUSTER_CA.key }] },
      },
      mount: {
        name: free(CLUSTER_CA_VOLUME),
        mountPath: CLUSTER_CA_FILE.slice(0, CLUSTER_CA_FILE.lastIndexOf("/")),
        readOnly: true,
      },
    },
    spec.networking?.tls?.caBundle === undefined ? undefined : {
      volume: {
        name: free(CA_VOLUME),
        configMap: { name: caBundleName(blueprint), items: [{ key: CA_BUNDLE_KEY, path: CA_BUNDLE_KEY }] },
      },
      mount: addsAuthorities(spec) ? undefined : { name: free(CA_VOLUME), mountPath: TRUSTED_FOLDER, readOnly: true },
    },
    addsAuthorities(spec)
      ? {
        volume: { name: free(TRUSTED_VOLUME), emptyDir: { sizeLimit: "16Mi" } },
        mount: { name: free(TRUSTED_VOLUME), mountPath: TRUSTED_FOLDER, readOnly: true },
      }
      : undefined,
  ];
  const there = [...needed, temporaryRow(blueprint)].filter((row) => row !== undefined);
  const own = spec.workload?.overrides ?? {};
  return {
    volumes: [
      ...there.map(({ volume }) => volume),
      ...((own.volumes ?? []) as unknown as ReadonlyArray<AsJson<V1Volume>>),
    ],
    mounts: [
      ...there.flatMap(({ mount, mounts = [] }) => mount === undefined ? mounts : [mount]),
      ...((own.volumeMounts ?? []) as unknown as ReadonlyArray<AsJson<V1VolumeMount>>),
    ],
  };
};

/**
 * A writable /tmp, unless the resource mounts one: Kubernetes rejects two mounts of one path. The volume remains if another
 * mount of the resource refers to it by its name.
 */
const temporaryRow = (blueprint: Blueprint): Row | undefined => {
  const { spec, folders } = blueprint;
  const name = freeName(spec, TMP_VOLUME);
  const mounts = spec.workload?.overrides?.volumeMounts ?? [];
  const isMounted = folders.mount === TMP_FOLDER ||
    mounts.some(({ mountPath }) => normalizedPath(`/${mountPath}`) === TMP_FOLDER);
  if (isMounted && !mounts.some((mount) => mount.name === name)) return undefined;
  return {
    volume: { name, emptyDir: startsOgxCli(blueprint) ? { medium: "Memory" } : {} },
    mount: isMounted ? undefined : { name, mountPath: TMP_FOLDER },
  };
};

/** The mount of a writable /tmp; undefined if the resource has its own. */
export const temporaryMount = (blueprint: Blueprint): AsJson<V1VolumeMount> | undefined =>
  temporaryRow(blueprint)?.mount;

/** One volume with two mounts. */
const externalRows = (blueprint: Blueprint, free: (volume: string) => string): ReadonlyArray<Row> => {
  if (!hasExternalProviders(blueprint.spec)) return [];
  const name = free(EXTERNAL_VOLUME);
  return [{ volume: externalVolume(blueprint, name), mounts: externalMounts(name) }];
};

/** OGX's own command line writes the config with expanded secrets to /tmp; memory keeps it off the disk. */
const startsOgxCli = ({ spec }: Blueprint): boolean => {
  const { command = [], args = [] } = spec.workload?.overrides ?? {};
  return [...command, ...args].some((word) => /(^|[\s/])ogx(\s|$)/.test(word));
};
