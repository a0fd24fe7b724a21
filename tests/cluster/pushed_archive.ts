/** Pushes an image that lies as a folder in the format of `docker save`, with labels added. Layers are streamed. */
import { join } from "node:path";
import type { JsonObject } from "../../core/data/json.ts";
import { sha256Of } from "../../tools/install/run_program.ts";
import { digestOf, type Target } from "./protected_registry.ts";

interface Manifest {
  readonly Config: string;
  readonly Layers: ReadonlyArray<string>;
}

const OCI = "application/vnd.oci.image";

/** The digest of its manifest. */
export const pushArchive = async (
  { host, authority, authorization }: Target,
  archive: string,
  repository: string,
  tag: string,
  labels: Readonly<Record<string, string>>,
): Promise<string> => {
  const [manifest] = JSON.parse(await Deno.readTextFile(join(archive, "manifest.json"))) as [Manifest];
  const client = Deno.createHttpClient({ caCerts: [authority] });
  const base = `https://${host}/v2/${repository}`;
  const headers = { authorization: await authorization(repository), "user-agent": "Deno/push" };
  const send = async (method: string, url: string, body?: BodyInit, type = "application/octet-stream") => {
    const response = await fetch(url, {
      client,
      method,
      headers: { ...headers, "content-type": type },
      ...(body === undefined ? {} : { body }),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`);
    return response.headers.get("location") ?? "";
  };
  const put = async (digest: string, size: number, body: BodyInit, kind: string) => {
    const place = new URL(await send("POST", `${base}/blobs/uploads/`), base);
    place.searchParams.set("digest", digest);
    await send("PUT", place.href, body);
    return { mediaType: `${OCI}.${kind}`, digest, size };
  };
  try {
    const layers = [];
    for (const name of manifest.Layers) {
      const path = join(archive, name);
      const { size } = await Deno.stat(path);
      using file = await Deno.open(path);
      layers.push(await put(`sha256:${await sha256Of(path)}`, size, file.readable, "layer.v1.tar+gzip"));
    }
    const own = JSON.parse(await Deno.readTextFile(join(archive, manifest.Config))) as JsonObject;
    const text = new TextEncoder().encode(
      JSON.stringify({ ...own, config: { ...own.config as JsonObject, Labels: labels } }),
    );
    const config = await put(await digestOf(text), text.length, text, "config.v1+json");
    const type = `${OCI}.manifest.v1+json`;
    const bytes = new TextEncoder().encode(JSON.stringify({ schemaVersion: 2, mediaType: type, config, layers }));
    await send("PUT", `${base}/manifests/${tag}`, bytes, type);
    return await digestOf(bytes);
  } finally {
    client.close();
  }
};
