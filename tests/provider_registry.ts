/** A registry without TLS in this process: images of external providers that have labels only, and that a test can change. */
import { digestOf } from "./cluster/protected_registry.ts";

export interface ProviderRegistry extends AsyncDisposable {
  readonly host: string;
  /** Labels by `repository:tag`; a test may set them anew, as a push would. */
  readonly images: Map<string, Readonly<Record<string, string>>>;
  /** Paths that clients have asked for. */
  readonly requests: ReadonlyArray<string>;
  /** `failing`: it answers 500, `silent`: not at all. */
  mode: "serving" | "failing" | "silent";
}

export const serveProviders = (): ProviderRegistry => {
  const images: ProviderRegistry["images"] = new Map();
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  const requests: string[] = [];
  const kept = async (document: unknown): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const digest = await digestOf(bytes);
    blobs.set(digest, bytes);
    return digest;
  };
  const abort = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: abort.signal },
    async ({ url }) => {
      const { pathname } = new URL(url);
      requests.push(pathname);
      if (registry.mode === "silent") return await new Promise<Response>(() => {});
      if (registry.mode === "failing") return new Response("", { status: 500 });
      const [, repository = "", name = ""] = /^\/v2\/(.+)\/(?:manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
      const labels = images.get(`${repository}:${name}`);
      const digest = labels === undefined ? name : await kept({
        config: { digest: await kept({ architecture: "amd64", os: "linux", config: { Labels: labels } }) },
        layers: [],
      });
      const body = blobs.get(digest);
      return body === undefined ? new Response("", { status: 404 }) : new Response(body);
    },
  );
  const registry: ProviderRegistry = {
    host: `127.0.0.1:${server.addr.port}`,
    images,
    requests,
    mode: "serving",
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await server.finished;
    },
  };
  return registry;
};
