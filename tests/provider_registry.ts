/** A registry without TLS in this process: images of external providers that have labels only, and that a test can change. */
import { digestOf } from "./cluster/protected_registry.ts";

export interface ProviderRegistry extends AsyncDisposable {
  readonly host: string;
  /** Labels by `repository:tag`; a test may set them anew, as a push would. */
  readonly images: Map<string, Readonly<Record<string, string>>>;
  /** The same for indexes: labels by architecture. */
  readonly indexes: Map<string, Readonly<Record<string, Readonly<Record<string, string>>>>>;
  /** Paths that clients have asked for. */
  readonly requests: ReadonlyArray<string>;
  /** `failing`: it answers 500, `silent`: not at all. */
  mode: "serving" | "failing" | "silent";
}

export const serveProviders = (): ProviderRegistry => {
  const images: ProviderRegistry["images"] = new Map();
  const indexes: ProviderRegistry["indexes"] = new Map();
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  const requests: string[] = [];
  const kept = async (document: unknown): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const digest = await digestOf(bytes);
    blobs.set(digest, bytes);
    return digest;
  };
  const image = async (architecture: string, labels: Readonly<Record<string, string>>): Promise<string> => {
    const config = { digest: await kept({ architecture, os: "linux", config: { Labels: labels } }) };
    return await kept({ config, layers: [] });
  };
  const index = async (of: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<string> => {
    const manifests = Object.entries(of).map(async ([architecture, labels]) => ({
      digest: await image(architecture, labels),
      platform: { os: "linux", architecture },
    }));
    return await kept({ manifests: await Promise.all(manifests) });
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
      const tag = `${repository}:${name}`;
      const [labels, platforms] = [images.get(tag), indexes.get(tag)];
      const digest = labels !== undefined
        ? await image("amd64", labels)
        : platforms !== undefined
        ? await index(platforms)
        : name;
      const body = blobs.get(digest);
      return body === undefined ? new Response("", { status: 404 }) : new Response(body);
    },
  );
  const registry: ProviderRegistry = {
    host: `127.0.0.1:${server.addr.port}`,
    images,
    indexes,
    requests,
    mode: "serving",
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await server.finished;
    },
  };
  return registry;
};
