import { deepStrictEqual, match, throws } from "node:assert/strict";
import { join } from "node:path";
import { credentialPlugin } from "./credential_plugin.ts";
import { connectionOf } from "./kubeconfig.ts";

/** A folder with a kubeconfig whose user names the plugin, a shell script beside it. */
const withPlugin = async (script: string, use: (folder: string, kubeconfig: string) => void): Promise<void> => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "plugin.sh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const kubeconfig = join(folder, "config");
    await Deno.writeTextFile(
      kubeconfig,
      JSON.stringify({
        "current-context": "a",
        contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
        clusters: [{ name: "a", cluster: { server: "https://example.test" } }],
        users: [{ name: "a", user: { exec: { ...EXEC, command: "./plugin.sh" } } }],
      }),
    );
    use(`${folder}/`, kubeconfig);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

const EXEC = {
  apiVersion: "client.authentication.k8s.io/v1",
  args: ["one"],
  env: [{ name: "TWO", value: "two" }],
  installHint: "Install it with care.",
};

/** Says its argument, its environment and how often it was asked. */
const TELLING = `
echo x >> "$0.asked"
printf '{"status": {"token": "%s %s %s", "expirationTimestamp": "2026-01-01T00:10:00Z"}}' \\
  "$1" "$TWO" "$(wc -l < "$0.asked" | tr -d ' ')"`;

Deno.test("credentialPlugin() runs the program of the kubeconfig, and again only when its answer expires", () =>
  withPlugin(TELLING, (folder) => {
    let nowMs = Date.parse("2026-01-01T00:00:00Z");
    const credential = credentialPlugin({ ...EXEC, command: "./plugin.sh" }, folder, () => nowMs);
    const tokens = [credential().token, credential().token];
    nowMs += 9 * 60_000 + 31_000;
    deepStrictEqual([...tokens, credential().token], ["one two 1", "one two 1", "one two 2"]);
  }));

Deno.test("connectionOf() uses token and client certificate of the plugin", () =>
  withPlugin(
    `echo '{"status": {"token": "t", "clientCertificateData": "c", "clientKeyData": "k"}}'`,
    (_, kubeconfig) => {
      const { clientCertificate, token } = connectionOf(kubeconfig, undefined);
      deepStrictEqual([clientCertificate, token()], [{ cert: "c", key: "k" }, "t"]);
    },
  ));

for (
  const [what, script, sentence] of [
    [
      "a plugin that fails",
      "exit 3",
      /"\.\/plugin\.sh" of the kubeconfig ended with exit code 3\. Install it with care/,
    ],
    ["an answer without a credential", "echo '{}'", /returned neither a token nor a client certificate/],
    ["an answer that is no JSON", "echo no", /returned neither a token nor a client certificate/],
  ] as const
) {
  Deno.test(`connectionOf() reports ${what} before the first request to the cluster`, () =>
    withPlugin(script, (_, kubeconfig) => throws(() => connectionOf(kubeconfig, undefined), sentence)));
}

Deno.test("credentialPlugin() explains how to install a missing program", () => {
  try {
    credentialPlugin({ ...EXEC, command: "no-such-plugin" }, "/")();
  } catch (error) {
    match(
      String(error),
      /"no-such-plugin" of the kubeconfig is not installed, or not on the PATH\. Install it with care/,
    );
    return;
  }
  throw new Error("it was started");
});
