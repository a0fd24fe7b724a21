/** A registry on loopback that stands in for every public one, for a rehearsal: pulls are redirected to it, pushes go to it. */
import { join } from "node:path";
import { startInBackground, waitUntilReady } from "../cluster/background_process.ts";
import { freePorts } from "../cluster/free_ports.ts";
import { installProgram } from "../install/debian_packages.ts";
import { archiveBases } from "../install/image_bases.ts";
import { baseImages } from "./base_images.ts";
import { must } from "../install/run_program.ts";

export interface LocalRegistry extends AsyncDisposable {
  /** Host and port. */
  readonly host: string;
  /** Environment of programs that read containers-registries.conf(5). */
  readonly env: Readonly<Record<string, string>>;
}

/** `publics` are hosts of registries whose images are looked for here, below a folder of the same name. */
export const startLocalRegistry = async (
  folder: string,
  publics: ReadonlyArray<string>,
): Promise<LocalRegistry> => {
  const program = await installProgram("docker-registry", ["docker-registry"]);
  const [port] = freePorts(1) as [number];
  const host = `127.0.0.1:${port}`;
  const config = join(folder, "registry.yaml");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: join(folder, "registry") } },
      http: { addr: host },
    }),
  );
  const process = await startInBackground({
    command: [program, "serve", config],
    env: { OTEL_TRACES_EXPORTER: "none" },
    logFile: join(folder, "registry.log"),
    stopWithinMs: 5_000,
  });
  const answers = async () => {
    const response = await fetch(`http://${host}/v2/`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  };
  if (!await waitUntilReady(process, answers, 20_000)) {
    await process.stop();
    throw new Error(`the registry does not answer:\n${await process.log()}`);
  }
  const registries = join(folder, "registries.conf");
  await Deno.writeTextFile(
    registries,
    [
      { location: host },
      ...publics.map((name) => ({ prefix: name, location: `${host}/${name}` })),
    ].map((entry) =>
      `[[registry]]\n${Object.entries(entry).map(([key, value]) => `${key} = "${value}"\n`).join("")}insecure = true\n`
    ).join("\n"),
  );
  return {
    host,
    env: { CONTAINERS_REGISTRIES_CONF: registries },
    [Symbol.asyncDispose]: async () => void await process.stop(),
  };
};

/** The two base images of the Dockerfile, under the names that it gives them. */
export const pushBases = async (folder: string, { host }: LocalRegistry, dockerfile: string): Promise<void> => {
  const skopeo = await installProgram("skopeo", ["skopeo"]);
  const { deno, runtime } = await archiveBases(folder);
  for (const [argument, file] of [["DENO", deno], ["RUNTIME", runtime]] as const) {
    const name = baseImages(dockerfile).get(argument);
    if (name === undefined) throw new Error(`the Dockerfile has no argument ${argument}`);
    await must(skopeo, [
      ...["copy", "--quiet", "--dest-tls-verify=false", "--format", "oci"],
      ...[`docker-archive:${file}`, `docker://${host}/${name}`],
    ]);
    await Deno.remove(file);
  }
};
