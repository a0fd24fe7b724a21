/** The body of a watch → its events, in the batches in which they came. */
import type { JsonObject } from "../../core/data/json.ts";
import { watchError } from "./cluster_error.ts";
import { WATCH_PAUSE_CHARACTERS } from "../limits.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: JsonObject;
}

/**
 * One JSON text per line. `heard` is called for events only: bytes that never become one are no sign of life. Throws
 * errors that the API server reports within the watch as ClusterError, and SyntaxError if the body was cut within an
 * event, in both cases after the events before it.
 *
 * A plain generator: with a stage of effect's Stream for each of these steps the operator took 5.3 – 5.7 instead of 4.1
 * – 5.1 ms for the events of five new objects, including their processing.
 */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  path: string,
  heard: () => void,
): AsyncGenerator<ReadonlyArray<WatchEvent>, void, void> {
  const decoder = new TextDecoder();
  let begun = "";
  let size = 0;
  for await (const chunk of body) {
    const lines = decoder.decode(chunk, { stream: true }).split("\n");
    const last = lines.pop() ?? "";
    if (lines.length === 0) {
      begun += last;
      continue;
    }
    lines[0] = begun + lines[0];
    begun = last;
    yield* read(lines, path, heard);
    // Large events come one after the other without a pause: probes and other requests are answered in between.
    size += lines.reduce((sum, line) => sum + line.length, 0);
    if (size < WATCH_PAUSE_CHARACTERS) continue;
    size = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  yield* read([begun], path, heard);
}

function* read(
  lines: ReadonlyArray<string>,
  path: string,
  heard: () => void,
): Generator<ReadonlyArray<WatchEvent>, void, void> {
  const events: Array<WatchEvent> = [];
  try {
    for (const line of lines) {
      if (line === "") continue;
      const event = JSON.parse(line) as WatchEvent;
      if (event.type === "ERROR") throw watchError(path, event.object);
      events.push(event);
    }
  } finally {
    if (events.length > 0) {
      heard();
      yield events;
    }
  }
}
