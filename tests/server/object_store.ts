/** A store on loopback that takes what an S3 client sends, whatever its signature, and remembers who signed. */
export interface ObjectStore {
  readonly endpoint: string;
  /** By bucket and key, e.g. `bucket/file-1`. */
  readonly objects: ReadonlyMap<string, string>;
  /** Access keys of the requests so far. */
  readonly accessKeys: ReadonlySet<string>;
  stop(): Promise<void>;
}

export const startObjectStore = (): ObjectStore => {
  const objects = new Map<string, string>();
  const accessKeys = new Set<string>();
  const answer = async (request: Request): Promise<Response> => {
    const path = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const signer = /Credential=([^/]+)\//.exec(request.headers.get("authorization") ?? "")?.[1];
    if (signer === undefined) return new Response("unsigned", { status: 403 });
    accessKeys.add(signer);
    const isBucket = !path.includes("/");
    const body = await request.text();
    switch (request.method) {
      case "PUT":
        if (!isBucket) objects.set(path, body);
        return new Response(null, { headers: { etag: '"1"' } });
      case "DELETE":
        objects.delete(path);
        return new Response(null, { status: 204 });
      default: {
        const found = isBucket ? "" : objects.get(path);
        return found === undefined ? new Response(null, { status: 404 }) : new Response(found);
      }
    }
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    objects,
    accessKeys,
    stop: () => server.shutdown(),
  };
};
