/** `image` and `label` against a real registry, with images that a real tool has built. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { type Ended, ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";
import { containers } from "../../tools/release/containers.ts";
import { startLocalRegistry } from "../../tools/release/local_registry.ts";
import { inFolder } from "../folder.ts";
import { manifest } from "../given.ts";
import { makeWheel, providerFiles } from "../provider_wheel.ts";

const BASES = new URL("../../configs/bases/", import.meta.url);

Deno.test("image and label on a real registry", (t) =>
  inFolder(async (folder) => {
    await using registry = await startLocalRegistry(join(folder, "registry"), []);
    Deno.env.set("CONTAINERS_REGISTRIES_CONF", registry.env.CONTAINERS_REGISTRIES_CONF ?? "");
    const tools = await containers(join(folder, "storage"), true);
    const program = await compiledOperator();
    const cli = (...args: ReadonlyArray<string>): Promise<Ended> =>
      ended(program, args, { cwd: folder, env: { ...RUNTIME_ENV, HOME: folder, PATH: Deno.env.get("PATH") ?? "" } });
    const publish = async (name: string, lines: string, architectures: ReadonlyArray<string> = ["amd64", "arm64"]) => {
      const context = join(folder, `context-${name}`);
      await Deno.mkdir(context, { recursive: true });
      const dockerfile = join(context, "Containerfile");
      await Deno.writeTextFile(dockerfile, `FROM scratch\n${lines}`);
      const image = `${registry.host}/ai/${name}:1`;
      const digest = await tools.publish({ image, context, dockerfile, architectures, arguments: {}, labels: {} });
      return { image, digest };
    };
    const config = await Deno.readTextFile(new URL("starter-1.5.yaml", BASES));
    await Deno.writeTextFile(join(folder, "config.yaml"), config);
    await Deno.writeTextFile(join(folder, "other.yaml"), `${config}# another\n`);

    await t.step("an image built with the lines of label is shown with its configs, server and providers", async () => {
      const labels = await cli("label", "config.yaml", "other.yaml", "--name", "mine", "--server-version", "1.5.0");
      strictEqual(labels.code, 0, labels.stderr);
      const { image, digest } = await publish("mine", labels.stdout);
      const { code, stdout, stderr } = await cli("image", image, "--plain-http");
      strictEqual(code, 0, stderr);
      match(stdout, new RegExp(`^IMAGE +${registry.host}/ai/mine@${digest}$`, "m"));
      match(stdout, /^ARCHITECTURES +amd64, arm64$/m);
      match(stdout, /^SERVER +OGX 1\.5\.0$/m);
      match(stdout, /^CONFIGS +config\.yaml \(default\)\n +other\.yaml$/m);
      match(stdout, /inference: .*remote::vllm/);
      match(stdout, /^PROBLEMS +none$/m);
    });

    await t.step("-o config prints a base for render", async () => {
      const { code, stdout, stderr } = await cli("image", `${registry.host}/ai/mine:1`, "--plain-http", "-o", "config");
      strictEqual(code, 0, stderr);
      strictEqual(stdout, config);
      const other = await cli(
        "image",
        `${registry.host}/ai/mine:1`,
        "--plain-http",
        "-o",
        "config",
        "--config",
        "other.yaml",
      );
      strictEqual(other.stdout, `${config}# another\n`);
      const gone = await cli("image", `${registry.host}/ai/mine:1`, "--plain-http", "--config", "gone.yaml");
      strictEqual(gone.code, 1);
      match(gone.stderr, /it has config\.yaml, other\.yaml/);
    });

    await t.step("an image without labels is shown with what to do instead", async () => {
      const { image } = await publish("bare", "LABEL org.opencontainers.image.title=bare\n");
      const { code, stdout } = await cli("image", image, "--plain-http", "-o", "json");
      strictEqual(code, 1);
      const { configs, problems } = JSON.parse(stdout);
      deepStrictEqual(configs, []);
      ok(problems[0].includes("spec.overrideConfig"), problems[0]);
    });

    await t.step(
      "an image with the labels of provider pack is checked without its content, and offline by skopeo",
      async () => {
        await Deno.mkdir(join(folder, "dist"));
        const files = providerFiles("own", { server: "ogx_api" });
        const wheel = await makeWheel(join(folder, "dist"), {
          name: "own",
          files,
          metadata: ["Requires-Dist: ogx-api"],
        });
        const pack = await cli("provider", "pack", `dist/${wheel}`, "--api", "inference", "--type", "remote::own");
        strictEqual(pack.code, 0, pack.stderr);
        const lines = pack.stdout.split("\n").filter((line) => line.startsWith("LABEL "));
        const { image, digest } = await publish("own", `${lines.join("\n")}\n`);
        const check = (...args: ReadonlyArray<string>) => cli("provider", "check", ...args, "--plain-http");
        const fine = await check(image, "--server-version", "1.5.0");
        strictEqual(fine.code, 0, fine.stderr);
        match(
          fine.stdout,
          /: own 1\.0 is a provider of the inference API: remote::own in own\n {2}own-1\.0-py3-none-any\.whl\n/,
        );
        const other = await check(image, "--server-version", "0.7.3");
        strictEqual(other.code, 1);
        match(other.stdout, /it requires ogx-api, but the server is Llama Stack 0\.7\.3/);
        strictEqual((await check(`${registry.host}/ai/bare:1`)).code, 3);
        match(
          (await check(`${registry.host}/ai/gone:1`)).stderr,
          /no such folder, and as an image it cannot be read: registry/,
        );

        const labels = Object.fromEntries(lines.map((line) => {
          const [, label = "", value = ""] = /^LABEL (\S+)="(.*)"$/.exec(line) ?? [];
          return [label, value];
        }));
        await Deno.writeTextFile(
          join(folder, "own.json"),
          JSON.stringify({ Name: `${registry.host}/ai/own`, Digest: digest, Labels: labels }),
        );
        const spec = { externalProviders: { eval: [{ providerId: "own", image }] } };
        await Deno.writeTextFile(join(folder, "mine.yaml"), JSON.stringify(manifest(spec)));
        const lint = await cli("lint", "-f", "mine.yaml", "--image-labels", "own.json", "-o", "json");
        strictEqual(lint.code, 1, lint.stderr);
        deepStrictEqual(
          JSON.parse(lint.stdout).findings.filter(({ level }: Record<string, string>) => level === "error")
            .map(({ code, reason, path }: Record<string, string>) => [code, reason, path]),
          Array(2).fill(["ExternalProviderUnfit", "ExternalProviderFailed", "spec.externalProviders.eval[0]"]),
        );
        strictEqual((await cli("render", "-f", "mine.yaml", "--image-labels", "own.json")).code, 1);
      },
    );

    await t.step("architectures with different configs are rejected by name", async () => {
      const { image } = await publish(
        "split",
        'ARG TARGETARCH\nLABEL com.ogx.config.config.yaml="dmVyc2lvbjogMg==" com.ogx.distribution.version="1.5.0" com.ogx.distribution.name="$TARGETARCH"\n',
      );
      const { code, stderr } = await cli("image", image, "--plain-http");
      strictEqual(code, 1);
      match(stderr, /configs of the architectures amd64 and arm64 differ/);
    });

    await t.step("what cannot be read is explained", async () => {
      const of = async (...args: ReadonlyArray<string>) => {
        const { code, stderr } = await cli("image", ...args);
        return `${code} ${stderr.trim()}`;
      };
      match(await of(`${registry.host}/ai/gone:1`, "--plain-http"), /^1 registry \S+ does not have ai\/gone:1$/);
      match(
        await of(`${registry.host}/ai/mine:1`),
        /^1 registry \S+ cannot be reached: it answers without TLS; use --plain-http$/,
      );
      match(await of("127.0.0.1:1/a:1", "--plain-http"), /^1 registry 127\.0\.0\.1:1 cannot be reached: /);
      match(await of("Not An Image"), /^2 Not An Image: not a reference of an image$/);
      match(await of("a", "--docker-config", "nowhere.json"), /^2 Cannot read nowhere\.json: no such file$/);
    });

    await t.step("label rejects configs that the server does not accept", async () => {
      await Deno.writeTextFile(join(folder, "bad.yaml"), "version: 99\n");
      const { code, stderr } = await cli("label", "bad.yaml", "--name", "mine", "--server-version", "1.5.0");
      strictEqual(code, 1, stderr);
      match(stderr, /bad\.yaml/);
      strictEqual((await cli("label", "config.yaml", "--name", "mine", "--server-version", "9.9.9")).code, 1);
      // Both forms of the output are commands for others.
      const odd = await cli("label", "config.yaml", "--name", 'a"\nRUN id', "--server-version", "1.5.0");
      deepStrictEqual([odd.code, odd.stdout], [1, ""]);
      strictEqual((await cli("label", "--name", "mine", "--server-version", "1.5.0")).code, 2);
    });
    await ended("rm", ["--recursive", "--force", join(folder, "storage")]);
  }));
