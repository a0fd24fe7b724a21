/**
 * Requests to registries that tenants have named: never to an address that the operator can reach and they must not. The
 * address is looked up once, judged, and used for the connection, so that a second answer of the DNS changes nothing.
 */
import type { IncomingMessage } from "node:http";
import { PUBLIC_AUTHORITIES } from "../../core/config/mounted_files.ts";
import { foreignResponse } from "../runtime/foreign_response.ts";
import { canonicalAddress, isInternal } from "../../core/image/internal_address.ts";
import { AddressNotAllowed, RegistryUnreachable } from "../../core/image/registry_failure.ts";
import type { Registries } from "../../core/operator/registries.ts";
import { isProxied } from "../runtime/settings.ts";

/** One request without a redirect. */
export type Send = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Response>;

export interface Guard {
  readonly registries: Pick<Registries, "plainHttp" | "internal">;
  /** PEM of authorities to trust beside the public ones; empty: none. */
  readonly authorities: string;
  /** Hosts of the API server; nothing is sent to their addresses. */
  readonly forbidden: ReadonlyArray<string>;
  /** Canonical addresses of API servers and nodes. */
  readonly taken: ReadonlySet<string>;
}

export const guardedFetch = (guard: Guard): Send => async (url, headers, signal) => {
  if (url.protocol === "http:" && !isListed(guard.registries.plainHttp, url.href)) {
    throw new AddressNotAllowed({
      host: url.host,
      detail: "it is asked without TLS",
      isOfCluster: false,
      setting: "registries.plainHttp",
    });
  }
  if (!isProxied(url)) {
    return await direct(url, headers, { addresses: await judged(url, guard, signal), guard, signal });
  }
  await judged(url, guard, signal).catch((cause) => {
    // Where a proxy is needed, names outside of the cluster often have no address inside.
    if (!(cause instanceof RegistryUnreachable)) throw cause;
  });
  return await throughProxy(url, headers, guard, signal);
};

/** Whether the host of a URL is in a list of a setting, however both are written. */
export const isListed = (hosts: ReadonlyArray<string>, url: string): boolean => {
  const asked = URL.parse(url);
  return asked !== null && hosts.some((host) => URL.parse(`${asked.protocol}//${host}`)?.host === asked.host);
};

/** The addresses of the host, all of them allowed. */
const judged = async (url: URL, { registries, forbidden, taken }: Guard, signal: AbortSignal) => {
  const addresses = await addressesOf(url.hostname, signal);
  if (isListed(registries.internal, url.href)) return addresses;
  const servers = await Promise.all(forbidden.map((host) => addressesOf(host, signal).catch(() => [])));
  const own = new Set(servers.flat().map(({ address }) => canonicalAddress(address)));
  const refused = (detail: string, isOfCluster: boolean) =>
    new AddressNotAllowed({ host: url.host, detail, isOfCluster, setting: "registries.internal" });
  if (addresses.some(({ address }) => isInternal(address))) {
    throw refused("its address is loopback, link-local or reserved", false);
  }
  if (addresses.some(({ address }) => own.has(canonicalAddress(address)) || taken.has(canonicalAddress(address)))) {
    throw refused("its address is that of an API server or node", true);
  }
  return addresses;
};

interface Address {
  readonly address: string;
  readonly family: number;
}

/** As every program of the system resolves it. */
const addressesOf = async (hostname: string, signal: AbortSignal): Promise<ReadonlyArray<Address>> => {
  const { lookup } = await import("node:dns/promises");
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  signal.throwIfAborted();
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), stopped]);
    if (found.length === 0) throw new Error("no address");
    return found;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new RegistryUnreachable({ host: hostname, detail: "its name has no address" });
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/**
 * The public ones are those of the image or the machine: the runtime has none (shell/kubernetes/trusted_authorities.ts), and
 * the API server is reached by another client.
 */
const authoritiesOf = async (own: string): Promise<string[]> => {
  for (const file of PUBLIC_AUTHORITIES) {
    const text = await Deno.readTextFile(file).catch(() => undefined);
    if (text !== undefined) return own === "" ? [text] : [text, own];
  }
  return own === "" ? [] : [own];
};

interface Way {
  readonly addresses: ReadonlyArray<Address>;
  readonly guard: Guard;
  readonly signal: AbortSignal;
}

/** Deno's fetch resolves names itself; Node's client takes the addresses that were judged. */
const direct = async (
  url: URL,
  headers: Readonly<Record<string, string>>,
  { addresses, guard, signal }: Way,
): Promise<Response> => {
  const lookup = (
    _host: string,
    { all }: { readonly all?: boolean },
    done: (error: null, found: string | ReadonlyArray<Address>, family?: number) => void,
  ) => {
    const [first] = addresses;
    if (all === true) done(null, addresses);
    else done(null, first?.address ?? "", first?.family);
  };
  const ca = url.protocol === "https:" ? await authoritiesOf(guard.authorities) : [];
  return await foreignResponse(url, { headers, signal, ca, lookup: lookup as never }, headersOf);
};

/** Only those that the client of registries reads. */
const headersOf = ({ headers }: IncomingMessage): Headers => {
  const found = new Headers();
  for (const name of ["location", "www-authenticate", "retry-after"]) {
    const value = headers[name];
    if (value !== undefined) found.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return found;
};

/** The proxy of the environment makes the connection, to where it resolves the name. */
const throughProxy = async (
  url: URL,
  headers: Readonly<Record<string, string>>,
  guard: Guard,
  signal: AbortSignal,
): Promise<Response> => {
  const client = Deno.createHttpClient({ caCerts: await authoritiesOf(guard.authorities), poolMaxIdlePerHost: 0 });
  try {
    return await fetch(url, { client, headers, signal, redirect: "manual" });
  } finally {
    client.close();
  }
};
