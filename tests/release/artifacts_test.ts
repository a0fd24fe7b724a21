/** What a release publishes, checked with the tools of those who download it. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import * as Result from "effect/Result";
import { at, isObject, type Json, type JsonObject, listAt, stringAt } from "../../core/data/json.ts";
import { readManifests } from "../../core/data/yaml.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { programPath } from "../../tools/install/debian_packages.ts";
import { ended, must, sha256Of } from "../../tools/install/run_program.ts";
import { PLUGIN_FILE } from "../../shell/cli/invocation.ts";
import { readCatalog } from "../../tools/package/catalog.ts";
import { PUBLIC_KEY, SBOM } from "../../tools/release/signing.ts";
import { OPERATOR_NAMESPACE } from "../../core/api/own_objects.ts";
import { commandsRunBy } from "../documented_commands.ts";
import { inFolder } from "../folder.ts";
import { host, made, operatorImage, text, unpacked, VERSIONS } from "./rehearsed.ts";

const ARCH = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
const [FIRST, NEXT] = VERSIONS;
const LOCAL = ["--insecure-ignore-tlog", "--allow-insecure-registry", "--allow-http-registry"];

Deno.test("the checksums of a release are those of its files, and are signed", async () => {
  const { cosign } = await installControlPlane(["cosign"]);
  for (const version of VERSIONS) {
    const sums = made(version, "SHA256SUMS");
    await must("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: made(version) });
    const verify = (file: string) =>
      must(cosign, [
        ...["verify-blob", "--key", made(version, PUBLIC_KEY), "--insecure-ignore-tlog"],
        ...["--signature", `${sums}.sig`, file],
      ]);
    await verify(sums);
    await rejects(verify(made(version, "install.yaml")), /invalid signature/);
    const files = Array.from(Deno.readDirSync(made(version)), ({ name }) => name)
      .filter((name) => !name.startsWith("SHA256SUMS"));
    const summed = (await text(version, "SHA256SUMS")).trim().split("\n").map((line) => line.split("  ")[1]);
    deepStrictEqual(summed, files.toSorted());
  }
});

Deno.test("the public key of a release is that of its private key", async () => {
  for (const version of VERSIONS) strictEqual(await text(version, PUBLIC_KEY), await text("cosign.pub"));
});

Deno.test("the commands of the documentation verify a release, and reject a file that was changed", () =>
  inFolder(async (folder) => {
    const documented = await commandsRunBy("tests/release/artifacts_test.ts");
    const commands = documented.map((command) => command.text).join("\n");
    // The rehearsal has no transparency log, and its registry no TLS.
    const { cosign } = await installControlPlane(["cosign"]);
    const flags = `--insecure-ignore-tlog $([ "$1" = verify-blob ] || echo ${LOCAL.slice(1).join(" ")})`;
    const wrapper = `#!/bin/sh\ncommand="$1"; flags="${flags}"; shift; exec ${cosign} "$command" $flags "$@"\n`;
    await Deno.writeTextFile(join(folder, "cosign"), wrapper, { mode: 0o755 });
    const env = { ...Deno.env.toObject(), PATH: `${folder}:${Deno.env.get("PATH")}` };
    for (const version of VERSIONS) {
      const copy = join(folder, version);
      await must("cp", ["--recursive", made(version), copy]);
      const verify = () => ended("sh", ["-e", "-c", commands], { cwd: copy, env });
      const { code, stderr } = await verify();
      strictEqual(code, 0, stderr);
      match(stderr, /The signatures were verified against the specified public key/);
      await Deno.writeTextFile(join(copy, "install.yaml"), "# changed\n", { append: true });
      ok((await verify()).code !== 0);
    }
  }));

Deno.test("a version is published once", async () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const args = ["run", "--quiet", "--allow-all", "tools/release/main.ts", "--rehearsal"];
  const again = async (out: string) =>
    await ended(Deno.execPath(), [...args, "--images", `${host()}/llamastackoperator`, "--out", out], { cwd: root });
  await inFolder(async (folder) => {
    const { code, stderr } = await again(folder);
    strictEqual(code, 1);
    match(
      stderr,
      new RegExp(`/llama-stack-operator:${FIRST.replaceAll(".", "\\.")} is already published; release another version`),
    );
    deepStrictEqual([...Deno.readDirSync(folder)], []);
  });
});

Deno.test("the image of the operator is signed, with provenance and a bill of materials", async () => {
  const { cosign } = await installControlPlane(["cosign"]);
  for (const version of VERSIONS) {
    const image = await operatorImage(version);
    const key = ["--key", made(version, PUBLIC_KEY), ...LOCAL];
    await must(cosign, ["verify", ...key, image]);
    const statement = async (type: string): Promise<JsonObject> => {
      const envelope = JSON.parse(await must(cosign, ["verify-attestation", ...key, "--type", type, image]));
      return JSON.parse(atob(envelope.payload));
    };
    const provenance = await statement("slsaprovenance1");
    const parts = listAt(provenance, "predicate", "buildDefinition", "resolvedDependencies");
    strictEqual(parts.length, 3, "the source and two base images");
    const bom = await statement("cyclonedx");
    deepStrictEqual(at(bom, "predicate"), JSON.parse(await text(version, SBOM)));
  }
});

Deno.test("the program of the image is the one to download, and says its version", () =>
  inFolder(async (folder) => {
    const skopeo = await programPath("skopeo") ?? "";
    for (const version of VERSIONS) {
      const archive = await unpacked(folder, version, `llama-stack-operator-${version}-linux-${ARCH}.tar.gz`);
      const program = join(archive, "llama-stack-operator");
      ok((await must(program, ["version"])).startsWith(`llama-stack-operator ${version}\n`));
      const layers = join(folder, `layers-${version}`);
      await must(skopeo, [
        ...["copy", "--quiet", "--src-tls-verify=false"],
        ...[`docker://${await operatorImage(version)}`, `dir:${layers}`],
      ]);
      const { layers: list } = JSON.parse(await Deno.readTextFile(join(layers, "manifest.json")));
      let inside: string | undefined;
      for (const { digest } of list as ReadonlyArray<{ readonly digest: string }>) {
        const layer = join(layers, digest.replace("sha256:", ""));
        const { code } = await ended("tar", [
          ...["--extract", "--gzip", "--file", layer, "--directory", layers, "llama-stack-operator"],
        ]);
        if (code === 0) inside = join(layers, "llama-stack-operator");
      }
      strictEqual(await sha256Of(inside ?? ""), await sha256Of(program));
    }
  }));

/** Values of every member `image`, `containerImage`, and of every variable whose value is an image. */
const imagesIn = (value: Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (!isObject(value)) return [];
  const variable = stringAt(value, "name")?.startsWith("RELATED_IMAGE_") === true
    ? [stringAt(value, "value") ?? ""]
    : [];
  return [
    ...variable,
    ...Object.entries(value).flatMap(([key, inner]) =>
      ["image", "containerImage"].includes(key) && typeof inner === "string" ? [inner] : imagesIn(inner)
    ),
  ];
};

const objectsIn = (yaml: string): ReadonlyArray<JsonObject> =>
  Result.getOrThrow(readManifests(yaml)).filter(isObject).filter(({ kind }) => kind !== "CustomResourceDefinition");

Deno.test("every image of a release is named by its digest", () =>
  inFolder(async (folder) => {
    for (const version of VERSIONS) {
      const kustomize = await unpacked(folder, version, `kustomize-${version}.tar.gz`);
      const chart = await unpacked(folder, version, `llama-stack-operator-${version}.tgz`);
      const values = objectsIn(await Deno.readTextFile(join(chart, "llama-stack-operator/values.yaml")))[0] ?? {};
      match(stringAt(values, "image", "digest") ?? "", /^sha256:/);
      const blobs = readCatalog(await text(version, "catalog.json"));
      // The manifests inside the bundles are properties of these blobs, and their images are listed as well.
      const named = [
        ...objectsIn(await text(version, "install.yaml")).flatMap(imagesIn),
        ...objectsIn(await Deno.readTextFile(join(kustomize, "kustomize/base/deployment_llama-stack-operator.yaml")))
          .flatMap(imagesIn),
        ...Object.values(values.relatedImages ?? {}).map(String),
        ...blobs.filter(({ schema }) => schema === "olm.bundle").flatMap(imagesIn),
      ];
      ok(named.length > 30);
      deepStrictEqual(named.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image)), []);
    }
  }));

Deno.test("the chart of a release has the Deployment of its install.yaml, so that a change between them restarts nothing", async () => {
  const { helm } = await installControlPlane(["helm"]);
  for (const version of VERSIONS) {
    const chart = made(version, `llama-stack-operator-${version}.tgz`);
    const rendered = await must(helm, ["template", "x", chart, "--namespace", OPERATOR_NAMESPACE]);
    const template = (yaml: string) =>
      objectsIn(yaml).filter(({ kind }) => kind === "Deployment").map((object) => at(object, "spec", "template"));
    deepStrictEqual(template(rendered), template(await text(version, "install.yaml")));
  }
});

Deno.test("the catalog of the second release has both, and upgrades from the first", async () => {
  const blobs = readCatalog(await text(NEXT, "catalog.json"));
  for (const name of ["llama-stack-operator", "llama-stack-operator-namespaced"]) {
    const channel = blobs.find((blob) => blob.schema === "olm.channel" && blob.package === name);
    const entries = listAt(channel ?? {}, "entries").map((entry) => [at(entry, "name"), at(entry, "replaces")]);
    deepStrictEqual(entries, [[`${name}.v${FIRST}`, undefined], [`${name}.v${NEXT}`, `${name}.v${FIRST}`]]);
  }
});

Deno.test("the krew manifest has the checksums of the archives, which contain the plugin", () =>
  inFolder(async (folder) => {
    for (const version of VERSIONS) {
      const manifest = objectsIn(await text(version, "llama-stack.krew.yaml"))[0] ?? {};
      strictEqual(stringAt(manifest, "spec", "version"), `v${version}`);
      for (const platform of listAt(manifest, "spec", "platforms")) {
        const file = stringAt(platform, "uri")?.split("/").at(-1) ?? "";
        strictEqual(await sha256Of(made(version, file)), stringAt(platform, "sha256"));
        const plugin = await unpacked(folder, version, file);
        ok((await must(join(plugin, PLUGIN_FILE), ["version"])).includes(` ${version}\n`));
      }
    }
  }));
