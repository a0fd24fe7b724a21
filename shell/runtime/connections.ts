/**
 * Limits the connections of a listener, such that a client with many connections does not block others: at the limit, a
 * new connection replaces the least useful one. node:http would reject the new one (`maxConnections`), and checks its
 * own timeouts only every 30 seconds.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  FRESH_CONNECTION_MS,
  HANDSHAKE_MS,
  IDLE_CONNECTIONS_PER_ADDRESS_MAX,
  PROVEN_ADDRESSES_MAX,
} from "../limits.ts";

/**
 * Of every listener with TLS. The runtime keeps 5 KiB of each connection that ends without a handshake until that would have timed
 * out, after two minutes if nothing is said: a flood of them would fill the heap.
 */
export const TLS_SETTINGS = { minVersion: "TLSv1.2", handshakeTimeout: HANDSHAKE_MS } as const;

export interface ConnectionBounds {
  /** Connections at the same time. */
  readonly max: number;
  /** How long a caller may take for the headers of its first request, and for the body of each, in milliseconds. */
  readonly headersMs: number;
  readonly bodyMs: number;
  /** How long a connection may be idle between two requests, in milliseconds. */
  readonly idleMs: number;
  /** Connections on which a request is on its way, of addresses that have not shown to be the API server; undefined: any number. */
  readonly receiving?: () => { readonly max: number; readonly perAddress: number } | undefined;
}

export interface Connections {
  /** To be called once a request is whole, and with whether its caller has shown to be the API server. */
  readonly asked: (request: IncomingMessage, isProven: boolean) => void;
  readonly count: () => number;
  /** Ends all of them. */
  readonly end: () => void;
}

/** Fresh: no whole request came yet. */
type State = "fresh" | "idle" | "receiving" | "answering";

interface Connection {
  readonly name: string;
  readonly address: string;
  readonly openedMs: number;
  /** With TLS there are two: that of the network, and the one within. */
  readonly sockets: Array<Pick<Socket, "destroy">>;
  state: State;
  isProven: boolean;
  /** A request was not answered yet. */
  isAsked: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export const boundConnections = (server: Server, bounds: ConnectionBounds): Connections => {
  const open = new Map<string, Connection>();
  // Each in the order of arrival: the first one has been there for the longest time.
  const lines = new Map<string, Set<Connection>>();
  const oldest = (line: string): Connection | undefined => lines.get(line)?.values().next().value;
  const leave = (connection: Connection): void => {
    clearTimeout(connection.timer);
    for (const name of queueNamesOf(connection)) {
      const line = lines.get(name);
      line?.delete(connection);
      if (line?.size === 0) lines.delete(name);
    }
  };
  /** Into a state, in which it may stay for `ms`. */
  const enter = (connection: Connection, state: State, ms: number | undefined): void => {
    leave(connection);
    connection.state = state;
    for (const name of queueNamesOf(connection)) lines.set(name, (lines.get(name) ?? new Set()).add(connection));
    connection.timer = ms === undefined ? undefined : setTimeout(() => end(connection), ms);
  };
  const forget = (connection: Connection): void => {
    leave(connection);
    if (open.get(connection.name) === connection) open.delete(connection.name);
  };
  const end = (connection: Connection): void => {
    forget(connection);
    for (const socket of connection.sockets) socket.destroy();
  };
  /** The least useful connection; undefined if the API server waits for a response on each. */
  const leastMissed = (): Connection | undefined => {
    const fresh = oldest("fresh");
    // A new connection is about to send a request: a flood of further ones must not close it at once.
    if (fresh !== undefined && performance.now() - fresh.openedMs >= FRESH_CONNECTION_MS) return fresh;
    return oldest("idle") ?? fresh ?? oldest("receiving") ?? oldest("answering") ?? oldest("idle, proven");
  };

  // Addresses from which the API server has asked, the latest last.
  const proven = new Set<string>();
  /**
   * Makes room for a new connection of this address: one of the same address gives way, or else one of the address that has the
   * most. Within the runtime each takes several times the memory of what it sends, before anybody sees a byte of it.
   */
  const makeRoom = (address: string): boolean => {
    const most = bounds.receiving?.();
    if (most === undefined || proven.has(address)) return true;
    const own = lines.get(receivingAt(address));
    if ((lines.get(RECEIVING)?.size ?? 0) < most.max && (own?.size ?? 0) < most.perAddress) return true;
    const places = [...lines].filter(([name]) => name.startsWith(RECEIVING_AT));
    const largest = places.reduce((max, [, line]) => line.size > max.size ? line : max, new Set<Connection>());
    const [other] = own !== undefined && own.size >= Math.min(largest.size, most.perAddress) ? own : largest;
    if (other !== undefined) end(other);
    return other !== undefined;
  };

  server.on("connection", (socket: Socket) => {
    if (!makeRoom(socket.remoteAddress ?? "")) return void socket.destroy();
    if (open.size >= bounds.max) {
      const other = leastMissed();
      if (other === undefined) return void socket.destroy();
      end(other);
    }
    const connection: Connection = {
      name: nameOf(socket),
      address: socket.remoteAddress ?? "",
      openedMs: performance.now(),
      sockets: [socket],
      state: "fresh",
      isProven: false,
      isAsked: false,
      timer: undefined,
    };
    open.set(connection.name, connection);
    enter(connection, "fresh", bounds.headersMs);
    socket.once("close", () => forget(connection));
  });
  server.on("secureConnection", (socket: Socket) => {
    const connection = open.get(nameOf(socket));
    if (connection === undefined) return void socket.destroy();
    connection.sockets.push(socket);
    socket.once("close", () => forget(connection));
  });
  // Runs before the request handler, and records when the request is complete.
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(nameOf(request.socket));
    if (connection === undefined) return;
    // No caller of the operator sends a request before it has read the last answer. The runtime would answer without bound
    // for one that never reads, and keep all of it.
    if (connection.isAsked || request.socket.writableLength > 0) return end(connection);
    connection.isAsked = true;
    enter(connection, connection.state === "fresh" ? "fresh" : "receiving", bounds.bodyMs);
    response.once("close", () => {
      connection.isAsked = false;
      if (open.get(connection.name) !== connection) return;
      enter(connection, "idle", bounds.idleMs);
      const line = lines.get(idleAt(connection.address));
      if (!connection.isProven && line !== undefined && line.size > IDLE_CONNECTIONS_PER_ADDRESS_MAX) {
        end(line.values().next().value ?? connection);
      }
    });
  });

  return {
    asked: (request, isProven) => {
      const connection = open.get(nameOf(request.socket));
      if (connection === undefined) return;
      leave(connection);
      connection.isProven ||= isProven;
      if (isProven) {
        proven.delete(connection.address);
        proven.add(connection.address);
        const [first] = proven;
        if (proven.size > PROVEN_ADDRESSES_MAX && first !== undefined) proven.delete(first);
      }
      enter(connection, "answering", undefined);
    },
    count: () => open.size,
    end: () => [...open.values()].forEach(end),
  };
};

/** The queues of a connection. */
const queueNamesOf = ({ state, isProven, address }: Connection): ReadonlyArray<string> => {
  if (isProven) return [`${state}, proven`];
  if (state === "idle") return [state, idleAt(address)];
  return state === "answering" ? [state] : [state, RECEIVING, receivingAt(address)];
};

const RECEIVING = "fresh or receiving";

const RECEIVING_AT = `${RECEIVING} at `;

const receivingAt = (address: string): string => `${RECEIVING_AT}${address}`;

const idleAt = (address: string): string => `idle at ${address}`;

/** The two sockets of a connection with TLS are other objects. */
const nameOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`;
