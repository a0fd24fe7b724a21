/**
 * A response of a server that somebody else controls, such as a registry or the pod of a tenant. Node's client is used: Deno's fetch
 * reads any number of interim responses (1xx) on the main thread, and cannot be told which address to connect to.
 */
import type { IncomingMessage, RequestOptions } from "node:http";
import { INTERIM_RESPONSES_MAX } from "../limits.ts";

export interface ForeignRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** PEM texts, for https. */
  readonly ca?: ReadonlyArray<string>;
  readonly lookup?: NonNullable<RequestOptions["lookup"]>;
}

/** Redirects are not followed. `headersOf` selects the headers that are read. Rejects with the reason of the signal, or an Error. */
export const foreignResponse = async (
  url: URL,
  { headers, signal, ca = [], lookup }: ForeignRequest,
  headersOf: (message: IncomingMessage) => Headers = () => new Headers(),
): Promise<Response> => {
  const secure = url.protocol === "https:";
  // The object and not its function, so that a test can see every request.
  const [{ default: client }, { Readable }] = await Promise.all([
    secure ? import("node:https") : import("node:http"),
    import("node:stream"),
  ]);
  return await new Promise<Response>((resolve, reject) => {
    const options = {
      method: "GET",
      headers: { ...headers },
      agent: false,
      signal,
      ...(lookup === undefined ? {} : { lookup }),
      ...(secure ? { ca: [...ca] } : {}),
    };
    const sent = client.request(url, options, (message: IncomingMessage) => {
      const status = message.statusCode ?? 0;
      if (status < 200 || status > 599) return void sent.destroy(new Error(`status ${status}`));
      const withoutBody = [204, 205, 304].includes(status);
      if (withoutBody) message.resume();
      resolve(
        new Response(withoutBody ? null : Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>, {
          status,
          headers: headersOf(message),
        }),
      );
    });
    // A flood of them would keep the program busy for as long as a request may take.
    let interim = 0;
    const count = () => {
      if (++interim > INTERIM_RESPONSES_MAX) sent.destroy(new Error("too many interim responses"));
    };
    sent.on("information", count).on("continue", count);
    // Nobody takes over a connection with another protocol; the client of Node then ends without an error.
    sent.on(
      "close",
      () => reject(signal.aborted ? signal.reason : new Error("the connection was closed without a response")),
    );
    sent.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    sent.end();
  });
};
