/** Volumes of the pod and where they are mounted, in a stable order. */
import { CA_BUNDLE_FILE, CONFIG_FOLDER } from "../config/environment.ts";
import { TLS_FOLDER } from "../config/server.ts";
import type { JsonObject } from "../json.ts";
import { type Blueprint, servesTls } from "./blueprint.ts";
import { mountedClaim } from "./claim.ts";

export const caBundleName = (name: string): string => `${name}-ca-bundle`;
export const CA_BUNDLE_KEY = "ca-bundle.crt";

export interface PodVolumes {
  readonly volumes: ReadonlyArray<JsonObject>;
  readonly mounts: ReadonlyArray<JsonObject>;
}

export const podVolumes = (blueprint: Blueprint): PodVolumes => {
  const { name, spec, configFile, folders } = blueprint;
  const claimed = mountedClaim(blueprint);
  const rows: ReadonlyArray<{ readonly volume: JsonObject; readonly mount: JsonObject } | undefined> = [
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
        configMap: { name: configFile.configMapName, items: [{ key: configFile.key, path: "config.yaml" }] },
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
      mount: { name: "ca-bundle", mountPath: CA_BUNDLE_FILE.slice(0, CA_BUNDLE_FILE.lastIndexOf("/")), readOnly: true },
    },
    {
      volume: { name: "tmp", emptyDir: startsOgxCli(blueprint) ? { medium: "Memory" } : {} },
      mount: { name: "tmp", mountPath: "/tmp" },
    },
  ];
  const there = rows.filter((row) => row !== undefined);
  const own = spec.workload?.overrides ?? {};
  return {
    volumes: [...there.map(({ volume }) => volume), ...((own.volumes ?? []) as unknown as ReadonlyArray<JsonObject>)],
    mounts: [...there.map(({ mount }) => mount), ...((own.volumeMounts ?? []) as unknown as ReadonlyArray<JsonObject>)],
  };
};

/** OGX's own command line writes the config with expanded secrets to /tmp; memory keeps it off the disk (R47). */
const startsOgxCli = ({ spec }: Blueprint): boolean => {
  const { command = [], args = [] } = spec.workload?.overrides ?? {};
  return [...command, ...args].some((word) => /(^|[\s/])ogx(\s|$)/.test(word));
};
