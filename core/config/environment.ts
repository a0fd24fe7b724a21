/**
 * The environment of the server's container: the operator's variables, those that the config refers to, and the user's.
 */
import type { EnvVar } from "../api/embedded.ts";
import { PORT_DEFAULT, type Spec } from "../api/v1alpha2.ts";
import type { DataFolders } from "./data_folders.ts";
import type { EnvEntry } from "./draft.ts";
import { hasExternalProviders } from "./external_providers.ts";
import { isStartedByAuthor } from "./source.ts";
import { type ServerFamily } from "./servers/families/family.ts";
import { SERVER_FAMILIES } from "./servers/families/families.ts";

/** Where the generated config is mounted. */
export const CONFIG_FOLDER = "/etc/llama-stack";
export const CONFIG_FILE = `${CONFIG_FOLDER}/config.yaml`;

/** Where the packages of external providers are mounted. */
export const PACKAGES_FOLDER = "/opt/llama-stack/external-providers";

/**
 * The CAs that the server trusts, in one file: those of `networking.tls.caBundle`, after the public ones of the image
 * unless `exclusive` is set.
 */
export const CA_BUNDLE_FILE = "/etc/ssl/certs/ca-bundle/ca-bundle.crt";

/** The CA of the API server, from the ConfigMap that Kubernetes keeps in every namespace. */
export const CLUSTER_CA_FILE = `${CONFIG_FOLDER}/cluster-ca/ca.crt`;

/** The data of the server; the one volume whose name cannot be used by another one. */
export const DATA_VOLUME = "lls-storage";

/** What the HTTP clients inside the server read: OpenSSL and httpx the first, requests and boto3 the others. */
export const CA_VARIABLES: ReadonlyArray<string> = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"];

/**
 * One entry per name. Later sources take precedence: directories and ports, then the variables of the config, then
 * `workload.overrides.env`. The operator's own come first, sorted by name; the author's keep their order, because `$(NAME)`
 * in a value only refers to variables before it.
 */
export const containerEnv = (
  spec: Spec,
  family: ServerFamily | undefined,
  folders: DataFolders,
  config: ReadonlyArray<EnvEntry>,
  hasConfigFile: boolean,
): ReadonlyArray<EnvVar> => {
  const port = String(spec.networking?.port ?? PORT_DEFAULT);
  // An unknown server gets the variables of every server family: it reads its own and ignores the others.
  const families = family === undefined ? SERVER_FAMILIES : [family];
  const own = new Map<string, EnvVar>();
  const set = (env: EnvVar) => own.set(env.name, env);
  for (const { process } of families) {
    set({ name: process.portVariable, value: port });
    if (hasConfigFile) set({ name: process.configVariable, value: CONFIG_FILE });
    if (family !== undefined || hasConfigFile) {
      for (const [name, value] of Object.entries(process.environment)) set({ name, value });
    }
  }
  // Both names, so that a server that was renamed does not move the data of the older one.
  set({ name: "LLAMA_STACK_CONFIG_DIR", value: folders.mount });
  set({ name: "OGX_CONFIG_DIR", value: folders.mount });
  set({ name: "SQLITE_STORE_DIR", value: folders.state });
  set({ name: "FILES_STORAGE_DIR", value: folders.files });
  set({ name: "HF_HOME", value: folders.mount });
  // The base configs switch a provider on by this variable, and look for its database beside the volume otherwise.
  if (spec.workload?.overrides?.env?.some(({ name }) => name === "MILVUS_URL") === true) {
    set({ name: "MILVUS_DB_PATH", value: folders.state });
  }
  if (spec.networking?.tls?.caBundle !== undefined) {
    for (const name of CA_VARIABLES) set({ name, value: CA_BUNDLE_FILE });
  }
  for (const { env } of config) set(env);
  const authors = new Map<string, EnvVar>();
  for (const env of spec.workload?.overrides?.env ?? []) {
    // The last one of a name counts, at its place.
    authors.delete(env.name);
    authors.set(env.name, env);
  }
  // The operator's own start command extends the variable, whatever its source.
  if (hasExternalProviders(spec) && isStartedByAuthor(spec)) {
    const holder = authors.has("PYTHONPATH") ? authors : own;
    const { value, valueFrom } = holder.get("PYTHONPATH") ?? {};
    if (valueFrom === undefined) {
      const path = [PACKAGES_FOLDER, ...(value === undefined ? [] : [value])].join(":");
      holder.set("PYTHONPATH", { name: "PYTHONPATH", value: path });
    }
  }
  return [
    ...[...own.values()].filter(({ name }) => !authors.has(name)).sort((a, b) => a.name < b.name ? -1 : 1),
    ...authors.values(),
  ];
};
