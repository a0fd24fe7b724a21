/**
 * A server whose config is in the labels of its image, in a private registry: the operator reads it there, containerd pulls
 * the same digest, and the real server runs with that config.
 */
import { ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { stringAt } from "../../core/data/json.ts";
import { SETTINGS_CONFIG_MAP } from "../../core/operator/settings.ts";
import { REGISTRIES_FOLDER } from "../../tools/cluster/real_node/containerd_config.ts";
import { HOST_ADDRESS } from "../../tools/cluster/real_node/private_host.ts";
import { imageArchive } from "../../tools/install/server_images.ts";
import { NAMESPACE } from "../../tools/package/names.ts";
import { startProtectedRegistry } from "../cluster/protected_registry.ts";
import { pushArchive } from "../cluster/pushed_archive.ts";
import { inFolder } from "../folder.ts";
import { listedProviders } from "../server/asked.ts";
import { withModels } from "../server/stored_state.ts";
import { CHAT, MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace } from "./place.ts";
import { podsOf, served, whenReady } from "./served.ts";

/** The base of the distribution, but for the name of one provider. */
const BASE = (await Deno.readTextFile(new URL("../../configs/bases/starter-1.5.yaml", import.meta.url)))
  .replace("provider_id: brave-search", "provider_id: search-of-the-label");

Deno.test("the real server of a private image runs with the config of its labels", () =>
  inFolder((folder) =>
    inPlace("labelled", async (place) => {
      const registry = await startProtectedRegistry(join(folder, "registry"), HOST_ADDRESS);
      const archive = await imageArchive({ "team/llama:1": "ogx 1.5.0" });
      try {
        const digest = await pushArchive(registry, archive, "team/llama", "1", {
          "com.ogx.config.config.yaml": new TextEncoder().encode(BASE).toBase64(),
          "com.ogx.distribution.version": "1.5.0",
        });
        const trusted = join(REGISTRIES_FOLDER, registry.host);
        await Deno.mkdir(trusted, { recursive: true });
        await Deno.writeTextFile(join(trusted, "ca.crt"), registry.authority);
        const { host, username, password } = registry;
        await place.kubectl(
          ...["create", "secret", "docker-registry", "pull", `--docker-server=${host}`],
          ...[`--docker-username=${username}`, `--docker-password=${password}`],
        );
        const data = { "registries.authorities": registry.authority, "registries.internal": `- ${host}` };
        await place.kubectl(
          ...["patch", "configmap", SETTINGS_CONFIG_MAP, "-n", NAMESPACE, "--type=merge", "-p"],
          JSON.stringify({ data }),
        );
        await using _vllm = await startModelService(place);
        await place.resource("mine", {
          ...withModels({ distribution: { image: `${host}/team/llama:1` } }, MODELS_ENDPOINT),
          workload: { overrides: { imagePullSecrets: [{ name: "pull" }] } },
        });
        const resource = await whenReady(place, "mine");
        strictEqual(stringAt(resource, "status", "resolvedDistribution", "digest"), digest);
        for (const pod of await podsOf(place, "mine")) {
          ok(JSON.stringify(pod.status).includes(`${host}/team/llama@${digest}`));
        }
        const stack = served(place, "mine", { server: "ogx 1.5.0" });
        const ids = (await listedProviders(stack)).map((provider) => provider.provider_id);
        ok(ids.includes("search-of-the-label") && !ids.includes("brave-search"), ids.join());
        strictEqual((await stack.post("/v1/chat/completions", CHAT)).status, 200);
      } finally {
        await Deno.remove(archive, { recursive: true });
        await registry.stop();
      }
    })
  ));
