/** A registry without TLS in this process, which has one index under every name: an image for each architecture. */

export interface IndexServer extends AsyncDisposable {
  readonly host: string;
  /** Paths that clients have asked for. */
  readonly requests: ReadonlyArray<string>;
}

/** `labels`: of each architecture. */
export const serveIndex = async (
  labels: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<IndexServer> => {
  const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
  const kept = async (document: unknown): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const digest = `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
    bodies.set(digest, bytes);
    return digest;
  };
  const manifests = [];
  for (const [architecture, Labels] of Object.entries(labels)) {
    const config = await kept({ architecture, os: "linux", config: { Labels } });
    const digest = await kept({ config: { digest: config }, layers: [] });
    manifests.push({ digest, platform: { os: "linux", architecture } });
  }
  const index = bodies.get(await kept({ manifests }));
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const { pathname } = new URL(url);
    requests.push(pathname);
    const name = pathname.slice(pathname.lastIndexOf("/") + 1);
    const body = name.startsWith("sha256:") ? bodies.get(name) : index;
    return body === undefined ? new Response("", { status: 404 }) : new Response(body);
  });
  return {
    host: `127.0.0.1:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
};
