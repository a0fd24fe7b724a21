/**
 * The certificate authorities that this process trusts. Deno adds the CA of a client to the root certificates of the
 * process, so that any of those could vouch for the API server. They are read once, when the first client is created,
 * as the environment specifies then (Deno 2.9.6): the program makes Deno load an empty set before it connects to
 * anything.
 */
import type { Connection } from "./cluster.ts";
import { SettingsError } from "../runtime/settings.ts";
import { connectionOf } from "./kubeconfig.ts";

/** Where Deno finds root certificates: names of stores, and files that add to them. */
const STORES = "DENO_TLS_CA_STORE";
const FILES = ["DENO_CERT", "NODE_EXTRA_CA_CERTS"] as const;

/** The store that Deno uses if none is named. */
const DEFAULT_STORE = "mozilla";

/** A connection whose CA, if it has one, is from now on the only one that clients of this process trust. */
export const exclusiveConnectionOf = (kubeconfig: string | undefined, context: string | undefined): Connection => {
  const connection = connectionOf(kubeconfig, context);
  if (connection.caPem() === undefined) {
    trustDefaultRootCertificates();
  } else if (!trustNoRootCertificates()) {
    throw new SettingsError({
      detail:
        "Deno loaded root certificates before the program started, because it downloaded modules or checked for a new " +
        "version; the CA of the cluster would not be the only trusted one. Run the command again with " +
        "DENO_NO_UPDATE_CHECK=1 in its environment",
    });
  }
  return connection;
};

/**
 * From now on a client trusts the CA that it is given and no other. False if root certificates were read before. Afterwards
 * the environment is as it was, for the programs that this one starts.
 */
const trustNoRootCertificates = (): boolean => {
  const before = [STORES, ...FILES].map((name) => [name, Deno.env.get(name)] as const);
  const isEmpty = before.every(([name, value]) => name === STORES ? isNoStore(value) : (value ?? "") === "");
  const wasUnread = readAsEmpty();
  for (const [name, value] of before) set(name, value);
  return wasUnread || isEmpty;
};

/** For a cluster that names no CA: the image starts the program without root certificates. */
const trustDefaultRootCertificates = (): void => {
  if (isNoStore(Deno.env.get(STORES))) set(STORES, DEFAULT_STORE);
};

const isNoStore = (value: string | undefined): boolean => value !== undefined && value.replace(/[\s,]/g, "") === "";

/**
 * An unknown store is an error, unless root certificates were loaded before: then its name is ignored. A compiled program
 * must not try that, because its runtime keeps the first error; nothing in it reads them before the program.
 */
const readAsEmpty = (): boolean => {
  for (const name of FILES) set(name, undefined);
  if (Deno.build.standalone) {
    set(STORES, "");
    Deno.createHttpClient({}).close();
    return true;
  }
  set(STORES, "unknown");
  try {
    Deno.createHttpClient({}).close();
    return false;
  } catch {
    set(STORES, "");
    Deno.createHttpClient({}).close();
    return true;
  }
};

const set = (name: string, value: string | undefined): void => {
  if (value === undefined) Deno.env.delete(name);
  else Deno.env.set(name, value);
};
