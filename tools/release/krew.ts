/** The manifest by which krew installs the program as `kubectl llama-stack`. */
import { writeYaml } from "../../core/data/yaml.ts";
import { PLUGIN_FILE } from "../../shell/cli/invocation.ts";

/** An archive with the program for one platform, at the address where the release publishes it. */
export interface PluginArchive {
  readonly os: "linux" | "darwin";
  readonly architecture: string;
  readonly url: string;
  readonly sha256: string;
}

export const krewManifest = (
  version: string,
  homepage: string,
  archives: ReadonlyArray<PluginArchive>,
): string =>
  writeYaml({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "llama-stack" },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: "Check and explain Llama Stack servers",
      description:
        "Checks LlamaStackDistribution resources before they are applied, shows what the Llama Stack operator " +
        "would change in a cluster, explains why a server is not ready, and checks that a running server answers.\n",
      platforms: archives.map(({ os, architecture, url, sha256 }) => ({
        selector: { matchLabels: { os, arch: architecture } },
        uri: url,
        sha256,
        bin: PLUGIN_FILE,
        files: [{ from: PLUGIN_FILE, to: "." }, { from: "LICENSE", to: "." }],
      })),
    },
  });
