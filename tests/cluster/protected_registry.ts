/** Debian's registry with TLS of its own authority and passwords, and images that are pushed to it piece by piece. */
import { join } from "node:path";
import { type BackgroundProcess, startInBackground, waitUntilReady } from "../../tools/cluster/background_process.ts";
import { freePorts } from "../../tools/cluster/free_ports.ts";
import { installProgram } from "../../tools/install/debian_packages.ts";
import { must } from "../../tools/install/run_program.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { pause } from "../waiting.ts";

export interface ProtectedRegistry extends Target {
  readonly username: string;
  readonly password: string;
  /** Paths that clients have asked for, without those of pushes. */
  readonly requests: () => Promise<ReadonlyArray<string>>;
  readonly stop: () => Promise<void>;
  /** Again, on the same port and with the same images. */
  readonly start: () => Promise<void>;
}

/** Who may read, and push. */
export const NAME = { username: "reader", password: "canary-of-a-registry" };

export const startProtectedRegistry = async (folder: string, address = "127.0.0.1"): Promise<ProtectedRegistry> => {
  const program = await installProgram("docker-registry", ["docker-registry"]);
  const htpasswd = await installProgram("htpasswd", ["apache2-utils"]);
  await Deno.mkdir(folder, { recursive: true });
  const { certificateFile, keyFile, caFile } = await makeServerCertificate(folder, [address]);
  const passwords = join(folder, "htpasswd");
  await Deno.writeTextFile(passwords, await must(htpasswd, ["-Bbn", NAME.username, NAME.password]));
  const [port] = freePorts(1) as [number];
  const host = `${address}:${port}`;
  const config = join(folder, "registry.yaml");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: join(folder, "data") } },
      http: { addr: host, tls: { certificate: certificateFile, key: keyFile } },
      auth: { htpasswd: { realm: "test", path: passwords } },
    }),
  );
  const logFile = join(folder, "registry.log");
  const authority = await Deno.readTextFile(caFile);
  let process: BackgroundProcess | undefined;
  const start = async () => {
    const started = await startInBackground({
      command: [program, "serve", config],
      env: { OTEL_TRACES_EXPORTER: "none" },
      logFile,
      stopWithinMs: 5_000,
    });
    process = started;
    await registryAnswers(started, host, authority, (status) => status === 401);
  };
  await start();
  return {
    host,
    authority,
    ...NAME,
    authorization: () => Promise.resolve(`Basic ${btoa(`${NAME.username}:${NAME.password}`)}`),
    requests: async () =>
      [...(await Deno.readTextFile(logFile)).matchAll(
        /"(?:GET|HEAD) (\/v2\/\S+) HTTP[^"]*" \d+ \d+ "[^"]*" "([^"]*)"/g,
      )]
        .flatMap(([, path = "", agent = ""]) => agent.startsWith("Deno/") ? [] : [path]),
    stop: async () => void await process?.stop(),
    start,
  };
};

/** Where images are pushed. */
export interface Target {
  readonly host: string;
  /** PEM. */
  readonly authority: string;
  /** The header that allows to push to a repository. */
  readonly authorization: (repository: string) => Promise<string>;
}

/** Fails with the log of the registry if it does not answer in time. */
export const registryAnswers = async (
  process: BackgroundProcess,
  host: string,
  authority: string,
  isUp: (status: number) => boolean,
): Promise<void> => {
  const client = Deno.createHttpClient({ caCerts: [authority] });
  const answers = async () => {
    const response = await fetch(`https://${host}/v2/`, { client }).catch(() => undefined);
    await response?.body?.cancel();
    return response !== undefined && isUp(response.status);
  };
  const isReady = await waitUntilReady(process, answers, 20_000);
  client.close();
  if (!isReady) throw new Error(`the registry does not answer:\n${await process.log()}`);
};

export interface ImagePart {
  readonly architecture: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Layers as the registry has them. */
  readonly layers?: ReadonlyArray<Uint8Array<ArrayBuffer>>;
}

const BUSY_MS = 300;

export const OCI = "application/vnd.oci.image";

export interface Pushing extends Disposable {
  readonly blob: (digest: string, body: BodyInit) => Promise<void>;
  /** Under a name, or without one under its digest. */
  readonly manifest: (
    name: string | undefined,
    document: Readonly<Record<string, unknown>>,
    mediaType: string,
  ) => Promise<{ readonly mediaType: string; readonly digest: string; readonly size: number }>;
}

/** Requests that push to a repository; a registry that is busy is asked again. */
export const pushTo = async (
  { host, authority, authorization: allowed }: Target,
  repository: string,
): Promise<Pushing> => {
  const client = Deno.createHttpClient({ caCerts: [authority] });
  const base = `https://${host}/v2/${repository}`;
  const authorization = await allowed(repository);
  const send = async (
    method: string,
    url: string,
    body?: BodyInit,
    type = "application/octet-stream",
  ): Promise<string> => {
    const response = await fetch(url, {
      client,
      method,
      headers: { authorization, "content-type": type, "user-agent": "Deno/push" },
      ...(body === undefined ? {} : { body }),
    });
    await response.body?.cancel();
    if (response.status === 429) {
      await pause(BUSY_MS);
      return await send(method, url, body, type);
    }
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`);
    return response.headers.get("location") ?? "";
  };
  return {
    blob: async (digest, body) => {
      const place = new URL(await send("POST", `${base}/blobs/uploads/`), base);
      place.searchParams.set("digest", digest);
      await send("PUT", place.href, body);
    },
    manifest: async (name, document, mediaType) => {
      const bytes = new TextEncoder().encode(JSON.stringify({ schemaVersion: 2, mediaType, ...document }));
      const digest = await digestOf(bytes);
      await send("PUT", `${base}/manifests/${name ?? digest}`, bytes, mediaType);
      return { mediaType, digest, size: bytes.length };
    },
    [Symbol.dispose]: () => client.close(),
  };
};

/** Pushes an image for each architecture and an index of them under a tag; the digest of the index. */
export const pushIndex = async (
  target: Target,
  repository: string,
  tag: string,
  parts: ReadonlyArray<ImagePart>,
): Promise<string> => {
  using pushing = await pushTo(target, repository);
  const blob = async (bytes: Uint8Array<ArrayBuffer>, kind: string) => {
    const digest = await digestOf(bytes);
    await pushing.blob(digest, bytes);
    return { mediaType: `${OCI}.${kind}`, digest, size: bytes.length };
  };
  const manifests = [];
  for (const { architecture, labels, layers = [] } of parts) {
    const config = new TextEncoder().encode(JSON.stringify({
      architecture,
      os: "linux",
      config: { Labels: labels },
      rootfs: { type: "layers", diff_ids: [] },
    }));
    const found = await pushing.manifest(undefined, {
      config: await blob(config, "config.v1+json"),
      layers: await Promise.all(layers.map((layer) => blob(layer, "layer.v1.tar+gzip"))),
    }, `${OCI}.manifest.v1+json`);
    manifests.push({ ...found, platform: { os: "linux", architecture } });
  }
  return (await pushing.manifest(tag, { manifests }, `${OCI}.index.v1+json`)).digest;
};

export const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;

/** A layer with one file, packed by the tar of the system. */
export const layerWith = async (
  folder: string,
  path: string,
  text: string,
  compression: "gzip" | "zstd" | "none" = "gzip",
): Promise<Uint8Array<ArrayBuffer>> => {
  const root = await Deno.makeTempDir({ dir: folder });
  const file = join(root, path);
  await Deno.mkdir(join(file, ".."), { recursive: true });
  await Deno.writeTextFile(file, text);
  const archive = join(folder, `${crypto.randomUUID()}.tar`);
  await must("tar", [
    "--create",
    "--file",
    archive,
    ...compression === "none" ? [] : [`--${compression}`],
    "--directory",
    root,
    ".",
  ]);
  return await Deno.readFile(archive);
};

/** The beginning of an archive, of this length, with one file of 8 GiB. */
export const hugeArchive = (length: number): Uint8Array<ArrayBuffer> => {
  const archive = new Uint8Array(length);
  const put = (text: string, at: number) => archive.set(new TextEncoder().encode(text), at);
  put("large", 0);
  put("77777777777", 124);
  put("        ", 148);
  put("0", 156);
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return archive;
};
