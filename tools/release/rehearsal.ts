/**
 * `deno task release --dry-run`: makes this version and the next one as a release does, against a registry on loopback,
 * checks what came out, and upgrades a real cluster from one to the other. Publishes nothing. Requires Linux and root.
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { installControlPlane } from "../install/control_plane.ts";
import { OPERAND_IMAGES } from "../package/olm.ts";
import { runtimeOfTests } from "../install/deno_runtime.ts";
import { must } from "../install/run_program.ts";
import { baseImages } from "./base_images.ts";
import { containers, removeStorage } from "./containers.ts";
import { emptyFolder } from "./release.ts";
import { pushBases, startLocalRegistry } from "./local_registry.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export const NEXT_VERSION = OPERATOR_VERSION.replace(/\d+$/, (patch) => String(Number(patch) + 1));

/** Folders of the two versions and the public key, in `folder`. */
export const rehearse = async (folder: string): Promise<void> => {
  const started = performance.now();
  const told = (what: string) =>
    console.log(`[${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s] ${what}`);
  await emptyFolder(folder);
  const { cosign } = await installControlPlane(["cosign"]);
  // One runtime, where Deno cannot download that of another architecture.
  const denort = await runtimeOfTests();
  const architectures = denort === undefined ? ["amd64", "arm64"] : [Deno.build.arch === "aarch64" ? "arm64" : "amd64"];
  const dockerfile = await Deno.readTextFile(join(ROOT, "Dockerfile"));
  const publics = [
    ...new Set([...OPERAND_IMAGES, ...baseImages(dockerfile).values()].map((name) => name.split("/")[0] ?? "")),
  ];

  await using registry = await startLocalRegistry(join(folder, "registry"), publics);
  for (const [name, value] of Object.entries(registry.env)) Deno.env.set(name, value);
  await pushBases(folder, registry, dockerfile);
  await pushStandIns(join(folder, "stand-ins"), registry.host, OPERAND_IMAGES);
  told(`a registry with ${OPERAND_IMAGES.length} stand-ins for images of servers, and two base images`);

  const key = join(folder, "cosign");
  Deno.env.set("COSIGN_PASSWORD", "");
  await must(cosign, ["generate-key-pair", "--output-key-prefix", key]);
  const common = ["--rehearsal", "--images", `${registry.host}/llamastackoperator`];
  const release = async (root: string, version: string, more: ReadonlyArray<string>) => {
    const words = ["run", "--quiet", "--allow-all", "tools/release/main.ts", ...common, "--arch", architectures.join()];
    const said = await must(Deno.execPath(), [...words, "--out", join(folder, version), ...more], {
      cwd: root,
      env: { ...Deno.env.toObject(), ...(denort === undefined ? {} : { DENORT_BIN: denort }) },
    });
    told(said.trim());
    const signing = ["--rehearsal", "--sign", join(folder, version), "--key", `${key}.key`];
    await must(Deno.execPath(), [...words.slice(0, 4), ...signing], { cwd: root });
    told(`${version}: signed`);
  };
  await release(ROOT, OPERATOR_VERSION, []);
  const next = join(folder, "next");
  await copyAs(NEXT_VERSION, next);
  await release(next, NEXT_VERSION, ["--catalog", join(folder, OPERATOR_VERSION, "catalog.json")]);
  await Deno.remove(next, { recursive: true });

  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--allow-all", "--no-check", "tests/release"],
    cwd: ROOT,
    env: { [FOLDER_VARIABLE]: folder, [HOST_VARIABLE]: registry.host },
    stdin: "null",
  });
  if (!(await tests.spawn().status).success) throw new Error("a test of tests/release failed");
  told("checked, and upgraded a cluster from one to the other");
  console.log(`\n${await timesTable(join(folder, TIMES))}`);
};

/** What the tests measured for each way to install, a line of JSON each: seconds by name. */
export const TIMES = "times.jsonl";

/** As docs/measurements.md has it. */
const timesTable = async (file: string): Promise<string> => {
  const rows = (await Deno.readTextFile(file)).trim().split("\n").map((line) => Object.entries(JSON.parse(line)));
  const line = (cells: ReadonlyArray<unknown>): string => `| ${cells.join(" | ")} |`;
  const [first = []] = rows;
  return [
    line(first.map(([name]) => name)),
    line(first.map(() => "---")),
    ...rows.map((row) => line(row.map(([, value]) => typeof value === "number" ? `${value} s` : value))),
  ].join("\n");
};

/** For the tests of tests/release. */
export const FOLDER_VARIABLE = "LLAMA_STACK_OPERATOR_RELEASE_FOLDER";
export const HOST_VARIABLE = "LLAMA_STACK_OPERATOR_RELEASE_REGISTRY";

/** The files of the project, as the given version. */
const copyAs = async (version: string, folder: string): Promise<void> => {
  await Deno.mkdir(folder, { recursive: true });
  const listed = await must("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const path of listed.split("\0").filter((name) => name !== "")) {
    const to = join(folder, path);
    await Deno.mkdir(join(to, ".."), { recursive: true });
    await Deno.copyFile(join(ROOT, path), to);
  }
  const edit = async (path: string, change: (text: string) => string) => {
    const file = join(folder, path);
    const before = await Deno.readTextFile(file);
    const after = change(before);
    if (after === before) throw new Error(`${path} does not mention ${OPERATOR_VERSION}`);
    await Deno.writeTextFile(file, after);
  };
  await edit("core/operator/version.ts", (text) => text.replace(OPERATOR_VERSION, version));
  await edit("Dockerfile", (text) => text.replace(`version="${OPERATOR_VERSION}"`, `version="${version}"`));
  await edit("CHANGELOG.md", (text) => text.replace(/^## /m, `## ${version}\n\n- A rehearsal.\n\n## `));
};

/** Images of one label each, under the names of the servers' images. */
const pushStandIns = async (folder: string, host: string, images: ReadonlyArray<string>): Promise<void> => {
  const context = join(folder, "context");
  await Deno.mkdir(context, { recursive: true });
  try {
    const registry = await containers(folder, true);
    for (const image of images) {
      const dockerfile = join(context, "Dockerfile");
      await Deno.writeTextFile(dockerfile, `FROM scratch\nLABEL stand-in.for="${image}"\n`);
      const build = { context, dockerfile, architectures: ["amd64"], arguments: {}, labels: {} };
      await registry.publish({ ...build, image: `${host}/${image}` });
    }
  } finally {
    await removeStorage(folder);
  }
};
