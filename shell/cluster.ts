/**
 * The one door to the API server, on Deno's fetch: calls with typed errors, watches on a client of their own.
 *
 * It is over 300 lines so that every kind of call stands in one place.
 */
import { Context, Effect, Layer, Schedule, Stream } from "effect";
import { isObject, type Json, type JsonObject, member, stringAt } from "../core/json.ts";
import type { Manifest } from "../core/resources/blueprint.ts";
import type { ObjectKey } from "../core/plan/step.ts";
import { ClusterError, isTooLong, refusal, tooLong, unnameable, unreached } from "./cluster_error.ts";
import { asked } from "./metrics.ts";
import {
  CALL_ATTEMPTS_MAX,
  CONNECTION_IDLE_MS,
  LIST_PAGE_BYTES_MAX,
  LIST_PAGE_ITEMS,
  LIST_PAGE_SHRINK,
  WATCH_SECONDS,
} from "./limits.ts";
import { Fence, fenced, isFenced } from "./fence.ts";
import { chunksOf, renewableClient, silenceAlarm, textWithin, within } from "./http_client.ts";
import { pathOf } from "./object_path.ts";
import { Patience } from "./patience.ts";
import { eventsOf, type WatchEvent } from "./watch_events.ts";

export { ClusterError } from "./cluster_error.ts";
export type { WatchEvent } from "./watch_events.ts";

/** Where the API server is and how it is spoken to. Token and CA are asked for again and again, since both are rotated. */
export interface Connection {
  readonly url: string;
  /** PEM of the CA that signs its certificates; undefined: none is named. */
  readonly caPem: () => string | undefined;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  readonly token: () => string | undefined;
  /** Namespace of the kubeconfig's context, where it names one. */
  readonly namespace?: string;
}

/** A list and the version from which a watch can go on. */
export interface Listed {
  readonly items: ReadonlyArray<JsonObject>;
  readonly resourceVersion: string;
}

/** Only metadata of each object: bodies of foreign Secrets never reach us. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const METADATA_ONLY_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** What an apply is made over: nothing of that name, an object of this version, or whatever is there. */
export type Over = "nothing" | "anything" | { readonly version: string };

export interface Selection {
  /** Collection path, e.g. `/apis/apps/v1/deployments` or `/api/v1/namespaces/a/pods`. */
  readonly path: string;
  readonly labels?: string;
  /** Field selector, e.g. `metadata.name=a`. */
  readonly fields?: string;
  readonly metadataOnly?: boolean;
}

export class Cluster extends Context.Service<Cluster, {
  /** The object, or undefined when there is none. */
  /** `cached`: as the API server's own cache has it, which costs it a tenth and may be some milliseconds old. */
  readonly get: (key: ObjectKey, cached?: "cached") => Effect.Effect<JsonObject | undefined, ClusterError>;
  readonly read: (path: string) => Effect.Effect<Json, ClusterError>;
  readonly list: (selection: Selection) => Effect.Effect<Listed, ClusterError>;
  /** A list that is never in memory as a whole: each page is handed on and forgotten. The version to watch from. */
  readonly eachPage: (
    selection: Selection,
    visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void>,
  ) => Effect.Effect<string, ClusterError>;
  readonly watch: (selection: Selection, resourceVersion: string) => Stream.Stream<WatchEvent, ClusterError>;
  /** 409 where another object of that name is there than the one it is made over, which then stays as it is. */
  readonly apply: (
    manifest: Manifest,
    fieldManager: string,
    over: Over,
  ) => Effect.Effect<JsonObject, ClusterError>;
  /** Server-side apply of a part of an object that has no namespace, at its path. */
  readonly applyAt: (path: string, part: JsonObject, fieldManager: string) => Effect.Effect<JsonObject, ClusterError>;
  /** Who owns which fields, replaced as a whole at the version that was seen; the object itself does not change. */
  readonly replaceManagers: (
    key: ObjectKey,
    resourceVersion: string,
    managedFields: ReadonlyArray<Json>,
  ) => Effect.Effect<JsonObject, ClusterError>;
  /** Writes an object as it is, at the version that was seen: the API server stores it in its present form. */
  readonly touch: (key: ObjectKey, resourceVersion: string) => Effect.Effect<void, ClusterError>;
  /** The object stays where it is not the one, or not the version, that was seen; an empty version stands for any. */
  readonly remove: (key: ObjectKey, uid: string, resourceVersion: string) => Effect.Effect<void, ClusterError>;
  readonly writeStatus: (
    resource: JsonObject,
    status: object,
    fieldManager: string,
  ) => Effect.Effect<JsonObject, ClusterError>;
  readonly create: (path: string, object: JsonObject) => Effect.Effect<JsonObject, ClusterError>;
  readonly replace: (path: string, object: JsonObject) => Effect.Effect<JsonObject, ClusterError>;
}>()("llama-stack-operator/shell/Cluster") {
  static readonly layer = (connection: Connection) => Layer.effect(Cluster, connect(connection));
}

interface CallOptions {
  readonly body?: Json;
  /** Of the body; JSON when absent. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Whether an object that is not there is a refusal, or an answer like another. */
  readonly absent?: "refusal" | "null";
  /** Longest answer that is read, in bytes; without it as long as it is. */
  readonly bytesMax?: number;
}

const connect = (connection: Connection) =>
  Effect.gen(function* () {
    const patience = yield* Patience;
    // HTTP/1.1 for both. Over HTTP/2 this client sends headers and a longer body in two packets, and waits with the second
    // for an acknowledgement that the other side holds back: 45 ms for a write that takes 2 (seen on Deno 2.9.6). Unread watch
    // bodies on a shared HTTP/2 connection would also block every call behind them.
    const newClient = (caPem: string | undefined) =>
      Deno.createHttpClient({
        ...(caPem === undefined ? {} : { caCerts: [caPem] }),
        ...(connection.clientCertificate === undefined ? {} : connection.clientCertificate),
        http2: false,
        poolIdleTimeout: CONNECTION_IDLE_MS,
      });
    const calls = yield* renewableClient(newClient, connection.caPem);
    const watches = yield* renewableClient(newClient, connection.caPem);

    const headersFor = (accept: string, contentType: string | undefined): Headers => {
      const headers = new Headers({ accept });
      const token = connection.token();
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      if (contentType !== undefined) headers.set("content-type", contentType);
      return headers;
    };

    const once = (
      verb: string,
      method: string,
      path: string,
      {
        body,
        contentType = body === undefined ? undefined : "application/json",
        accept = "application/json",
        absent = "refusal",
        bytesMax,
      }: CallOptions,
      mayCall: () => boolean,
    ) =>
      calls.using((client) =>
        Effect.tryPromise({
          try: (signal) =>
            within(patience.callMs, signal, async (both) => {
              // The runtime sends when nothing is left to run. What else is ready runs first: nothing but other requests
              // then comes between the fence and the wire, should the process be stopped there and wake without its lease.
              await Promise.resolve();
              if (!mayCall()) throw fenced(verb, path);
              const response = await fetch(`${connection.url}${path}`, {
                method,
                headers: headersFor(accept, contentType),
                signal: both,
                client,
                ...(body === undefined ? {} : { body: JSON.stringify(body) }),
              });
              const text = bytesMax === undefined ? await response.text() : await textWithin(response, bytesMax, both);
              if (text === undefined) throw tooLong(verb, path, bytesMax ?? 0);
              const { ok, status } = response;
              if (status === 404 && absent === "null") return { status, found: null };
              if (!ok) throw refusal(verb, path, response, text);
              return { status: 200, found: (text === "" ? null : JSON.parse(text)) as Json };
            }),
          catch: (cause) => cause instanceof ClusterError ? cause : unreached(verb, path, cause),
        })
      ).pipe(
        Effect.tapError((error) => isFenced(error) ? Effect.void : asked(method, error.status)),
        Effect.flatMap(({ status, found }) => Effect.as(asked(method, status), found)),
      );

    const call = (verb: string, method: string, path: string, options: CallOptions = {}) =>
      // Asked before each attempt: between two of them the lease may have run out.
      Effect.flatMap(Fence, ({ mayWrite }) => once(verb, method, path, options, method === "GET" ? always : mayWrite))
        .pipe(
          Effect.tapError((error) =>
            error.isPassing && error.retryAfterMs !== undefined ? Effect.sleep(error.retryAfterMs) : Effect.void
          ),
          Effect.retry({
            while: (error) => error.isPassing && !isFenced(error),
            schedule: BACKOFF,
            times: CALL_ATTEMPTS_MAX - 1,
          }),
        );

    const callAt = (verb: string, method: string, key: ObjectKey, behind: string, options: CallOptions = {}) => {
      const path = pathOf(key);
      return path === undefined ? Effect.fail(unnameable(verb, key)) : call(verb, method, `${path}${behind}`, options);
    };

    const eachPage = Effect.fnUntraced(function* (
      { path, labels, fields, metadataOnly }: Selection,
      visit: (items: ReadonlyArray<JsonObject>) => Effect.Effect<void>,
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
          // One object always fits, or what somebody wrote would keep the whole list from being read.
          ...(limit === 1 ? {} : { bytesMax: LIST_PAGE_BYTES_MAX }),
        }).pipe(Effect.catchIf(isTooLong, () => Effect.succeed(TOO_LONG)));
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
              const answer = await fetch(`${connection.url}${target}`, {
                headers: headersFor(accept, undefined),
                signal: controller.signal,
                client,
              });
              if (!answer.ok) throw refusal("watch", path, answer, await answer.text());
              return answer;
            },
            catch: (cause) => cause instanceof ClusterError ? cause : unreached("watch", path, cause),
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
            // Something between here and there may have ended the answer in the middle of an event.
            (cause) => cause instanceof ClusterError ? cause : unreached("watch", path, cause),
          ),
        );
      }));

    // Forced: the fields that we name are ours, whoever wrote them before (takeover, hands). Not validated beyond the schema,
    // which refuses unknown fields all the same (seen on 1.36): the API server would parse each body twice, for warnings that
    // nobody here reads, and need a fifth more time for an apply.
    const applyQuery = (fieldManager: string) =>
      `?${new URLSearchParams({ fieldManager, force: "true", fieldValidation: "Ignore" })}`;
    const applied = (body: Json) => ({ body, contentType: "application/apply-patch+yaml" });

    return Cluster.of({
      get: (key, cached) =>
        callAt("get", "GET", key, cached === undefined ? "" : "?resourceVersion=0", { absent: "null" }).pipe(
          Effect.map((found) => isObject(found) ? found : undefined),
        ),
      read: (path) => call("get", "GET", path),
      list,
      eachPage,
      watch,
      apply: (manifest, fieldManager, over) =>
        callAt(
          "apply",
          "PATCH",
          { ...manifest, namespace: manifest.metadata.namespace, name: manifest.metadata.name },
          applyQuery(fieldManager),
          applied(
            over === "anything" ? manifest : {
              ...manifest,
              metadata: { ...manifest.metadata, resourceVersion: over === "nothing" ? VERSION_OF_NONE : over.version },
            },
          ),
        ).pipe(Effect.map((made) => made as JsonObject)),
      applyAt: (path, part, fieldManager) =>
        call("apply", "PATCH", `${path}${applyQuery(fieldManager)}`, applied(part))
          .pipe(Effect.map((made) => made as JsonObject)),
      replaceManagers: (key, resourceVersion, managedFields) =>
        callAt(
          "take over",
          "PATCH",
          key,
          "",
          { body: { metadata: { resourceVersion, managedFields } }, contentType: "application/merge-patch+json" },
        ).pipe(Effect.map((changed) => changed as JsonObject)),
      touch: (key, resourceVersion) =>
        Effect.asVoid(
          callAt("touch", "PATCH", key, "", {
            body: { metadata: { resourceVersion } },
            contentType: "application/merge-patch+json",
          }),
        ),
      remove: (key, uid, resourceVersion) =>
        Effect.asVoid(
          callAt("delete", "DELETE", key, "", {
            body: {
              kind: "DeleteOptions",
              apiVersion: "v1",
              preconditions: { uid, ...(resourceVersion === "" ? {} : { resourceVersion }) },
              propagationPolicy: "Background",
            },
          }),
        ).pipe(Effect.catchIf((error) => error.status === 404 || error.status === 409, () => Effect.void)),
      writeStatus: (resource, status, fieldManager) => {
        const key: ObjectKey = {
          apiVersion: stringAt(resource, "apiVersion") ?? "",
          kind: stringAt(resource, "kind") ?? "",
          namespace: stringAt(resource, "metadata", "namespace") ?? "",
          name: stringAt(resource, "metadata", "name") ?? "",
        };
        // At the version that was seen: a status made from an older look must not win. The API server takes nothing but
        // the status from the body, and fills the rest from what is stored.
        const body = {
          apiVersion: key.apiVersion,
          kind: key.kind,
          metadata: {
            name: key.name,
            namespace: key.namespace,
            resourceVersion: stringAt(resource, "metadata", "resourceVersion") ?? "",
            uid: stringAt(resource, "metadata", "uid") ?? "",
          },
          status: status as JsonObject,
        };
        return callAt(
          "update status of",
          "PUT",
          key,
          `/status?${new URLSearchParams({ fieldManager })}`,
          { body },
        )
          .pipe(Effect.map((written) => written as JsonObject));
      },
      create: (path, object) =>
        call("create", "POST", path, { body: object }).pipe(
          Effect.map((made) => made as JsonObject),
        ),
      replace: (path, object) =>
        call("replace", "PUT", path, { body: object }).pipe(
          Effect.map((made) => made as JsonObject),
        ),
    });
  });

/**
 * No object has it, since the first version of the database is that of its own beginning. An apply that names a version creates
 * where there is no object, and is refused where one has another version (seen on 1.36, for custom resources too).
 */
const VERSION_OF_NONE = "1";

const always = (): boolean => true;

/** In place of a page that would take too much memory. */
const TOO_LONG = Symbol("too long");

const BACKOFF = Schedule.jittered(Schedule.exponential("200 millis"));
