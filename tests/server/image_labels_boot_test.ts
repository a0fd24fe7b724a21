/**
 * The labels that published images of OGX have, rebuilt from the configs in the packages of the same release, as the release
 * workflow of OGX writes them: a resource with such an image runs on the real server of that release.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { labelsInFiles } from "../../core/command/labels_file.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { installServer, type ServerVersion } from "../../tools/install/python_server.ts";
import { must } from "../../tools/install/run_program.ts";
import { boot } from "../../tools/server/boot.ts";
import { generated, manifest } from "../given.ts";
import { sideBySide } from "./side_by_side.ts";

/** The newest releases of two lines; those before 1.2 have no labels. */
const RELEASES: ReadonlyArray<ServerVersion> = ["ogx 1.4.1", "ogx 1.5.0"];

/** Every config of the distribution, and the names of the files. */
const publishedLabels = async (server: ServerVersion) => {
  const { python } = await installServer(server);
  const folder = (await must(python, ["-c", "import ogx; print(ogx.__path__[0])"])).trim() + "/distributions/starter";
  const files = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.endsWith(".yaml") && name !== "build.yaml").sort();
  const labels: Record<string, string> = {
    "com.ogx.distribution.name": "starter",
    "com.ogx.distribution.version": server.replace("ogx ", ""),
    "com.ogx.distribution.default-config": "config.yaml",
    "com.ogx.distribution.configs": files.join(),
  };
  for (const name of files) {
    labels[`com.ogx.config.${name}`] = (await Deno.readFile(`${folder}/${name}`)).toBase64();
  }
  return { files, surroundings: { labels: labelsInFiles([{ labels, digest: undefined, repository: undefined }]) } };
};

Deno.test("an image with the labels of a published release runs with its config, on the server of that release", () =>
  sideBySide(RELEASES, async (server) => {
    const { files, surroundings } = await publishedLabels(server);
    const models = startModelServer();
    const spec = (config?: string) => ({
      distribution: { image: "registry.example.com/ai/starter:1", ...(config === undefined ? {} : { config }) },
      providers: { inference: [{ provider: "vllm", endpoint: `http://127.0.0.1:${models.port}/v1` }] },
      resources: { models: [{ name: "test-model" }] },
      storage: { kv: {}, sql: {} },
    });
    try {
      deepStrictEqual(
        files.map((file) => generated(spec(file), surroundings).distribution.labels?.config?.file),
        files,
      );
      await using stack = await boot(manifest(spec()), { surroundings });
      strictEqual((await stack.get("/v1/version")).body.version, server.replace("ogx ", ""));
      const chat = { model: "vllm/test-model", messages: [{ role: "user", content: "hello" }] };
      const answer = await stack.post("/v1/chat/completions", chat);
      strictEqual(answer.body.choices?.[0].message.content, "You said: hello", JSON.stringify(answer));
    } finally {
      await models.stop();
    }
  }));
