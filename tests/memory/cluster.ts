/**
 * A cluster in memory behind the operator's own door (shell/kubernetes/cluster.ts): versions, conflicts, watches, deletions with
 * owners, and server-side apply. It has no defaults, no validation and no controllers; calls take virtual time, in an order that
 * a seed decides.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Queue from "effect/Queue";
import * as Stream from "effect/Stream";
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  objectAt,
  omit,
  stringAt,
} from "../../core/data/json.ts";
import type { Patch } from "../../core/plan/patch.ts";
import {
  Cluster,
  type ClusterError,
  failedCall,
  type Selection,
  type WatchEvent,
} from "../../shell/kubernetes/cluster.ts";
import { watchError } from "../../shell/kubernetes/cluster_error.ts";
import { pathOf } from "../../shell/kubernetes/object_path.ts";
import { requestOf } from "../../shell/kubernetes/request.ts";
import { changedAmong, fieldsOf, merged, ownable, removed, without } from "./field_sets.ts";

interface Change {
  readonly version: number;
  readonly path: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

interface Watcher {
  readonly selection: Selection;
  readonly queue: Queue.Queue<WatchEvent, ClusterError | Cause.Done>;
}

export class MemoryCluster {
  private readonly objects = new Map<string, JsonObject>();
  private readonly changes: Array<Change> = [];
  private readonly watchers = new Set<Watcher>();
  private version = 100;
  private uids = 0;
  private oldest = 0;
  /** Writes of the operator, as `METHOD path`. */
  readonly written: Array<string> = [];
  /** Decides about a call before it is made; an error is its answer. */
  fault: (method: string, path: string) => ClusterError | undefined = () => undefined;

  /** `delayMs`: what a call takes until it is carried out, and then until its answer arrives, in virtual milliseconds. */
  constructor(private readonly delayMs: () => number) {}

  /** An object, or a list with an optional label selector, as GET gives it; empty if there is none. */
  read = (path: string): JsonObject => {
    const [place = "", query = ""] = path.split("?");
    const found = this.objects.get(place);
    if (found !== undefined) return found;
    if (!isCollection(place)) return {};
    const labels = new URLSearchParams(query).get("labelSelector") ?? undefined;
    return {
      metadata: { resourceVersion: String(this.version) },
      items: this.selected({ path: place, ...(labels === undefined ? {} : { labels }) }),
    };
  };

  /** A write by somebody else: an update, whose manager then owns what it changed. Undefined deletes. */
  write(path: string, object: JsonObject | undefined, manager = "somebody", subresource?: "status"): void {
    const before = this.objects.get(path);
    if (object === undefined) return this.remove(path);
    const now = ownable(object);
    const fields = changedAmong(fieldsOf(now), ownable(before ?? {}), now);
    const others = entriesOf(before).filter((entry) => stringAt(entry, "manager") !== manager).flatMap((entry) =>
      lessened(entry, fields)
    );
    const own = entriesOf(before).find((entry) => stringAt(entry, "manager") === manager);
    const owned = merged(objectAt(own ?? null, "fieldsV1"), fields) as JsonObject;
    const entry = {
      manager,
      operation: "Update",
      fieldsType: "FieldsV1",
      fieldsV1: owned,
      ...(subresource === undefined ? {} : { subresource }),
    };
    this.store(path, { ...object, metadata: { ...objectAt(object, "metadata"), managedFields: [...others, entry] } });
  }

  /** Ends every watch; `expired`: their versions are too old for another one. */
  cutWatches(expired: boolean): void {
    if (expired) this.oldest = this.version;
    for (const { queue } of this.watchers) Queue.endUnsafe(queue);
    this.watchers.clear();
  }

  /** For the operator. */
  get door(): typeof Cluster.Service {
    const slowly = <A>(method: string, path: string, work: () => A): Effect.Effect<A, ClusterError> =>
      Effect.gen({ self: this }, function* () {
        yield* Effect.sleep(this.delayMs());
        const fault = this.fault(method, path);
        if (fault !== undefined) return yield* Effect.fail(fault);
        const made = yield* Effect.try({ try: work, catch: (error) => error as ClusterError });
        yield* Effect.sleep(this.delayMs());
        return made;
      });
    const pages = (selection: Selection) =>
      slowly("GET", selection.path, () => ({ items: this.selected(selection), version: String(this.version) }));
    return Cluster.of({
      get: (key) => slowly("GET", pathOf(key) ?? "", () => this.objects.get(pathOf(key) ?? "")),
      read: (path) => slowly("GET", path, () => this.read(path)),
      discover: () => Effect.succeed(undefined),
      list: (selection) => Effect.map(pages(selection), ({ items, version }) => ({ items, resourceVersion: version })),
      eachPage: (selection, visit) =>
        Effect.flatMap(pages(selection), ({ items, version }) => Effect.as(visit(items), version)),
      watch: (selection, from) => this.watch(selection, Number(from)),
      send: (patch) => {
        const request = requestOf(patch);
        if ("unnameable" in request) return Effect.die(new Error(`no path for ${JSON.stringify(request.unnameable)}`));
        return slowly(request.method, request.path, () => {
          this.written.push(`${request.method} ${request.path.split("?")[0]}`);
          return this.carryOut(patch, request.path.split("?")[0] ?? "", request.body);
        });
      },
    });
  }

  private watch(selection: Selection, from: number): Stream.Stream<WatchEvent, ClusterError> {
    return Stream.unwrap(Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.delayMs());
      if (from < this.oldest) return Stream.fail(watchError(selection.path, { code: 410, reason: "Expired" }));
      const queue = yield* Queue.make<WatchEvent, ClusterError | Cause.Done>();
      for (const change of this.changes) if (change.version > from) tell({ selection, queue }, change);
      const watcher = { selection, queue };
      this.watchers.add(watcher);
      const delay = this.delayMs;
      return Stream.fromQueue(queue).pipe(
        Stream.tap(() => Effect.sleep(delay())),
        Stream.ensuring(Effect.sync(() => this.watchers.delete(watcher))),
      ) as Stream.Stream<WatchEvent, ClusterError>;
    }));
  }

  private selected({ path, labels, fields }: Selection): ReadonlyArray<JsonObject> {
    return [...this.objects].filter(([place, object]) =>
      isIn(path, place) && hasLabels(object, labels) && hasFields(object, fields)
    ).map(([, object]) => object);
  }

  private carryOut(patch: Patch, path: string, body: Json): JsonObject {
    const verb = patch._tag;
    const live = this.objects.get(path);
    const sent = body as JsonObject;
    const refuse = (status: number, reason: string) => {
      throw failedCall({ verb, path, status, reason, detail: reason, retryAfterMs: undefined });
    };
    const sentVersion = stringAt(sent, "metadata", "resourceVersion");
    const conflicts = sentVersion !== undefined &&
      sentVersion !== stringAt(live ?? null, "metadata", "resourceVersion");
    switch (patch._tag) {
      case "Create": {
        const name = stringAt(sent, "metadata", "name") ??
          `${stringAt(sent, "metadata", "generateName")}${++this.uids}`;
        if (this.objects.has(`${path}/${name}`)) refuse(409, "AlreadyExists");
        return this.store(`${path}/${name}`, { ...sent, metadata: { ...objectAt(sent, "metadata"), name } });
      }
      case "Delete":
        if (live === undefined) return refuse(404, "NotFound");
        if (stringAt(live, "metadata", "uid") !== patch.uid) return refuse(409, "Conflict");
        if (patch.version !== "" && stringAt(live, "metadata", "resourceVersion") !== patch.version) {
          return refuse(409, "Conflict");
        }
        this.remove(path);
        return live;
      case "ServerSideApply":
        if (live === undefined ? sentVersion !== undefined && sentVersion !== "1" : conflicts) {
          return refuse(409, "Conflict");
        }
        return this.apply(path, omitVersion(sent), patch.fieldManager);
      case "UpdateStatus": {
        const place = path.replace(/\/status$/, "");
        const resource = this.objects.get(place);
        if (resource === undefined) return refuse(404, "NotFound");
        if (sentVersion !== stringAt(resource, "metadata", "resourceVersion")) return refuse(409, "Conflict");
        return this.store(place, { ...resource, status: sent.status ?? null });
      }
      case "ManagedFields":
        if (live === undefined) return refuse(404, "NotFound");
        if (conflicts) return refuse(409, "Conflict");
        return this.store(path, {
          ...live,
          metadata: { ...objectAt(live, "metadata"), managedFields: patch.managedFields },
        });
      case "Touch":
        if (live === undefined) return refuse(404, "NotFound");
        return conflicts ? refuse(409, "Conflict") : live;
      case "Replace":
        if (live === undefined) return refuse(404, "NotFound");
        return conflicts ? refuse(409, "Conflict") : this.store(path, sent);
      case "ClusterApply":
        return this.apply(path, sent, patch.fieldManager);
    }
  }

  private apply(path: string, sent: JsonObject, manager: string): JsonObject {
    const live = this.objects.get(path);
    const entries = entriesOf(live);
    const isOwn = (entry: Json) => stringAt(entry, "manager") === manager && stringAt(entry, "operation") === "Apply";
    const others = entries.filter((entry) => !isOwn(entry));
    const part = ownable(sent);
    const fields = fieldsOf(part);
    // What it had and names no more goes, unless somebody else has it too.
    const given = others.reduce(
      (left, entry) => without(left, objectAt(entry, "fieldsV1")),
      without(objectAt(entries.find(isOwn) ?? null, "fieldsV1"), fields),
    );
    const base = live ?? {};
    const rest = Object.keys(given).length === 0 ? ownable(base) : objectOf(removed(ownable(base), given));
    const made = merged(
      { ...rest, metadata: { ...keptMetadata(base), ...objectAt(rest, "metadata") } },
      sent,
    ) as JsonObject;
    const forced = changedAmong(fields, ownable(base), part);
    const entry = {
      manager,
      operation: "Apply",
      apiVersion: sent.apiVersion ?? "",
      fieldsType: "FieldsV1",
      fieldsV1: fields,
    };
    const managedFields = [entry, ...others.flatMap((other) => lessened(other, forced))];
    return this.store(path, { ...made, metadata: { ...objectAt(made, "metadata"), managedFields } });
  }

  private store(path: string, object: JsonObject): JsonObject {
    const before = this.objects.get(path);
    const metadata = objectAt(object, "metadata");
    const generation = Number(member(objectAt(before ?? null, "metadata"), "generation") ?? 0);
    const isNew = before === undefined;
    const bare = (value: JsonObject) =>
      JSON.stringify({ ...value, metadata: omit(objectAt(value, "metadata"), "resourceVersion", "generation") });
    const isEdited = isNew || JSON.stringify(before.spec ?? null) !== JSON.stringify(object.spec ?? null);
    const uid = isNew ? `uid-${++this.uids}` : stringAt(before, "metadata", "uid") ?? "";
    const next = {
      ...object,
      metadata: {
        ...metadata,
        uid,
        generation: isEdited ? generation + 1 : generation,
        resourceVersion: stringAt(before ?? null, "metadata", "resourceVersion") ?? "",
      },
    };
    // A write that changes nothing makes no version.
    if (!isNew && bare(before) === bare(next)) return before;
    this.version++;
    const after = { ...next, metadata: { ...next.metadata, resourceVersion: String(this.version) } };
    this.objects.set(path, after);
    this.changed({ version: this.version, path, before, after });
    return after;
  }

  private remove(path: string): void {
    const before = this.objects.get(path);
    if (before === undefined) return;
    this.objects.delete(path);
    this.version++;
    this.changed({ version: this.version, path, before, after: undefined });
    // The garbage collector, at once.
    const uid = stringAt(before, "metadata", "uid");
    for (const [place, object] of [...this.objects]) {
      if (listAt(object, "metadata", "ownerReferences").some((owner) => stringAt(owner, "uid") === uid)) {
        this.remove(place);
      }
    }
  }

  private changed(change: Change): void {
    this.changes.push(change);
    for (const watcher of this.watchers) tell(watcher, change);
  }
}

const omitVersion = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: omit(objectAt(object, "metadata"), "resourceVersion"),
});

const objectOf = (value: Json | undefined): JsonObject => isObject(value ?? null) ? value as JsonObject : {};

const keptMetadata = (object: JsonObject): JsonObject => {
  const owned = objectAt(ownable(object), "metadata");
  return Object.fromEntries(
    Object.entries(objectAt(object, "metadata")).filter(([key]) => !Object.hasOwn(owned, key)),
  );
};

const entriesOf = (object: JsonObject | undefined): ReadonlyArray<JsonObject> =>
  listAt(object ?? null, "metadata", "managedFields") as ReadonlyArray<JsonObject>;

/** Without fields that somebody else changed; gone if it has none left. */
const lessened = (entry: JsonObject, fields: JsonObject): ReadonlyArray<JsonObject> => {
  const left = without(objectAt(entry, "fieldsV1"), fields);
  return Object.keys(left).length === 0 ? [] : [{ ...entry, fieldsV1: left }];
};

const tell = ({ selection, queue }: Watcher, { path, before, after, version }: Change): void => {
  const isSelected = (object: JsonObject | undefined) =>
    object !== undefined && isIn(selection.path, path) && hasLabels(object, selection.labels) &&
    hasFields(object, selection.fields);
  const [was, is] = [isSelected(before), isSelected(after)];
  if (is && after !== undefined) Queue.offerUnsafe(queue, { type: was ? "MODIFIED" : "ADDED", object: after });
  else if (was && before !== undefined) {
    const metadata = { ...objectAt(before, "metadata"), resourceVersion: String(version) };
    Queue.offerUnsafe(queue, { type: "DELETED", object: { ...before, metadata } });
  }
};

/** `/apis/apps/v1/deployments` and `/apis/apps/v1/namespaces/a/deployments` are collections. */
const isCollection = (path: string): boolean =>
  /^\/(api\/v1|apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+)?\/[^/]+$/.test(path);

const isIn = (collection: string, path: string): boolean => {
  const [, place = "", plural = ""] = /^(.*)\/([^/]+)\/[^/]+$/.exec(path) ?? [];
  return `${place}/${plural}` === collection || `${place.replace(/\/namespaces\/[^/]+$/, "")}/${plural}` === collection;
};

const hasLabels = (object: JsonObject, selector: string | undefined): boolean =>
  (selector ?? "").split(",").filter((term) => term !== "").every((term) => {
    const [, name = "", operator = "", value = ""] = /^([^=!]+)(!=|=)?(.*)$/.exec(decodeURIComponent(term)) ?? [];
    const found = stringAt(object, "metadata", "labels", name);
    return operator === "" ? found !== undefined : operator === "=" ? found === value : found !== value;
  });

const hasFields = (object: JsonObject, selector: string | undefined): boolean =>
  (selector ?? "").split(",").filter((term) => term !== "").every((term) => {
    const [path = "", value] = term.split("=");
    return stringAt(object, ...path.split(".")) === value;
  });
