/** The script that copies the folder of a provider out of its image, with the shell of this machine and with busybox. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { isObject, listAt, objectAt } from "../../core/data/json.ts";
import { deployment } from "../../core/resources/deployment.ts";
import { blueprintOf, NOWHERE } from "../../core/resources/of_resource.ts";
import { installProgram } from "../../tools/install/debian_packages.ts";
import { decoded, generated } from "../given.ts";

/** As the pod has it. */
const script = (): string => {
  const spec = { externalProviders: { inference: [{ providerId: "own", image: "example/own:1" }] } };
  const pod = objectAt(deployment(blueprintOf(decoded(spec), generated(spec), NOWHERE)), "spec", "template", "spec");
  const container = listAt(pod, "initContainers").filter(isObject)[0];
  return String(listAt(container, "command")[2]);
};

/** Root may write everywhere, and would not see what the user of a pod sees. */
const USER = Deno.uid() === 0 ? { uid: 12345, gid: 12345 } : {};

interface Shell {
  readonly name: string;
  readonly program: string;
  /** Folder of `cp`, `chmod` and `rm`; undefined: those of this machine. */
  readonly path?: string;
}

/** Busybox is the base image that `provider pack` writes. */
const busybox = async (): Promise<Shell> => {
  const program = await installProgram("busybox", ["busybox-static"]);
  const path = await Deno.makeTempDir();
  await Deno.chmod(path, 0o755);
  for (const name of ["sh", "cp", "chmod", "rm", "printf", "echo"]) await Deno.symlink(program, join(path, name));
  return { name: "busybox", program: join(path, "sh"), path };
};
const SHELLS: ReadonlyArray<Shell> = [{ name: "this machine", program: "/bin/sh" }, await busybox()];
globalThis.addEventListener("unload", () => {
  for (const { path } of SHELLS) if (path !== undefined) Deno.removeSync(path, { recursive: true });
});

/** Runs the script with folders of this machine, and returns its exit code and what it left. */
const copied = async (
  folder: string,
  { program, path }: Shell,
): Promise<{ readonly code: number; readonly end: string }> => {
  const text = script().replaceAll("/external-provider", join(folder, "copy"))
    .replaceAll("/lls-provider", join(folder, "image")).replaceAll("/dev/termination-log", join(folder, "copy.end"));
  const { code } = await new Deno.Command(program, {
    args: ["-c", text],
    stderr: "null",
    ...(path === undefined ? {} : { env: { PATH: path } }),
    ...USER,
  }).output();
  return { code, end: await Deno.readTextFile(join(folder, "copy.end")).catch(() => "") };
};

const inFolder = async (test: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.chmod(folder, 0o777);
    await Deno.mkdir(join(folder, "image", "packages"), { recursive: true });
    await Deno.mkdir(join(folder, "copy"));
    await Deno.chmod(join(folder, "copy"), 0o777);
    await test(folder);
  } finally {
    await new Deno.Command("chmod", { args: ["-R", "u+rwX", folder], stderr: "null" }).output();
    await Deno.remove(folder, { recursive: true });
  }
};

for (const shell of SHELLS) {
  Deno.test(`folders without permission to write are copied a second time, without what is gone from the image (${shell.name})`, () =>
    inFolder(async (folder) => {
      const image = join(folder, "image");
      for (const path of ["packages/a.whl", ".hidden", "..odd"]) await Deno.writeTextFile(join(image, path), path);
      await Deno.symlink("/nowhere", join(image, "link"));
      await Deno.chmod(join(image, "packages"), 0o555);
      deepStrictEqual(await copied(folder, shell), { code: 0, end: "" });
      for (const path of [".hidden", "..odd", "link"]) await Deno.remove(join(image, path));
      await Deno.chmod(join(image, "packages"), 0o755);
      await Deno.rename(join(image, "packages", "a.whl"), join(image, "packages", "b.whl"));
      await Deno.chmod(join(image, "packages"), 0o555);
      deepStrictEqual(await copied(folder, shell), { code: 0, end: "" });
      const names = async (path: string) =>
        (await Array.fromAsync(Deno.readDir(join(folder, "copy", path)), ({ name }) => name)).sort();
      deepStrictEqual([await names("."), await names("packages")], [["packages"], ["b.whl"]]);
    }));

  Deno.test(`an image without the folder of a provider is reported (${shell.name})`, () =>
    inFolder(async (folder) => {
      await Deno.remove(join(folder, "image"), { recursive: true });
      const { code, end } = await copied(folder, shell);
      strictEqual(code, 1);
      strictEqual(JSON.parse(end).reason, "ProviderMetadataMissing");
    }));
}
