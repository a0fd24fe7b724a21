/**
 * The init containers that install external providers, and their volume.
 *
 * One container per provider runs the image of the provider and copies its folder. The last one, `prepare-providers`, runs the
 * image of the server: with the Python that will run the providers it checks and unpacks what was copied, and writes the
 * final config (prepare_providers.py). The images of the providers therefore need neither Python nor pip, and none of the
 * containers needs the network.
 */
import { pulled } from "./pull_policy.ts";
import type { V1Container, V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import { type ExternalProvider, VOLUME_SIZE_LIMIT_DEFAULT } from "../api/v1alpha2.ts";
import { CONFIG_FOLDER, PACKAGES_FOLDER } from "../config/environment.ts";
import { externalProviders, hasExternalProviders } from "../config/external_providers.ts";
import PREPARE from "./prepare_providers.py" with { type: "text" };
import type { Blueprint } from "./blueprint.ts";
import type { AsJson } from "./kubernetes_objects.ts";

/** Keys of the ConfigMap, next to config.yaml. */
const ENTRIES_KEY = "external-providers.json";
const SCRIPT_KEY = "prepare_providers.py";

/** What the pod needs besides the generated config; empty without external providers. */
export const externalFiles = (
  entries: ReadonlyArray<{ readonly id: string; readonly api: string; readonly image: string }>,
): Readonly<Record<string, string>> =>
  entries.length === 0
    ? {}
    : { [ENTRIES_KEY]: `${JSON.stringify({ providers: entries }, undefined, 1)}\n`, [SCRIPT_KEY]: PREPARE };

export const PREPARE_CONTAINER = "prepare-providers";
const INSTALL = "install-provider-";
export const installContainer = (id: string): string => `${INSTALL}${id}`;

/** The provider that a container installs; undefined for other containers. */
export const installedId = (container: string): string | undefined =>
  container.startsWith(INSTALL) ? container.slice(INSTALL.length) : undefined;

/** Where a container of a provider copies to. */
const COPY_FOLDER = "/external-provider";
/** The generated config, in which types and modules are missing. */
const SOURCE_FOLDER = "/opt/llama-stack/generated";
/** The whole volume, where it is prepared. */
const VOLUME_FOLDER = "/opt/llama-stack/prepared";

/** Folders of the volume. */
const IMAGES = "images";
const PACKAGES = "packages";
const CONFIG = "config";

export const EXTERNAL_VOLUME = "external-providers";

/** The volume, named `name`. */
export const externalVolume = ({ spec }: Blueprint, name: string): AsJson<V1Volume> => ({
  name,
  emptyDir: { sizeLimit: String(spec.externalProviders?.volumeSizeLimit ?? VOLUME_SIZE_LIMIT_DEFAULT) },
});

/** Mounts of the server: the config in place of the generated one, and the packages. */
export const externalMounts = (name: string): ReadonlyArray<AsJson<V1VolumeMount>> => [
  { name, mountPath: CONFIG_FOLDER, subPath: CONFIG, readOnly: true },
  { name, mountPath: PACKAGES_FOLDER, subPath: PACKAGES, readOnly: true },
];

/** Names of the volumes as the pod has them; the author may use some names for volumes of his own. */
export interface ExternalVolumes {
  readonly external: string;
  readonly config: string;
  /** Of a writable /tmp; undefined if the author mounts one. */
  readonly tmp: AsJson<V1VolumeMount> | undefined;
}

/** What all containers of the pod have in common. */
type Common = Pick<AsJson<V1Container>, "resources" | "securityContext">;

export const externalContainers = (
  { spec, image }: Blueprint,
  volumes: ExternalVolumes,
  common: Common,
  /** Containers and init containers of the pod besides these. */
  others: number,
): ReadonlyArray<AsJson<V1Container>> => {
  if (!hasExternalProviders(spec)) return [];
  const installs = externalProviders(spec).map(({ provider }) => install(provider, volumes, common));
  const reportBytes = endBytes(installs.length + 1 + others);
  return [...installs, prepare(image, spec.workload?.overrides?.imagePullPolicy, reportBytes, volumes, common)];
};

/** What the kubelet keeps of the end of each container, in bytes: the containers of a pod share what there is. */
const endBytes = (containers: number): number =>
  Math.min(END_BYTES_MAX, Math.floor(POD_END_BYTES_MAX / (containers + INJECTED_CONTAINERS)));

/** Source: MaxContainerTerminationMessageLength and MaxPodTerminationMessageLogLength of the kubelet. */
const END_BYTES_MAX = 4096;
const POD_END_BYTES_MAX = 12 * 1024;
/** A service mesh adds two to the pods that it serves. */
const INJECTED_CONTAINERS = 2;

const install = (
  { providerId, image, imagePullPolicy }: ExternalProvider,
  { external }: ExternalVolumes,
  common: Common,
): AsJson<V1Container> => ({
  name: installContainer(providerId),
  image,
  ...pulled(image, imagePullPolicy),
  command: ["/bin/sh", "-c", COPY],
  args: [],
  terminationMessagePolicy: "FallbackToLogsOnError",
  ...common,
  // A folder of its own: a provider cannot change the copy of another one.
  volumeMounts: [{ name: external, mountPath: COPY_FOLDER, subPath: `${IMAGES}/${providerId}` }],
});

/** The same text for every provider; the end is structured as that of prepare_providers.py. */
const COPY = [
  "fail() {",
  `  printf '{"ok":false,"reason":"%s","message":"%s"}' "$1" "$2" >/dev/termination-log`,
  '  echo "$2" >&2',
  "  exit 1",
  "}",
  "[ -d /lls-provider ] || fail ProviderMetadataMissing 'the image has no folder /lls-provider'",
  // Names with a dot need patterns of their own. The folder itself belongs to the kubelet, and stays.
  "each() {",
  `  for file in ${COPY_FOLDER}/* ${COPY_FOLDER}/.[!.]* ${COPY_FOLDER}/..?*; do`,
  '    [ -e "$file" ] || [ -L "$file" ] || continue',
  '    "$@" "$file" || return 1',
  "  done",
  "}",
  // The copy has the permissions of the image: nothing can be removed from a folder that may not be written. The group is
  // that of the pod, whose containers may have different users.
  'open() { [ -L "$1" ] || chmod -R ug+rwX "$1"; }',
  // The volume outlives the container: an earlier run may have left something.
  "each open 2>/dev/null",
  "each rm -rf || fail ProviderCopyFailed 'what an earlier run has copied cannot be removed'",
  `cp -R /lls-provider/. ${COPY_FOLDER}/ && each open || fail ProviderCopyFailed \\`,
  "  'the folder /lls-provider of the image cannot be copied: the user of the pod must be able to read it, and the image needs cp and chmod'",
].join("\n");

const prepare = (
  image: string,
  imagePullPolicy: ExternalProvider["imagePullPolicy"],
  reportBytes: number,
  { external, config, tmp }: ExternalVolumes,
  common: Common,
): AsJson<V1Container> => ({
  name: PREPARE_CONTAINER,
  image,
  ...pulled(image, imagePullPolicy),
  command: [
    "python3",
    `${SOURCE_FOLDER}/${SCRIPT_KEY}`,
    ...[`--source=${SOURCE_FOLDER}`, `--images=${VOLUME_FOLDER}/${IMAGES}`, `--packages=${VOLUME_FOLDER}/${PACKAGES}`],
    ...[`--config=${VOLUME_FOLDER}/${CONFIG}`, "--report=/dev/termination-log"],
    `--report-bytes=${reportBytes}`,
  ],
  args: [],
  // It imports the code of the providers, and gets neither Secrets nor the variables of the resource.
  env: [{ name: "HOME", value: "/tmp" }],
  terminationMessagePolicy: "FallbackToLogsOnError",
  ...common,
  volumeMounts: [
    { name: config, mountPath: SOURCE_FOLDER, readOnly: true },
    { name: external, mountPath: VOLUME_FOLDER },
    ...(tmp === undefined ? [] : [tmp]),
  ],
});
