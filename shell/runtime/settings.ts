/** The environment, the files of the pod, and addresses of flags → typed settings. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import { relatedImagesAmong } from "../../core/operator/related_images.ts";
import { fileProblem, isAbsent } from "./file_problem.ts";

export class SettingsError extends Data.TaggedError("SettingsError")<{ readonly detail: string }> {
  override get message(): string {
    return `Error: ${this.detail}`;
  }
}

/** What the kubelet mounts for the account of the pod. */
export const IN_CLUSTER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Of the environment. */
export const relatedImages = (): ReadonlyMap<string, string> => relatedImagesAmong(Object.entries(Deno.env.toObject()));

/** The namespace of the operator's own objects: the pod's, else the default name. */
export const operatorNamespace = (): string =>
  Deno.env.get("POD_NAMESPACE") ?? readFile(`${IN_CLUSTER}/namespace`)?.trim() ?? "llama-stack-operator-system";

/** The flag where it is given, else `WATCH_NAMESPACE` as OLM sets it; empty: all namespaces. */
export const watchedNamespaces = (flag: ReadonlyArray<string>): ReadonlyArray<string> =>
  flag.length > 0
    ? flag
    : (Deno.env.get("WATCH_NAMESPACE") ?? "").split(",").map((item) => item.trim()).filter((item) => item !== "");

/** The name of the pod, which identifies replicas for people. */
export const replicaName = (): string => Deno.env.get("POD_NAME") ?? "llama-stack-operator";

/** Undefined: there is no such file. Throws SettingsError where it cannot be read. */
export const readFile = (path: string): string | undefined => {
  try {
    return Deno.readTextFileSync(path);
  } catch (cause) {
    if (isAbsent(cause)) return undefined;
    throw new SettingsError({ detail: `cannot read ${path}: ${fileProblem(cause)}` });
  }
};

/** Whether the environment names a proxy for the address, as Deno's fetch reads it. */
export const isProxied = ({ protocol, hostname }: URL): boolean => {
  const named = (...names: ReadonlyArray<string>) =>
    names.map((name) => Deno.env.get(name)).find((value) => value !== undefined && value !== "");
  const proxy = protocol === "https:"
    ? named("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    : named("http_proxy", "ALL_PROXY", "all_proxy");
  const exceptions = (named("NO_PROXY", "no_proxy") ?? "").split(",").map((item) => item.trim().replace(/^\*?\./, ""));
  return proxy !== undefined &&
    !exceptions.some((item) => item === "*" || item !== "" && (hostname === item || hostname.endsWith(`.${item}`)));
};

/** `host:port` or `:port`. */
export const parsedAddress = (
  address: string,
): Effect.Effect<{ readonly hostname: string; readonly port: number }, SettingsError> => {
  const [, host = "", port = ""] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  return port === "" || Number(port) > 65_535
    ? Effect.fail(
      new SettingsError({
        detail: `${address} is not a valid address; use for example :8080 or 127.0.0.1:8080, or 0 to disable it`,
      }),
    )
    : Effect.succeed({ hostname: host === "" ? "0.0.0.0" : host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) });
};
