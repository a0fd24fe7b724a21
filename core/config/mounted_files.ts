/** Which files the server can read, of those that the resource names. */
import { mayBeRoot } from "../api/root_user.ts";
import { normalizedPath } from "../data/file_path.ts";
import type { Json } from "../data/json.ts";
import { quoted } from "../data/printable.ts";
import type { Facts } from "./draft.ts";
import { CA_BUNDLE_FILE } from "./environment.ts";
import { CLIENT_TLS_FOLDER } from "./stages/client_certificate.ts";
import { TLS_FOLDER } from "./stages/server.ts";

/** Public authorities, where images of Debian, Red Hat and Alpine have them. */
export const PUBLIC_AUTHORITIES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

/** Whether a volume of the pod may contain the file with this absolute path, or most images have it. */
export const mayExist = (file: string, { spec, folders }: Pick<Facts, "spec" | "folders">): boolean => {
  const { tls } = spec.networking ?? {};
  const certificates = [
    ...(tls?.enabled === true ? [TLS_FOLDER] : []),
    ...(tls?.clientSecretName === undefined ? [] : [CLIENT_TLS_FOLDER]),
  ];
  return PUBLIC_AUTHORITIES.includes(file) || tls?.caBundle !== undefined && file === CA_BUNDLE_FILE ||
    isBelow(file, certificates) || isInVolume(file, { spec, folders }) && !isFolder(file, { spec, folders });
};

/** Whether the path is in the data volume, or in one that the resource mounts. */
export const isInVolume = (path: string, { spec, folders }: Pick<Facts, "spec" | "folders">): boolean =>
  isBelow(path, [folders.mount, ...(spec.workload?.overrides?.volumeMounts ?? []).map(({ mountPath }) => mountPath)]);

/** Whether the path is one of the folders, or in one of them. */
const isBelow = (path: string, folders: ReadonlyArray<string>): boolean =>
  folders.map(normalizedPath)
    .some((folder) => `${normalizedPath(path)}/`.startsWith(folder === "/" ? folder : `${folder}/`));

/** The file that the log of a server goes to as well. */
export const LOG_FILE = "server log_file";

/**
 * Fields with a file whose folder the provider does not create; all others create it. Source: milvus_lite/server.py, and the handlers of
 * Python's logging.
 */
const OPENS_FILES = new Set(["inline::milvus db_path", LOG_FILE]);

/**
 * Fields with a folder that the provider creates when it starts. Source: `initialize` of each, and local/qdrant_local.py of
 * qdrant-client.
 */
const CREATES_FOLDERS = new Set(["inline::localfs storage_dir", "inline::qdrant path"]);

/** The home folder of the pod. */
const HOME = /^~[/]+/;

/** Absolute, or below the folder that the server starts in, of which nothing is known but that it exists. */
const IN_A_FOLDER = /^[/]|^[^~.][^/]*[/]/;

/** A message if the field names a file in a folder that neither a volume nor the operator provides. `field` is `<type> <key>`. */
export const missingFolder = (
  field: string,
  value: Json,
  facts: Pick<Facts, "spec" | "folders">,
): string | undefined =>
  typeof value !== "string" || value.includes("${env.")
    ? undefined
    : OPENS_FILES.has(field)
    ? unmadeFolder(value.replace(HOME, "/").replace(/^[.][/]+/, ""), facts)
    : CREATES_FOLDERS.has(field)
    ? deniedFolder(value, facts)
    : field === "kv_mongodb host"
    ? missingFileOf(value, facts)
    : undefined;

/** A message if an option in an address of MongoDB names a file that is not there. Source: common.py of pymongo. */
const missingFileOf = (address: string, facts: Pick<Facts, "spec" | "folders">): string | undefined => {
  const file = [...address.matchAll(/[?&]tls(?:ca|crl|certificatekey)file=([^&]+)/gi)]
    .map(([, path = ""]) => path.replaceAll(/%2f/gi, "/"))
    .find((path) => path.startsWith("/") && !mayExist(path, facts));
  return file === undefined ? undefined : notMounted(file);
};

/** `file` is of no Secret. */
export const notMounted = (file: string): string =>
  `no volume of the pod contains ${quoted(file)}, and the server does not start without it; mount it with ` +
  "spec.workload.overrides.volumes and volumeMounts, unless the image has it";

/** Whether something in the pod is a folder for certain. */
export const isFolder = (path: string, { spec, folders }: Pick<Facts, "spec" | "folders">): boolean => {
  const mounted = (spec.workload?.overrides?.volumeMounts ?? []).filter(({ subPath }) => subPath === undefined);
  return [...FOR_EVERY_USER, ...Object.values(folders), ...mounted.map(({ mountPath }) => mountPath)]
    .map(normalizedPath).includes(normalizedPath(path));
};

export const folderIn = (file: string): string => file.replace(/[^/]*$/, "").replace(/(.)[/]+$/, "$1");

/** Of the image, and writable for every user. */
const FOR_EVERY_USER = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * A message if the server creates something in a folder of the image, where only root may do that. What is below the home folder or the
 * folder that the server starts in depends on the image.
 */
export const deniedFolder = (
  folder: string,
  { spec, folders }: Pick<Facts, "spec" | "folders">,
): string | undefined => {
  const isWritable = isBelow(folder, FOR_EVERY_USER) || isInVolume(folder, { spec, folders });
  return !folder.startsWith("/") || isWritable || mayBeRoot(spec)
    ? undefined
    : `the pod does not run as root, and the server does not start if it may not create files in ${quoted(folder)}; ` +
      `use a path below ${folders.state} or in a volume of the resource`;
};

/** A message if neither a volume nor the operator provides the folder of the file. `made` are folders that the server makes. */
export const unmadeFolder = (
  file: string,
  { spec, folders }: Pick<Facts, "spec" | "folders">,
  made: ReadonlyArray<string> = [],
): string | undefined => {
  if (!IN_A_FOLDER.test(file)) return undefined;
  const folder = normalizedPath(folderIn(file));
  const mounted = (spec.workload?.overrides?.volumeMounts ?? []).map(({ mountPath }) => normalizedPath(mountPath));
  const isThere = ["/", "/tmp", ...Object.values(folders), ...mounted].includes(folder) ||
    made.some((other) => other === folder || other.startsWith(`${folder}/`));
  return isThere ? undefined : (
    `the server does not start if the pod has no folder ${
      quoted(folder)
    }, and does not create it; use a file directly in ` +
    `${folders.state} or in a volume of the resource`
  );
};
