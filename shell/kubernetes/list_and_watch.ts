/** Lists in pages of bounded size, and watches, as streams of events. */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import { type Json, type JsonObject, member, stringAt } from "../../core/data/json.ts";
import { isClusterError, rejectionError, unreached } from "./cluster_error.ts";
import { chunksOf, silenceAlarm } from "./http_client.ts";
import { LIST_PAGE_BYTES_MAX, LIST_PAGE_ITEMS, LIST_PAGE_SHRINK, WATCH_SECONDS } from "../limits.ts";
import { asked } from "../runtime/metrics.ts";
import { eventsOf } from "./watch_events.ts";
import type { Transport } from "./transport.ts";

/** A list, and the version from which a watch can continue. */
export interface Listed {
  readonly items: ReadonlyArray<JsonObject>;
  readonly resourceVersion: string;
}

/** Only metadata of each object: bodies of foreign Secrets never reach us. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const METADATA_ONLY_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

export interface Selection {
  /** Collection path, e.g. `/apis/apps/v1/deployments` or `/api/v1/namespaces/a/pods`. */
  readonly path: string;
  readonly labels?: string;
  /** Field selector, e.g. `metadata.name=a`. */
  readonly fields?: string;
  readonly metadataOnly?: boolean;
}

export const listAndWatch = ({ call, watches, headersFor, patience, url }: Transport) => {
  const eachPage = Effect.fnUntraced(function* <R>(
    { path, labels, fields, metadataOnly }: Selection,
    visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void, never, R>,
  ) {
    const accept = metadataOnly === true ? METADATA_ONLY : "application/json";
    let resourceVersion = "";
    let next = "";
    let limit = LIST_PAGE_ITEMS;
    do {
      const query = new URLSearchParams({ limit: String(limit) });
      if (labels !== undefined) query.set("labelSelector", labels);
      if (fields !== undefined) query.set("fieldSelector", fields);
      if (next !== "") query.set("continue", next);
      const answer = yield* call("list", "GET", `${path}?${query}`, {
        accept,
        // One object is always accepted; otherwise a single large object would prevent the whole list from being read.
        ...(limit === 1 ? {} : { bytesMax: LIST_PAGE_BYTES_MAX }),
      }).pipe(Effect.catchTag("TooLong", () => Effect.succeed(TOO_LONG)));
      if (answer === TOO_LONG) {
        limit = Math.max(1, Math.floor(limit / LIST_PAGE_SHRINK));
        continue;
      }
      const page = answer as Json;
      const kind = (stringAt(page, "kind") ?? "").replace(/List$/, "");
      const apiVersion = stringAt(page, "apiVersion") ?? "";
      // Items of a list carry neither kind nor version.
      yield* visit(((member(page, "items") ?? []) as ReadonlyArray<JsonObject>).map((item) => ({
        apiVersion,
        kind,
        ...item,
      })));
      resourceVersion = stringAt(page, "metadata", "resourceVersion") ?? "";
      next = stringAt(page, "metadata", "continue") ?? "";
      if (next === "") break;
    } while (true);
    return resourceVersion;
  });

  const list = Effect.fnUntraced(function* (selection: Selection) {
    const items: Array<JsonObject> = [];
    const resourceVersion = yield* eachPage(selection, (page) => Effect.sync(() => void items.push(...page)));
    return { items, resourceVersion };
  });

  const watch = ({ path, labels, fields, metadataOnly }: Selection, resourceVersion: string) =>
    Stream.unwrap(Effect.gen(function* () {
      const query = new URLSearchParams({
        watch: "1",
        allowWatchBookmarks: "true",
        resourceVersion,
        timeoutSeconds: String(WATCH_SECONDS),
      });
      if (labels !== undefined) query.set("labelSelector", labels);
      if (fields !== undefined) query.set("fieldSelector", fields);
      const accept = metadataOnly === true ? METADATA_ONLY_WATCH : "application/json";
      const target = `${path}?${query}`;
      const controller = new AbortController();
      const silence = silenceAlarm(patience.watchMs, () => controller.abort(new Error("silent for too long")));
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          silence.stop();
          controller.abort();
        })
      );
      const response = yield* watches.using((client) =>
        Effect.tryPromise({
          try: async () => {
            const answer = await fetch(`${url}${target}`, {
              headers: headersFor(accept, undefined),
              signal: controller.signal,
              client,
            });
            if (!answer.ok) throw rejectionError("watch", path, answer, await answer.text());
            return answer;
          },
          catch: (cause) => isClusterError(cause) ? cause : unreached("watch", path, cause),
        }).pipe(Effect.timeoutOrElse({
          duration: patience.callMs,
          orElse: () => Effect.fail(unreached("watch", path, new Error("no answer in time"))),
        }))
      ).pipe(
        Effect.tap(() => asked("GET", 200)),
        Effect.tapError((error) => asked("GET", error.status)),
      );
      silence.start();
      return Stream.flattenIterable(
        Stream.fromAsyncIterable(
          eventsOf(chunksOf(response, controller.signal), path, silence.heard),
          // A proxy may have cut the response within an event.
          (cause) => isClusterError(cause) ? cause : unreached("watch", path, cause),
        ),
      );
    }));
  return { eachPage, list, watch };
};

/** In place of a page that would take too much memory. */
const TOO_LONG = Symbol("too long");
