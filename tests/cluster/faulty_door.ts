/** A door between operator and API server that can be slammed: before or after a write, on watches, with errors. */
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { pause } from "../waiting.ts";

export interface Door {
  readonly url: string;
  /** Mutating requests that went through so far. */
  readonly writes: () => number;
  /** The same as `METHOD path`, in their order. */
  readonly written: () => ReadonlyArray<string>;
  /** Requests of any kind so far. */
  readonly requests: () => number;
  /** `Accept` headers of the reads so far, by path. */
  readonly accepted: () => ReadonlyMap<string, ReadonlySet<string>>;
  /** Lists and watches that asked for whole objects without a selector, by path. */
  readonly unselected: () => ReadonlyArray<string>;
  /** Ends what hangs, without an answer of the API server. */
  readonly endHanging: () => void;
  readonly close: () => Promise<void>;
}

export interface Faults {
  /** Called before the write of this number (from 1) is passed on, and after it was answered; a thrown error ends the connection. */
  readonly onWrite?: (number: number, moment: "before" | "after") => Promise<void> | void;
  /** Watches are cut after this many milliseconds. */
  readonly watchMs?: number;
  /** How they are cut: as the API server ends them, or as a broken connection does. */
  readonly cut?: "clean" | "broken";
  /** Lists are held up for this long, in milliseconds. */
  readonly listMs?: number;
  /** Whether the request is never answered; it ends with the door, or with whoever asks. */
  readonly hangs?: (method: string, path: string) => boolean;
  /** An answer instead of the API server's, for a request that this returns one for. */
  readonly instead?: (method: string, path: string) => Response | undefined;
}

export const openDoor = (cluster: ControlPlane, faults: Faults = {}): Door => {
  let writes = 0;
  const written: Array<string> = [];
  let requests = 0;
  const accepted = new Map<string, Set<string>>();
  const unselected = new Set<string>();
  let isClosed = false;
  // Whoever leaves the door, or closes it, ends what was asked for behind it.
  const upstream = new Set<AbortController>();
  const bodies = new Set<ReadableStreamDefaultReader<Uint8Array>>();
  // HTTP/1.1, as the operator's own watches: cut streams on one HTTP/2 connection hurt each other.
  const client = Deno.createHttpClient({ caCerts: [cluster.caPem], http2: false });
  const held = (body: ReadableStream<Uint8Array>) => {
    const reader = body.getReader();
    bodies.add(reader);
    return reader;
  };
  const hanging = new Set<() => void>();
  const hang = (signal: AbortSignal): Promise<Response> =>
    new Promise((resolve) => {
      const end = () => {
        hanging.delete(end);
        resolve(new Response(null, { status: 503 }));
      };
      hanging.add(end);
      signal.addEventListener("abort", end);
    });
  const handler = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const path = `${pathname}${search}`;
    requests++;
    const instead = faults.instead?.(request.method, path);
    if (instead !== undefined) return instead;
    if (faults.hangs?.(request.method, path) === true) return await hang(request.signal);
    const isWrite = request.method !== "GET";
    if (!isWrite) {
      const known = accepted.get(pathname) ?? new Set();
      const accept = request.headers.get("accept") ?? "";
      accepted.set(pathname, known.add(accept));
      if (!search.includes("Selector=") && !accept.includes("PartialObjectMetadata")) unselected.add(pathname);
    }
    const number = isWrite ? ++writes : 0;
    if (isWrite) {
      written.push(`${request.method} ${pathname}`);
      await faults.onWrite?.(number, "before");
    }
    const headers = new Headers(request.headers);
    headers.delete("host");
    // The compiled operator sends none to a door without TLS.
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${cluster.adminToken}`);
    const isWatch = search.includes("watch=1");
    const controller = new AbortController();
    upstream.add(controller);
    const body = isWrite ? await request.text() : undefined;
    if (!isWrite && !isWatch && faults.listMs !== undefined) await pause(faults.listMs);
    // Gone before the listener was there: nobody would end what is asked for now.
    if (isClosed || request.signal.aborted) return new Response(null, { status: 503 });
    request.signal.addEventListener("abort", () => controller.abort());
    const answer = await fetch(`${cluster.url}${path}`, {
      client,
      method: request.method,
      headers,
      signal: controller.signal,
      ...(body === undefined || body === "" ? {} : { body }),
    });
    if (isWrite) {
      const text = await answer.text();
      await faults.onWrite?.(number, "after");
      return new Response(text, { status: answer.status, headers: { "content-type": "application/json" } });
    }
    if (!isWatch) {
      return new Response(await answer.text(), {
        status: answer.status,
        headers: { "content-type": "application/json" },
      });
    }
    return new Response(answer.body === null ? null : cut(held(answer.body), faults, controller), {
      status: answer.status,
    });
  };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: () => new Response(null, { status: 502 }),
  }, handler);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    writes: () => writes,
    written: () => written,
    requests: () => requests,
    accepted: () => accepted,
    unselected: () => [...unselected],
    endHanging: () => {
      for (const end of hanging) end();
    },
    close: async () => {
      isClosed = true;
      for (const end of hanging) end();
      // An answer that arrived in the moment of its abort is open all the same, so that both are needed.
      for (const reader of bodies) await reader.cancel().catch(() => {});
      for (const controller of upstream) controller.abort();
      await server.shutdown();
      client.close();
    },
  };
};

/** The stream until it has lived for `afterMs`; a reader that leaves ends the request behind it. */
const cut = (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { watchMs: afterMs, cut: how = "clean" }: Faults,
  upstream: AbortController,
): ReadableStream<Uint8Array> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
    upstream.abort();
  };
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (afterMs !== undefined) {
        timer = setTimeout(() => {
          end();
          try {
            if (how === "clean") controller.close();
            else controller.error(new Error("cut"));
          } catch {
            // Closed already: the reader was faster.
          }
        }, afterMs);
      }
    },
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          clearTimeout(timer);
          controller.close();
        } else controller.enqueue(value);
      } catch {
        clearTimeout(timer);
        try {
          controller.close();
        } catch {
          // Closed by the timer.
        }
      }
    },
    cancel: end,
  });
};
