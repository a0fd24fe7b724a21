import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { inFolder } from "../../tests/folder.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { type Guard, guardedFetch } from "./guarded_fetch.ts";

const OPEN: Guard = { registries: { plainHttp: [], internal: [] }, authorities: "", forbidden: [] };
const NONE = new AbortController().signal;

const serving = (tls: { readonly cert?: string; readonly key?: string } = {}) => {
  const seen: Array<string> = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls }, (request) => {
    seen.push(new URL(request.url).pathname);
    return new Response("text", { headers: { location: "/next", "retry-after": "3" } });
  });
  return Object.assign(server, { seen, port: server.addr.port });
};

/** Status and text, or the message of the failure. */
const asked = async (url: string, guard: Partial<Guard>): Promise<string> => {
  try {
    const response = await guardedFetch({ ...OPEN, ...guard })(new URL(url), { accept: "*/*" }, NONE);
    return `${response.status} ${await response.text()} ${response.headers.get("location")}`;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
};

Deno.test("guardedFetch() sends nothing to loopback under any name, and nothing without TLS, unless a setting allows it", async () => {
  await using server = serving();
  const plainHttp = [`127.0.0.1:${server.port}`, `localhost:${server.port}`, `[::1]:${server.port}`];
  match(
    await asked(`http://127.0.0.1:${server.port}/`, {}),
    /without TLS; the setting registries\.plainHttp allows it$/,
  );
  for (const host of plainHttp) {
    match(
      await asked(`http://${host}/`, { registries: { plainHttp, internal: [] } }),
      /its address is loopback, link-local, or that of the API server; the setting registries\.internal allows it$/,
    );
  }
  deepStrictEqual(server.seen, []);
  const registries = { plainHttp, internal: [`localhost:${server.port}`] };
  strictEqual(await asked(`http://localhost:${server.port}/a`, { registries }), "200 text /next");
  match(await asked(`http://127.0.0.1:${server.port}/`, { registries }), /registries\.internal/);
  deepStrictEqual(server.seen, ["/a"]);
});

Deno.test("guardedFetch() sends nothing to link-local addresses or to the address of the API server", async () => {
  for (const host of ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0"]) {
    match(await asked(`https://${host}/latest/meta-data`, {}), /its address is loopback, link-local/);
  }
  match(await asked("https://10.1.2.3:6443/", { forbidden: ["10.1.2.3"] }), /or that of the API server/);
  match(await asked("https://[::ffff:10.1.2.3]/", { forbidden: ["10.1.2.3"] }), /or that of the API server/);
});

Deno.test("guardedFetch() trusts the authorities that it is given, and checks the name", () =>
  inFolder(async (folder) => {
    const { certificateFile, keyFile } = await makeServerCertificate(folder);
    const cert = await Deno.readTextFile(certificateFile);
    await using server = serving({ cert, key: await Deno.readTextFile(keyFile) });
    const registries = { plainHttp: [], internal: [`localhost:${server.port}`, `127.0.0.2:${server.port}`] };
    const url = `https://localhost:${server.port}/`;
    match(await asked(url, { registries }), /self-signed certificate/i);
    strictEqual(await asked(url, { registries, authorities: cert }), "200 text /next");
  }));

Deno.test("guardedFetch() asks nothing once its signal has ended, and reports a name without an address", async () => {
  const signal = AbortSignal.abort(new Error("over"));
  const found = await guardedFetch(OPEN)(new URL("https://registry.invalid/"), {}, signal).catch((cause) => cause);
  match(String(found), /over/);
  match(await asked("https://registry.invalid/", {}), /its name has no address$/);
});
