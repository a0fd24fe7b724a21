import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { connectionOf } from "./kubeconfig.ts";

const kubeconfig = (more: object) => JSON.stringify({ apiVersion: "v1", kind: "Config", ...more });
const A = kubeconfig({
  "current-context": "a",
  contexts: [{ name: "a", context: { cluster: "here", user: "me", namespace: "team" } }],
  users: [{ name: "me", user: { token: "first" } }],
});
const B = kubeconfig({
  "current-context": "b",
  contexts: [{ name: "b", context: { cluster: "there", user: "me" } }],
  clusters: [
    { name: "here", cluster: { server: "https://here:6443", "certificate-authority": "ca.crt" } },
    { name: "there", cluster: { server: "https://there:6443" } },
  ],
  users: [{ name: "me", user: { token: "second" } }],
});

const inFolder = async (test: (folder: string) => void) => {
  const folder = await Deno.makeTempDir();
  const before = Deno.env.get("KUBECONFIG");
  try {
    await Deno.mkdir(`${folder}/b`);
    await Deno.writeTextFile(`${folder}/a`, A);
    await Deno.writeTextFile(`${folder}/b/config`, B);
    await Deno.writeTextFile(`${folder}/b/ca.crt`, "PEM");
    test(folder);
  } finally {
    if (before === undefined) Deno.env.delete("KUBECONFIG");
    else Deno.env.set("KUBECONFIG", before);
    await Deno.remove(folder, { recursive: true });
  }
};

Deno.test("connectionOf() merges the files of KUBECONFIG as kubectl does: the first one wins, paths are relative to their file", () =>
  inFolder((folder) => {
    Deno.env.set("KUBECONFIG", `${folder}/a:${folder}/missing:${folder}/b/config`);
    const { url, namespace, token, caPem } = connectionOf(undefined, undefined);
    deepStrictEqual([url, namespace, token(), caPem()], ["https://here:6443", "team", "first", "PEM"]);
    strictEqual(connectionOf(undefined, "b").url, "https://there:6443");
  }));

Deno.test("connectionOf() uses only the file that a flag names", () =>
  inFolder((folder) => {
    Deno.env.set("KUBECONFIG", `${folder}/a`);
    strictEqual(connectionOf(`${folder}/b/config`, undefined).url, "https://there:6443");
    throws(() => connectionOf(`${folder}/missing`, undefined), /kubeconfig .* not found/);
    throws(() => connectionOf(undefined, undefined), /context "a" of .* names no cluster with an address/);
    throws(() => connectionOf(undefined, "c"), /has no context "c"; choose one with --context: a/);
    Deno.writeTextFileSync(`${folder}/other`, "kind: Pod");
    throws(() => connectionOf(`${folder}/other`, undefined), /other is not a kubeconfig with contexts/);
  }));

Deno.test("connectionOf() sends no credentials to an API server without TLS, and starts no credential plugin for it", () =>
  inFolder((folder) => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: `${folder}/plugin`, args: [] };
    Deno.writeTextFileSync(
      `${folder}/plain`,
      kubeconfig({
        "current-context": "a",
        contexts: [
          { name: "a", context: { cluster: "here", user: "me", namespace: "team" } },
          { name: "b", context: { cluster: "here", user: "plugin" } },
        ],
        clusters: [{ name: "here", cluster: { server: "HTTP://here:8001/" } }],
        users: [
          { name: "me", user: { token: "secret", "client-certificate-data": btoa("C"), "client-key-data": btoa("K") } },
          { name: "plugin", user: { exec } },
        ],
      }),
    );
    for (const [context, namespace] of [["a", "team"], ["b", undefined]] as const) {
      const connection = connectionOf(`${folder}/plain`, context);
      deepStrictEqual([connection.token(), connection.clientCertificate], [undefined, undefined]);
      deepStrictEqual([connection.url, connection.namespace], ["HTTP://here:8001", namespace]);
    }
  }));

for (
  const [what, cluster, user, words] of [
    ["an unverified certificate", { "insecure-skip-tls-verify": true }, {}, "insecure-skip-tls-verify of the cluster"],
    ["another server name", { "tls-server-name": "other" }, {}, "tls-server-name of the cluster"],
    ["a proxy", { "proxy-url": "http://proxy:3128" }, {}, "proxy-url of the cluster"],
    ["impersonation", {}, { as: "nobody" }, "as of the user"],
    ["a password", {}, { username: "me", password: "canary-4711" }, "username of the user"],
  ] as const
) {
  Deno.test(`connectionOf() refuses a kubeconfig with ${what} instead of ignoring it`, () =>
    inFolder((folder) => {
      const text = (more: object, of: object) =>
        kubeconfig({
          "current-context": "a",
          contexts: [{ name: "a", context: { cluster: "here", user: "me" } }],
          clusters: [{ name: "here", cluster: { server: "https://here:6443", ...more } }],
          users: [{ name: "me", user: { token: "t", ...of } }],
        });
      Deno.writeTextFileSync(`${folder}/odd`, text(cluster, user));
      throws(
        () => connectionOf(`${folder}/odd`, undefined),
        (error: Error) =>
          error.message.includes(`${words} is not supported; `) && error.message.includes(`${folder}/odd`) &&
          !error.message.includes("canary"),
      );
      // Nothing asks for anything.
      Deno.writeTextFileSync(`${folder}/usual`, text({ "insecure-skip-tls-verify": false }, { as: "" }));
      strictEqual(connectionOf(`${folder}/usual`, undefined).url, "https://here:6443");
    }));
}
