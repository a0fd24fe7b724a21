/**
 * With the real program as a process of its own: root certificates are read once in the life of a process, and by the
 * runtime of compiled programs in a way of its own.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { makeAuthority, makeLeaf } from "../webhooks/certificate_maker.ts";

const ROOT = new URL("../../", import.meta.url);
const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };

const KEPT = Object.fromEntries(
  ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }),
);

/** From its sources, with flags of Deno, or compiled. */
type Form = "compiled" | ReadonlyArray<string>;
const FORMS = [["run from its sources", []], ["compiled", "compiled"]] as const;

const process = async (form: Form, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const program = form === "compiled" ? await compiledOperator() : Deno.execPath();
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: form === "compiled" ? [...args] : ["run", "--quiet", "--allow-all", ...form, "mod.ts", ...args],
    cwd: ROOT,
    // Nothing of the environment of this test says what is trusted.
    clearEnv: true,
    env: { ...KEPT, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", ...env },
  }).output();
  return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
};

/** Two authorities; a server that the first one vouches for, which counts its requests; kubeconfigs that name either. */
const place = async () => {
  const [a, b] = [await makeAuthority(validity), await makeAuthority(validity)];
  const folder = await Deno.makeTempDir();
  const requests: Array<string> = [];
  const leaf = await makeLeaf(a, ["127.0.0.1"], validity);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...leaf },
    ({ url }) => {
      requests.push(new URL(url).pathname);
      return Response.json({ kind: "Status", code: 404, message: "none" }, { status: 404 });
    },
  );
  await Deno.writeTextFile(`${folder}/a.pem`, a.certificate);
  const kubeconfig = async (name: string, cluster: object, user: object = {}): Promise<string> => {
    const file = `${folder}/${name}.json`;
    await Deno.writeTextFile(
      file,
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${server.addr.port}`, ...cluster } }],
        users: [{ name: "u", user }],
      }),
    );
    return file;
  };
  return {
    folder,
    kubeconfig,
    trusting: (name: "a" | "b", user: object = {}) =>
      kubeconfig(name, { "certificate-authority-data": btoa({ a, b }[name].certificate) }, user),
    /** What the program says about a cluster, and how many requests the server saw of it. */
    explained: async (kubeconfig: string, env: Readonly<Record<string, string>>, form: Form = []) => {
      const before = requests.length;
      const { output, code } = await process(form, ["explain", "my", "-n", "n", "--kubeconfig", kubeconfig], env);
      return { code, output, requests: requests.length - before };
    },
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
};

const WAYS: ReadonlyArray<readonly [string, (file: string) => Readonly<Record<string, string>>]> = [
  ["DENO_CERT", (file) => ({ DENO_CERT: file })],
  ["NODE_EXTRA_CA_CERTS", (file) => ({ NODE_EXTRA_CA_CERTS: file })],
  ["the store of the system", (file) => ({ DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: file })],
  ["all of them", (file) => ({
    DENO_TLS_CA_STORE: "mozilla,system",
    SSL_CERT_FILE: file,
    DENO_CERT: file,
    NODE_EXTRA_CA_CERTS: file,
  })],
];

for (const [how, form] of FORMS) {
  for (const [where, env] of WAYS) {
    Deno.test(`the CA of a connection is the only trusted one, whatever is in ${where}, ${how}`, async () => {
      await using at = await place();
      const refused = await at.explained(await at.trusting("b"), env(`${at.folder}/a.pem`), form);
      match(refused.output, /invalid peer certificate: UnknownIssuer/);
      strictEqual(refused.requests, 0);
      const accepted = await at.explained(await at.trusting("a"), env(`${at.folder}/a.pem`), form);
      ok(accepted.requests > 0, accepted.output);
    });
  }

  Deno.test(`a connection that names no CA trusts the root certificates, also in an image that starts without, ${how}`, async () => {
    await using at = await place();
    const file = await at.kubeconfig("none", {});
    const stores = { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: `${at.folder}/a.pem` };
    const system = await at.explained(file, stores, form);
    ok(system.requests > 0, system.output);
    const image = await at.explained(file, { DENO_TLS_CA_STORE: "", DENO_CERT: `${at.folder}/a.pem` }, form);
    ok(image.requests > 0, image.output);
  });
}

Deno.test("the program exits with advice if root certificates were loaded before it started", async () => {
  await using at = await place();
  const early = `--preload=${at.folder}/early.ts`;
  await Deno.writeTextFile(`${at.folder}/early.ts`, "Deno.createHttpClient({}).close();");
  const trustsB = await at.trusting("b");
  for (const env of [{}, { DENO_CERT: `${at.folder}/a.pem` }, { DENO_TLS_CA_STORE: "system" }]) {
    const ended = await at.explained(trustsB, env, [early]);
    match(ended.output, /Deno loaded root certificates before the program started.*Run the command again/);
    deepStrictEqual([ended.requests, ended.code === 0], [0, false]);
  }
  // As the image starts it: there are none, whenever they are read.
  const image = await at.explained(await at.trusting("a"), { DENO_TLS_CA_STORE: "" }, [early]);
  ok(image.requests > 0, image.output);
  match((await at.explained(trustsB, { DENO_TLS_CA_STORE: "" }, [early])).output, /UnknownIssuer/);
});

Deno.test("a credential plugin gets the environment as it was", async () => {
  await using at = await place();
  const seen = `${at.folder}/seen`;
  const script = `echo "$DENO_TLS_CA_STORE $DENO_CERT \${NODE_EXTRA_CA_CERTS-none}" >>"${seen}"
    echo '{"status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}}'`;
  const file = await at.trusting("a", { exec: { command: "/bin/sh", args: ["-c", script] } });
  const found = await at.explained(file, { DENO_TLS_CA_STORE: "system", DENO_CERT: `${at.folder}/a.pem` });
  ok(found.requests > 0, found.output);
  const lines = (await Deno.readTextFile(seen)).trim().split("\n");
  // Once at the start, and again for each call, since its token has ended.
  ok(lines.length > 1, String(lines.length));
  deepStrictEqual([...new Set(lines)], [`system ${at.folder}/a.pem none`]);
});

Deno.test("a CA file that does not exist is an error, and not the absence of a CA", async () => {
  await using at = await place();
  const file = await at.kubeconfig("missing", { "certificate-authority": `${at.folder}/missing.pem` });
  const { output, requests } = await at.explained(file, { DENO_CERT: `${at.folder}/a.pem` });
  match(output, /certificate-authority .*missing\.pem of .* does not exist/);
  strictEqual(requests, 0);
});
