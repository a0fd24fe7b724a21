import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { downloadReleases, type Places, releasedPath } from "./released_programs.ts";
import { must } from "./run_program.ts";

const PROGRAM = new TextEncoder().encode("#!/bin/sh\necho kubectl\n");
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const version = () => "1.2.3";

/** A place that publishes these files, by the end of their paths. */
const publishing = async (
  files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>,
  work: (places: Places) => Promise<void>,
): Promise<void> => {
  const cache = await Deno.makeTempDir();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const file = Object.entries(files).find(([end]) => url.endsWith(end))?.[1];
    return file === undefined ? new Response("not found", { status: 404 }) : new Response(file);
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  try {
    await work({ kubernetes: `${origin}/k`, etcd: `${origin}/e`, cache });
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
};

Deno.test("downloadReleases() downloads a program and keeps it", async () => {
  const files = { "/kubectl": PROGRAM, "/kubectl.sha256": `${sha256(PROGRAM)}\n` };
  await publishing(files, async (places) => {
    const found = await downloadReleases(["kubectl"], version, undefined, places);
    const path = found.get("kubectl") ?? "";
    strictEqual((await must(path, [])).trim(), "kubectl");
    strictEqual(releasedPath("kubectl", "1.2.3", places), path);
    strictEqual(releasedPath("kubectl", "1.2.4", places), undefined);
  });
});

Deno.test("downloadReleases() takes etcd out of its archive", async () => {
  const folder = await Deno.makeTempDir();
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
  const name = `etcd-v1.2.3-linux-${arch}`;
  await Deno.mkdir(join(folder, name));
  await Deno.writeFile(join(folder, name, "etcd"), PROGRAM);
  await must("tar", ["-czf", join(folder, "a.tar.gz"), "-C", folder, name]);
  const archive = await Deno.readFile(join(folder, "a.tar.gz"));
  await Deno.remove(folder, { recursive: true });
  const sums = `${"0".repeat(64)}  another.tar.gz\n${sha256(archive)}  ${name}.tar.gz\n`;
  await publishing({ [`/${name}.tar.gz`]: archive, "/SHA256SUMS": sums }, async (places) => {
    const found = await downloadReleases(["etcd"], version, undefined, places);
    strictEqual((await must(found.get("etcd") ?? "", [])).trim(), "kubectl");
  });
});

Deno.test("downloadReleases() keeps nothing of a download with another checksum", async () => {
  const files = { "/kubectl": PROGRAM, "/kubectl.sha256": "0".repeat(64) };
  await publishing(files, async (places) => {
    await rejects(
      downloadReleases(["kubectl"], version, undefined, places),
      /SHA-256 .* but the published one is 0{64}/,
    );
    strictEqual(releasedPath("kubectl", "1.2.3", places), undefined);
  });
});

Deno.test("downloadReleases() leaves to a build what is not published or cannot be reached", async () => {
  await publishing({ "/kubectl": PROGRAM, "/kubectl.sha256": "<html>a login page</html>" }, async (places) => {
    const names = ["kubectl", "etcd", "helm"];
    deepStrictEqual(await downloadReleases(names, version, undefined, places), new Map());
    const nowhere = { ...places, kubernetes: "http://127.0.0.1:1", etcd: "http://127.0.0.1:1" };
    deepStrictEqual(await downloadReleases(names, version, undefined, nowhere), new Map());
  });
});
