/** Volumes of the pod and where they are mounted, in a stable order. */
import { CA_BUNDLE_FILE, CONFIG_FOLDER } from "../config/environment.ts";
import { TLS_FOLDER } from "../config/stages/server.ts";
import type { V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import { type Blueprint, servesTls } from "./blueprint.ts";
import { mountedClaim } from "./claim.ts";
import type { AsJson } from "./kubernetes_objects.ts";

export const caBundleName = (name: string): string => `${name}-ca-bundle`;
export const CA_BUNDLE_KEY = "ca-bundle.crt";

/** The folder of the file that holds all authorities which the server trusts. */
const TRUSTED_FOLDER = CA_BUNDLE_FILE.slice(0, CA_BUNDLE_FILE.lastIndexOf("/"));
const TRUSTED_VOLUME = "trusted-authorities";

/** Whether the CAs of the resource are added to those of the image, which only the pod can do. */
export const addsAuthorities = ({ networking }: Blueprint["spec"]): boolean =>
  networking?.tls?.caBundle !== undefined && networking.tls.caBundle.exclusive !== true;

const SOURCE_FOLDER = "/ca-bundle";

/** Where images keep public authorities: Python's own, then those of Debian, Red Hat and Alpine. */
const PUBLIC_FILES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/**
 * Writes the file before the server starts. The variables that HTTP clients read (`SSL_CERT_FILE` and the like) replace the
 * authorities of the image, and none of them adds to those.
 */
export const authoritiesCommand = (): {
  readonly command: ReadonlyArray<string>;
  readonly mounts: ReadonlyArray<AsJson<V1VolumeMount>>;
} => ({
  command: [
    "/bin/sh",
    "-c",
    [
      "set -e",
      `for file in "$(python3 -c 'import certifi; print(certifi.where())' 2>/dev/null)" ${PUBLIC_FILES.join(" ")}; do`,
      '  if [ -n "$file" ] && [ -s "$file" ]; then cat "$file"; echo; fi',
      `done >${CA_BUNDLE_FILE}`,
      `cat ${SOURCE_FOLDER}/${CA_BUNDLE_KEY} >>${CA_BUNDLE_FILE}`,
    ].join("\n"),
  ],
  mounts: [
    { name: "ca-bundle", mountPath: SOURCE_FOLDER, readOnly: true },
    { name: TRUSTED_VOLUME, mountPath: TRUSTED_FOLDER },
  ],
});

export interface PodVolumes {
  readonly volumes: ReadonlyArray<AsJson<V1Volume>>;
  readonly mounts: ReadonlyArray<AsJson<V1VolumeMount>>;
}

export const podVolumes = (blueprint: Blueprint): PodVolumes => {
  const { name, spec, configFile, folders } = blueprint;
  const claimed = mountedClaim(blueprint);
  const rows: ReadonlyArray<
    { readonly volume: AsJson<V1Volume>; readonly mount: AsJson<V1VolumeMount> | undefined } | undefined
  > = [
    {
      volume: {
        name: "lls-storage",
        ...(claimed === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claimed } }),
      },
      mount: { name: "lls-storage", mountPath: folders.mount },
    },
    configFile === undefined ? undefined : {
      volume: {
        name: "user-config",
        configMap: {
          name: configFile.configMapName,
          items: [
            { key: configFile.key, path: "config.yaml" },
            ...configFile.others.map((key) => ({ key, path: key })),
          ],
        },
      },
      mount: { name: "user-config", mountPath: CONFIG_FOLDER, readOnly: true },
    },
    servesTls(spec)
      ? {
        volume: { name: "tls", secret: { secretName: spec.networking?.tls?.secretName ?? "" } },
        mount: { name: "tls", mountPath: TLS_FOLDER, readOnly: true },
      }
      : undefined,
    spec.networking?.tls?.caBundle === undefined ? undefined : {
      volume: {
        name: "ca-bundle",
        configMap: { name: caBundleName(name), items: [{ key: CA_BUNDLE_KEY, path: CA_BUNDLE_KEY }] },
      },
      mount: addsAuthorities(spec) ? undefined : { name: "ca-bundle", mountPath: TRUSTED_FOLDER, readOnly: true },
    },
    addsAuthorities(spec)
      ? {
        volume: { name: TRUSTED_VOLUME, emptyDir: { sizeLimit: "16Mi" } },
        mount: { name: TRUSTED_VOLUME, mountPath: TRUSTED_FOLDER, readOnly: true },
      }
      : undefined,
    {
      volume: { name: "tmp", emptyDir: startsOgxCli(blueprint) ? { medium: "Memory" } : {} },
      mount: { name: "tmp", mountPath: "/tmp" },
    },
  ];
  const there = rows.filter((row) => row !== undefined);
  const own = spec.workload?.overrides ?? {};
  return {
    volumes: [
      ...there.map(({ volume }) => volume),
      ...((own.volumes ?? []) as unknown as ReadonlyArray<AsJson<V1Volume>>),
    ],
    mounts: [
      ...there.map(({ mount }) => mount).filter((mount) => mount !== undefined),
      ...((own.volumeMounts ?? []) as unknown as ReadonlyArray<AsJson<V1VolumeMount>>),
    ],
  };
};

/** OGX's own command line writes the config with expanded secrets to /tmp; memory keeps it off the disk. */
const startsOgxCli = ({ spec }: Blueprint): boolean => {
  const { command = [], args = [] } = spec.workload?.overrides ?? {};
  return [...command, ...args].some((word) => /(^|[\s/])ogx(\s|$)/.test(word));
};
