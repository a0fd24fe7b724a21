/** What the process answers to the kubelet and to Prometheus. */
import { Duration, Effect } from "effect";
import { LISTENER_CLOSE_MS } from "./limits.ts";
import { metricsText } from "./metrics.ts";
import { SettingsError } from "./settings.ts";

/** Both listeners until the scope is closed. */
export const serveHealth = Effect.fnUntraced(
  function* (
    { healthAddress, metricsAddress, isReady }: {
      /** `host:port`, `:port`, or `0` for none. */
      readonly healthAddress: string;
      readonly metricsAddress: string;
      readonly isReady: () => boolean;
    },
  ) {
    yield* listen(healthAddress, {
      // That it answers is the answer.
      "/livez": Effect.sync(() => plain("ok", 200)),
      "/readyz": Effect.sync(() => isReady() ? plain("ok", 200) : plain("the API server was not reached yet", 503)),
    });
    yield* listen(metricsAddress, { "/metrics": Effect.map(metricsText, (text) => plain(text, 200)) });
  },
);

const plain = (text: string, status: number): Response =>
  new Response(text, { status, headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });

const listen = Effect.fnUntraced(
  function* (address: string, routes: Readonly<Record<string, Effect.Effect<Response>>>) {
    if (address === "0") return;
    const { hostname, port } = yield* parsedAddress(address);
    const context = yield* Effect.context();
    yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          Deno.serve({ hostname, port, onListen: () => {} }, (request) => {
            const path = new URL(request.url).pathname;
            const answer = Object.hasOwn(routes, path) ? routes[path] : undefined;
            return answer === undefined
              ? plain(`try ${Object.keys(routes).join(", ")}`, 404)
              : Effect.runPromiseWith(context)(answer);
          }),
        catch: (cause) => new SettingsError({ detail: `cannot listen on ${address}: ${String(cause)}` }),
      }),
      (server) =>
        // A client that never ends its request must not hold up the end of the process.
        Effect.promise(() => server.shutdown()).pipe(Effect.timeoutOption(Duration.millis(LISTENER_CLOSE_MS))),
    );
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ address, paths: Object.keys(routes).join(" ") }));
  },
);

/** `host:port` or `:port`. */
export const parsedAddress = (
  address: string,
): Effect.Effect<{ readonly hostname: string; readonly port: number }, SettingsError> => {
  const [, host = "", port = ""] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  return port === "" || Number(port) > 65_535
    ? Effect.fail(new SettingsError({ detail: `${address} is no address such as :8080, 127.0.0.1:8080 or 0 for none` }))
    : Effect.succeed({ hostname: host === "" ? "0.0.0.0" : host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) });
};
