import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { freePorts } from "./free_ports.ts";

const MODULE = new URL("./free_ports.ts", import.meta.url).href;

/** Draws ports in a process of its own. */
const drawnElsewhere = async (cache: string, count: number): Promise<number[]> => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--no-check",
      `import { freePorts } from ${JSON.stringify(MODULE)}; console.log(JSON.stringify(freePorts(${count})))`,
    ],
    env: { LLAMA_STACK_OPERATOR_CACHE: cache },
  }).output();
  ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
};

const ALL = 10_000;

const inCache = async (use: (cache: string) => Promise<void>): Promise<void> => {
  const cache = await Deno.makeTempDir({ prefix: "llama-stack-operator-ports-" });
  try {
    await use(cache);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
};

const reserveAllExcept = async (cache: string, kept: ReadonlySet<number>, owner: string): Promise<void> => {
  await Deno.mkdir(`${cache}/ports`, { recursive: true });
  for (let port = 20_000; port < 20_000 + ALL; port++) {
    if (!kept.has(port)) await Deno.writeTextFile(`${cache}/ports/${port}`, owner);
  }
};

Deno.test("freePorts() returns different ports, and each can be listened on", () => {
  const ports = freePorts(50);
  strictEqual(new Set(ports).size, 50);
  for (const port of ports) Deno.listen({ hostname: "127.0.0.1", port }).close();
});

Deno.test("freePorts() never returns a port that another running process has drawn", () =>
  inCache(async (cache) => {
    const free = new Set(Array.from({ length: 1000 }, (_, index) => 24_000 + index));
    await reserveAllExcept(cache, free, String(Deno.pid));
    const ports = await drawnElsewhere(cache, 5);
    deepStrictEqual(ports.filter((port) => !free.has(port)), []);
  }));

Deno.test("freePorts() returns ports again that a process had drawn which no longer runs", () =>
  inCache(async (cache) => {
    await reserveAllExcept(cache, new Set(), "4194305");
    strictEqual((await drawnElsewhere(cache, 5)).length, 5);
  }));
