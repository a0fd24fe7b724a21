/** The API server that a kubeconfig names, as kubectl reads it, or that of the pod. */
import * as Result from "effect/Result";
import { type Json, listAt, member, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { IN_CLUSTER, readFile, SettingsError } from "../runtime/settings.ts";
import type { Connection } from "./cluster.ts";
import { type Credential, credentialPlugin } from "./credential_plugin.ts";

/** In a pod the Services have names; from elsewhere they are reached through the API server. */
export const isInPod = (kubeconfig: string | undefined): boolean => kubeconfigFiles(kubeconfig).length === 0;

/** A kubeconfig file where one is named, else the pod's own account. */
export const connectionOf = (kubeconfig: string | undefined, context: string | undefined): Connection => {
  const files = kubeconfigFiles(kubeconfig);
  if (files.length > 0) return fromKubeconfig(files, context);
  const host = Deno.env.get("KUBERNETES_SERVICE_HOST");
  const port = Deno.env.get("KUBERNETES_SERVICE_PORT") ?? "443";
  if (host === undefined) {
    throw new SettingsError({
      detail: "no kubeconfig found; pass --kubeconfig FILE, or set KUBECONFIG to the path of one",
    });
  }
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    clientCertificate: undefined,
    // Both are read each time: the kubelet replaces the token about once an hour, and the CA when it is rotated.
    caPem: () => readFile(`${IN_CLUSTER}/ca.crt`),
    token: () => readFile(`${IN_CLUSTER}/token`)?.trim(),
  };
};

/** The one that a flag names, else the list of `KUBECONFIG`, which kubectl merges. */
const kubeconfigFiles = (flag: string | undefined): ReadonlyArray<string> => {
  if (flag !== undefined) return flag === "" ? [] : [flag];
  const separator = Deno.build.os === "windows" ? ";" : ":";
  return (Deno.env.get("KUBECONFIG") ?? "").split(separator).filter((file) => file !== "");
};

/** The kubeconfig of the user, as kubectl finds it; undefined in a pod. */
export const personalKubeconfig = (flag: string | undefined): string | undefined => {
  const home = Deno.env.get("HOME");
  if (kubeconfigFiles(flag).length > 0 || home === undefined || Deno.env.has("KUBERNETES_SERVICE_HOST")) return flag;
  const usual = `${home}/.kube/config`;
  return readFile(usual) === undefined ? undefined : usual;
};

/** An entry of a kubeconfig, with the file that it stands in: its relative paths begin at that file's folder. */
interface Entry {
  readonly file: string;
  readonly value: Json | undefined;
}

const unusableContext = (
  name: string | undefined,
  known: ReadonlyArray<string>,
  exists: boolean,
  files: string,
): string => {
  if (known.length === 0) return `${files} is not a kubeconfig with contexts`;
  const choice = `choose one with --context: ${known.join(", ")}`;
  if (name === undefined) return `${files} has no current context; ${choice}`;
  return exists
    ? `context "${name}" of ${files} names no cluster with an address`
    : `${files} has no context "${name}"; ${choice}`;
};

/**
 * Fields of a kubeconfig that change whom kubectl talks to, or as whom. A command that ignored them would act elsewhere, or as
 * somebody else, than kubectl does; each with what to do instead.
 */
const UNSUPPORTED_OF_CLUSTER: Readonly<Record<string, string>> = {
  "insecure-skip-tls-verify": "set certificate-authority or certificate-authority-data to the CA of the API server",
  "tls-server-name": "use an address of the API server that its certificate names",
  "proxy-url": "set the environment variable HTTPS_PROXY",
};
const UNSUPPORTED_OF_USER: Readonly<Record<string, string>> = {
  as: "use credentials of that user",
  "as-uid": "use credentials of that user",
  "as-groups": "use credentials of a member of these groups",
  "as-user-extra": "use credentials of that user",
  username: "use a token, a client certificate or a credential plugin",
  "auth-provider": "use a credential plugin (exec)",
};

const refuseUnsupported = (
  what: string,
  entry: Entry | undefined,
  unsupported: Readonly<Record<string, string>>,
): void => {
  for (const [field, instead] of Object.entries(unsupported)) {
    const value = member(entry?.value ?? null, field);
    if (entry === undefined || value === undefined || value === null || value === false || value === "") continue;
    throw new SettingsError({
      detail: `${entry.file}: ${field} of the ${what} is not supported; ${instead}, or choose another context`,
    });
  }
};

/** CA, client certificate, token, token file, credential plugin: what `kubectl` of today reads. No credentials without TLS. */
const fromKubeconfig = (files: ReadonlyArray<string>, wanted: string | undefined): Connection => {
  const documents = files.flatMap((file) => {
    const text = readFile(file);
    if (text === undefined) return [];
    const value = Result.match(readManifests(text), { onSuccess: (all) => all[0] ?? null, onFailure: () => null });
    return [{ file, value }];
  });
  if (documents.length === 0) throw new SettingsError({ detail: `kubeconfig ${files.join(", ")} not found` });
  // As kubectl merges them: the first file that contains an entry wins.
  const named = (list: string, name: string | undefined, part: string): Entry | undefined =>
    documents.map(({ file, value }) => ({
      file,
      value: member(listAt(value, list).find((entry) => stringAt(entry, "name") === name), part),
    })).find(({ value }) => value !== undefined);
  const name = wanted ?? documents.map(({ value }) => stringAt(value, "current-context")).find((text) => text);
  const context = named("contexts", name, "context")?.value;
  const clusterEntry = named("clusters", stringAt(context, "cluster"), "cluster");
  const userEntry = named("users", stringAt(context, "user"), "user");
  const [cluster, user] = [clusterEntry?.value, userEntry?.value];
  const url = stringAt(cluster, "server");
  const namespace = stringAt(context, "namespace");
  if (url === undefined) {
    const contexts = documents.flatMap(({ value }) =>
      listAt(value, "contexts").flatMap((item) => stringAt(item, "name") ?? [])
    );
    throw new SettingsError({ detail: unusableContext(name, contexts, context !== undefined, files.join(", ")) });
  }
  const pem = (entry: Entry | undefined, field: string): string | undefined => {
    const inline = stringAt(entry?.value, `${field}-data`);
    if (inline !== undefined) {
      return new TextDecoder().decode(Uint8Array.fromBase64(inline));
    }
    const path = stringAt(entry?.value, field);
    if (entry === undefined || path === undefined) return undefined;
    const place = path.startsWith("/") ? path : `${folderOf(entry.file)}${path}`;
    const text = readFile(place);
    // Without it any public CA could vouch for the API server.
    if (text === undefined) {
      throw new SettingsError({ detail: `the ${field} ${place} of ${entry.file} does not exist` });
    }
    return text;
  };
  refuseUnsupported("cluster", clusterEntry, UNSUPPORTED_OF_CLUSTER);
  refuseUnsupported("user", userEntry, UNSUPPORTED_OF_USER);
  const authority = () => pem(clusterEntry, "certificate-authority");
  authority();
  const place = { url: url.replace(/\/+$/, ""), ...(namespace === undefined ? {} : { namespace }) };
  // As kubectl: whoever is on the way would read them. No credential plugin is started either.
  if (URL.parse(url)?.protocol === "http:") {
    return { ...place, caPem: authority, clientCertificate: undefined, token: () => undefined };
  }
  const [cert, key] = [pem(userEntry, "client-certificate"), pem(userEntry, "client-key")];
  const tokenFile = stringAt(user, "tokenFile");
  const exec = member(user, "exec");
  const plugin = exec === undefined ? undefined : credentialPlugin(exec, folderOf(userEntry?.file ?? ""));
  return {
    ...place,
    caPem: authority,
    clientCertificate: cert === undefined || key === undefined ? given(plugin)?.clientCertificate : { cert, key },
    token: () => tokenFile === undefined ? stringAt(user, "token") ?? plugin?.().token : readFile(tokenFile)?.trim(),
  };
};

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);

/** Run once at the start, so that a broken plugin is reported before anything else. */
const given = (plugin: (() => Credential) | undefined): Credential | undefined => {
  try {
    return plugin?.();
  } catch (cause) {
    throw new SettingsError({ detail: cause instanceof Error ? cause.message : String(cause) });
  }
};
