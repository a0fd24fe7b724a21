/**
 * Credentials from a program that the kubeconfig names, as EKS, GKE and AKS require.
 *
 * Source: client.authentication.k8s.io/v1, "client-go credential plugins" in the Kubernetes documentation.
 */
import { CREDENTIAL_RENEWED_BEFORE_MS } from "../limits.ts";
import { type Json, listAt, objectAt, stringAt } from "../../core/data/json.ts";

/** The response of a plugin; either part may be missing. */
export interface Credential {
  readonly token: string | undefined;
  /** PEM. */
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  /** Milliseconds since 1970; undefined: good until the program ends. */
  readonly expiresAtMs: number | undefined;
}

/**
 * Runs the plugin when a credential is needed and none is valid. `exec` is that part of a kubeconfig's user, `folder`
 * the directory of the kubeconfig with a trailing slash, to which a command with a path is relative.
 *
 * Throws an Error whose message explains the problem with the plugin and how to fix it.
 */
export const credentialPlugin = (exec: Json, folder: string, nowMs: () => number = Date.now): () => Credential => {
  let last: Credential | undefined;
  return () => {
    const endsMs = last?.expiresAtMs;
    if (last === undefined || (endsMs !== undefined && nowMs() >= endsMs - CREDENTIAL_RENEWED_BEFORE_MS)) {
      last = ask(exec, folder);
    }
    return last;
  };
};

const ask = (exec: Json, folder: string): Credential => {
  const command = stringAt(exec, "command") ?? "";
  const apiVersion = stringAt(exec, "apiVersion") ?? "client.authentication.k8s.io/v1";
  const hint = stringAt(exec, "installHint");
  const failed = (what: string) =>
    new Error(`credential plugin "${command}" of the kubeconfig ${what}${hint === undefined ? "" : `. ${hint}`}`);
  const answer = started(command, exec, apiVersion, folder, failed);
  // Its own output is on standard error; it may contain confidential text, so it is not quoted.
  if (!answer.success) throw failed(`ended with exit code ${answer.code}`);
  const status = objectAt(parsed(answer.stdout), "status");
  const [token, cert, key] = ["token", "clientCertificateData", "clientKeyData"].map((name) => stringAt(status, name));
  if (token === undefined && (cert === undefined || key === undefined)) {
    throw failed("returned neither a token nor a client certificate with its key");
  }
  const expiresAtMs = Date.parse(stringAt(status, "expirationTimestamp") ?? "");
  return {
    token,
    clientCertificate: cert === undefined || key === undefined ? undefined : { cert, key },
    expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs,
  };
};

const started = (
  command: string,
  exec: Json,
  apiVersion: string,
  folder: string,
  failed: (what: string) => Error,
): Deno.CommandOutput => {
  const isRelative = command.includes("/") && !command.startsWith("/");
  try {
    return new Deno.Command(isRelative ? `${folder}${command}` : command, {
      args: listAt(exec, "args").map(String),
      env: {
        ...Object.fromEntries(
          listAt(exec, "env").map((value) => [stringAt(value, "name") ?? "", stringAt(value, "value") ?? ""]),
        ),
        KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } }),
      },
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).outputSync();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) throw failed("is not installed, or not on the PATH");
    if (cause instanceof Deno.errors.NotCapable) {
      throw failed(
        "cannot be started by the operator, only by its other commands; use a kubeconfig with a token (kubectl create token)",
      );
    }
    throw failed(`cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
};

const parsed = (output: Uint8Array): Json => {
  try {
    return JSON.parse(new TextDecoder().decode(output)) as Json;
  } catch {
    return null;
  }
};
