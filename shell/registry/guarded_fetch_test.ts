import { fileURLToPath } from "node:url";
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { inFolder } from "../../tests/folder.ts";
import { makeServerCertificate } from "../../tools/server/certificate.ts";
import { ended } from "../../tools/install/run_program.ts";
import { type Guard, guardedFetch, isListed } from "./guarded_fetch.ts";

const OPEN: Guard = { registries: { plainHttp: [], internal: [] }, authorities: "", forbidden: [], taken: new Set() };
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
      /its address is loopback, link-local or reserved; the setting registries\.internal allows it$/,
    );
  }
  deepStrictEqual(server.seen, []);
  const registries = { plainHttp, internal: [`localhost:${server.port}`] };
  strictEqual(await asked(`http://localhost:${server.port}/a`, { registries }), "200 text /next");
  match(await asked(`http://127.0.0.1:${server.port}/`, { registries }), /registries\.internal/);
  deepStrictEqual(server.seen, ["/a"]);
});

for (
  const [what, text] of [
    ["endless interim responses", "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"],
    ["endless requests to go on", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["a switch to another protocol", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
  ] as const
) {
  Deno.test(`guardedFetch() fails at once after ${what}`, async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const flooding = (async () => {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(4096));
      const bytes = new TextEncoder().encode(text.repeat(100));
      // Until the other side has enough.
      while (await connection.write(bytes).then(() => true, () => false));
    })();
    const host = `127.0.0.1:${listener.addr.port}`;
    const said = await asked(`http://${host}/`, { registries: { plainHttp: [host], internal: [host] } });
    match(said, /^too many interim responses$|^the connection was closed without a response$/);
    await flooding;
  });
}

Deno.test("isListed() compares hosts as URLs have them", () => {
  for (const host of ["reg.test", "Reg.test", "reg.test:80"]) {
    strictEqual(isListed([host], "http://reg.test/v2/"), true);
  }
  strictEqual(isListed(["reg.test"], "http://reg.test:5000/v2/"), false);
  strictEqual(isListed(["reg.test:443"], "https://reg.test/v2/"), true);
  strictEqual(isListed(["reg.test"], "https://other.test/v2/"), false);
});

Deno.test("guardedFetch() sends nothing to link-local addresses or to the address of the API server", async () => {
  for (const host of ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0"]) {
    match(await asked(`https://${host}/latest/meta-data`, {}), /its address is loopback, link-local or reserved/);
  }
  match(
    await asked("https://10.1.2.3:6443/", { forbidden: ["10.1.2.3"] }),
    /its address is that of an API server or node/,
  );
  match(
    await asked("https://[::ffff:10.1.2.3]/", { forbidden: ["10.1.2.3"] }),
    /its address is that of an API server or node/,
  );
  match(await asked("https://[::ffff:10.1.2.4]:10250/", { taken: new Set(["10.1.2.4"]) }), /API server or node/);
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

Deno.test("guardedFetch() uses the proxy of the environment, which resolves names, and sends it nothing for internal addresses", () =>
  inFolder(async (folder) => {
    const { certificateFile, keyFile } = await makeServerCertificate(folder, ["registry.invalid"]);
    const cert = await Deno.readTextFile(certificateFile);
    await using server = serving({ cert, key: await Deno.readTextFile(keyFile) });
    using proxy = startProxy(server.port);
    const script = `
      import { guardedFetch } from ${JSON.stringify(new URL("guarded_fetch.ts", import.meta.url).href)};
      const guard = { registries: { plainHttp: [], internal: [] }, authorities: Deno.env.get("AUTHORITY"), forbidden: [], taken: new Set() };
      for (const host of ["registry.invalid", "169.254.169.254"]) {
        const said = await guardedFetch(guard)(new URL("https://" + host + "/v2/"), {}, new AbortController().signal)
          .then((response) => response.text(), (cause) => cause.message);
        console.log(said);
      }`;
    const file = join(folder, "asks.ts");
    await Deno.writeTextFile(file, script);
    const { stdout, stderr } = await ended(Deno.execPath(), ["run", "--allow-all", "--config=deno.json", file], {
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
      env: { ...Deno.env.toObject(), HTTPS_PROXY: proxy.url, NO_PROXY: "", DENO_NO_UPDATE_CHECK: "1", AUTHORITY: cert },
    });
    const [first, second = ""] = stdout.trim().split("\n");
    strictEqual(first, "text", stderr);
    match(second, /its address is loopback, link-local or reserved/);
    deepStrictEqual(proxy.asked, ["registry.invalid:443"]);
    deepStrictEqual(server.seen, ["/v2/"]);
  }));

/** Answers CONNECT, and leads every name to one port of loopback. */
const startProxy = (port: number) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const asked: Array<string> = [];
  const open = new Set<Deno.TcpConn>();
  const serve = async (near: Deno.TcpConn) => {
    open.add(near);
    const buffer = new Uint8Array(4096);
    const count = await near.read(buffer) ?? 0;
    asked.push(/^CONNECT (\S+) /.exec(new TextDecoder().decode(buffer.subarray(0, count)))?.[1] ?? "no CONNECT");
    const far = await Deno.connect({ hostname: "127.0.0.1", port });
    open.add(far);
    await near.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
    await Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
  };
  const accepting = (async () => {
    for await (const near of listener) void serve(near).catch(() => {});
  })();
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    asked,
    [Symbol.dispose]: () => {
      listener.close();
      void accepting.catch(() => {});
      for (const connection of open) {
        try {
          connection.close();
        } catch {
          // Closed with its streams.
        }
      }
    },
  };
};
