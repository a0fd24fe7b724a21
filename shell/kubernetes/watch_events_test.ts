import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isClusterError } from "./cluster_error.ts";
import { eventsOf } from "./watch_events.ts";

const line = (name: string, type = "ADDED"): string =>
  JSON.stringify({ type, object: { metadata: { name, resourceVersion: "5" } } });

/** Names of the events in each batch, and what it ended with. */
const read = async (chunks: ReadonlyArray<Uint8Array>): Promise<readonly [ReadonlyArray<string>, unknown]> => {
  const batches: Array<string> = [];
  let heard = 0;
  try {
    const body = ReadableStream.from(chunks);
    for await (const events of eventsOf(body, "/api/v1/pods", () => void heard++)) {
      batches.push(events.map(({ object }) => (object.metadata as { readonly name: string }).name).join(" "));
    }
  } catch (error) {
    return [batches, error];
  }
  strictEqual(heard, batches.length, "bytes without an event are no sign of life");
  return [batches, undefined];
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("eventsOf() emits events that arrive together at once", async () => {
  deepStrictEqual(await read([bytes(`${line("a")}\n${line("b")}\n`), bytes(`${line("c")}\n`)]), [
    ["a b", "c"],
    undefined,
  ]);
});

Deno.test("eventsOf() joins events wherever their bytes were cut", async () => {
  const whole = bytes(`${line("ä")}\n${line("€")}\n${line("🦙")}\n`);
  for (let at = 1; at < whole.length; at++) {
    const [batches, end] = await read([whole.slice(0, at), whole.slice(at)]);
    deepStrictEqual([batches.join(" "), end], ["ä € 🦙", undefined], `cut at ${at}`);
  }
  const [batches] = await read([...whole].map((byte) => Uint8Array.of(byte)));
  deepStrictEqual(batches, ["ä", "€", "🦙"]);
});

Deno.test("eventsOf() emits the events before one that is truncated or reports an error, and then throws", async () => {
  const [cut, cutEnd] = await read([bytes(`${line("a")}\n${line("b").slice(0, 20)}`)]);
  deepStrictEqual(cut, ["a"]);
  ok(cutEnd instanceof SyntaxError);
  const [expired, error] = await read([
    bytes(`${line("a")}\n{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"m"}}\n${line("b")}\n`),
  ]);
  deepStrictEqual(expired, ["a"]);
  ok(isClusterError(error) && error.status === 410);
});

Deno.test("eventsOf() emits nothing for an empty response", async () => {
  deepStrictEqual(await read([]), [[], undefined]);
  deepStrictEqual(await read([bytes("\n\n")]), [[], undefined]);
});
