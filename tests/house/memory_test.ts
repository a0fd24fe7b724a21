import { ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);
const WAITS = 50_000;

/** Heap that is left when a fiber has waited so often, in bytes for each wait. */
const program = (first: string): string => `
  import ${JSON.stringify(first)};
  const { Effect } = await import("effect");
  const heap = () => { gc(); return Deno.memoryUsage().heapUsed; };
  const waiting = Effect.gen(function* () {
    yield* Effect.yieldNow;
    const before = heap();
    for (let wait = 0; wait < ${WAITS}; wait++) yield* Effect.yieldNow;
    return (heap() - before) / ${WAITS};
  });
  console.log(await Effect.runPromise(waiting));`;

Deno.test("a fiber that waits often keeps nothing of it", async () => {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", "--v8-flags=--expose-gc", program(new URL("mod.ts", ROOT).href)],
    cwd: ROOT,
  }).output();
  const bytes = Number(new TextDecoder().decode(stdout).trim() || NaN);
  ok(bytes < 50, `${bytes} bytes for each wait ${new TextDecoder().decode(stderr)}`);
});
