/** Pushes an image that lies as a folder in the format of `docker save`, with labels added. Layers are streamed. */
import { join } from "node:path";
import type { JsonObject } from "../../core/data/json.ts";
import { sha256Of } from "../../tools/install/run_program.ts";
import { digestOf, OCI, pushTo, type Target } from "./protected_registry.ts";

interface Manifest {
  readonly Config: string;
  readonly Layers: ReadonlyArray<string>;
}

/** The digest of its manifest. */
export const pushArchive = async (
  target: Target,
  archive: string,
  repository: string,
  tag: string,
  labels: Readonly<Record<string, string>>,
): Promise<string> => {
  const [manifest] = JSON.parse(await Deno.readTextFile(join(archive, "manifest.json"))) as [Manifest];
  using pushing = await pushTo(target, repository);
  const layers = [];
  for (const name of manifest.Layers) {
    const path = join(archive, name);
    const digest = `sha256:${await sha256Of(path)}`;
    const { size } = await Deno.stat(path);
    using file = await Deno.open(path);
    await pushing.blob(digest, file.readable);
    layers.push({ mediaType: `${OCI}.layer.v1.tar+gzip`, digest, size });
  }
  const own = JSON.parse(await Deno.readTextFile(join(archive, manifest.Config))) as JsonObject;
  const text = new TextEncoder().encode(
    JSON.stringify({ ...own, config: { ...own.config as JsonObject, Labels: labels } }),
  );
  const config = { mediaType: `${OCI}.config.v1+json`, digest: await digestOf(text), size: text.length };
  await pushing.blob(config.digest, text);
  return (await pushing.manifest(tag, { config, layers }, `${OCI}.manifest.v1+json`)).digest;
};
