/** Errors between the operator and the API server, created where the external response or exception arrives. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import { type Json, type JsonObject, listAt, member, stringAt } from "../../core/data/json.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { CAUSES_MAX, RETRY_AFTER_MS_MAX } from "../limits.ts";

interface Call {
  readonly verb: string;
  readonly path: string;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** The reason that the API server gives, e.g. Conflict, Forbidden, Expired. */
  readonly reason: string;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
  /** Paths in the object that was written, as the API server names what it rejects; empty where it names none. */
  readonly fields?: ReadonlyArray<string>;
}

/** A call that the API server rejected, or that never reached it. */
abstract class FailedCall extends Data.Error<Call> {
  abstract readonly _tag: string;
  override get message(): string {
    return `Cannot ${this.verb} ${this.path}: ${this.status ?? "not sent"} ${this.reason}: ${this.detail}`;
  }
}

export class Unauthorized extends FailedCall {
  readonly _tag = "Unauthorized";
}
export class Forbidden extends FailedCall {
  readonly _tag = "Forbidden";
}
/** No such object, namespace or kind. */
export class NotFound extends FailedCall {
  readonly _tag = "NotFound";
}
/** The path exists, but not for this verb, as while a kind is being removed. */
export class MethodNotAllowed extends FailedCall {
  readonly _tag = "MethodNotAllowed";
}
/** Somebody else has written the object, or created it. */
export class Conflict extends FailedCall {
  readonly _tag = "Conflict";
}
/** A watch or the next page of a list asked for a version that the API server no longer has. */
export class Expired extends FailedCall {
  readonly _tag = "Expired";
}
/** Any other rejection; the same call will be rejected again. */
export class Invalid extends FailedCall {
  readonly _tag = "Invalid";
}
export class TooManyRequests extends FailedCall {
  readonly _tag = "TooManyRequests";
}
/** Of the API server, or of a webhook that it calls. */
export class ServerError extends FailedCall {
  readonly _tag = "ServerError";
}
export class Unreachable extends FailedCall {
  readonly _tag = "Unreachable";
  override get message(): string {
    return `Cannot ${this.verb} ${this.path}: the API server did not answer: ${this.detail}`;
  }
}
/** Not sent, because this replica lost its lease. */
export class NotLeading extends FailedCall {
  readonly _tag = "NotLeading";
}
/** The answer is longer than the caller reads. */
export class TooLong extends FailedCall {
  readonly _tag = "TooLong";
}

export type ClusterError =
  | Unauthorized
  | Forbidden
  | NotFound
  | MethodNotAllowed
  | Conflict
  | Expired
  | Invalid
  | TooManyRequests
  | ServerError
  | Unreachable
  | NotLeading
  | TooLong;

export const isClusterError = (value: unknown): value is ClusterError => value instanceof FailedCall;

/** The same call may work in a moment. */
export const isPassing = ({ _tag }: ClusterError): boolean =>
  _tag === "TooManyRequests" || _tag === "ServerError" || _tag === "Unreachable" || _tag === "NotLeading";

const BY_STATUS: Readonly<Record<number, new (call: Call) => ClusterError>> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  405: MethodNotAllowed,
  409: Conflict,
  410: Expired,
  429: TooManyRequests,
};

const classFor = (status: number | undefined): new (call: Call) => ClusterError =>
  status === undefined ? Unreachable : BY_STATUS[status] ?? (status >= 500 ? ServerError : Invalid);

export const failedCall = (call: Call): ClusterError => new (classFor(call.status))(call);

export const rejectionError = (verb: string, path: string, response: Response, text: string): ClusterError => {
  const status = parsed(text);
  const retryAfter = Number(response.headers.get("retry-after"));
  return failedCall({
    verb,
    path: withoutQuery(path),
    status: response.status,
    reason: stringAt(status, "reason") ?? response.statusText,
    detail: stringAt(status, "message") ?? "no message",
    retryAfterMs: retryAfter > 0 ? Math.min(retryAfter * 1000, RETRY_AFTER_MS_MAX) : undefined,
    fields: listAt(status, "details", "causes").flatMap((cause) => stringAt(cause, "field") ?? []),
  });
};

/** For invalid object names: used in a path unchanged, they would request something else. */
export const unnameable = (verb: string, { kind, namespace }: ObjectKey): ClusterError =>
  failedCall({
    verb,
    path: `${kind} in namespace ${namespace}`,
    status: 400,
    reason: "InvalidName",
    detail: "not a valid object name",
    retryAfterMs: undefined,
  });

export const tooLong = (verb: string, path: string, bytesMax: number): ClusterError =>
  new TooLong({
    verb,
    path: withoutQuery(path),
    status: 200,
    reason: "TooLong",
    detail: `more than ${bytesMax} bytes`,
    retryAfterMs: undefined,
  });

export const watchError = (path: string, status: JsonObject): ClusterError =>
  failedCall({
    verb: "watch",
    path,
    status: Number(member(status, "code") ?? 500),
    reason: stringAt(status, "reason") ?? "Error",
    detail: stringAt(status, "message") ?? "no message",
    retryAfterMs: undefined,
  });

export const unreached = (verb: string, path: string, cause: unknown): ClusterError =>
  failedCall({
    verb,
    path: withoutQuery(path),
    status: undefined,
    reason: "Unreachable",
    detail: withCauses(cause),
    retryAfterMs: undefined,
  });

/** Counts as unreachable, so that it is not treated as a rejection of the object. */
export const fenced = (verb: string, path: string): ClusterError =>
  new NotLeading({
    verb,
    path: withoutQuery(path),
    status: undefined,
    reason: "NotLeading",
    detail: "the lease was not renewed in time",
    retryAfterMs: undefined,
  });

const withoutQuery = (path: string): string => path.split("?")[0] ?? path;

/** The error with its causes, down to the first one: an exception of fetch alone does not name the reason. */
export const withCauses = (cause: unknown): string => {
  const words: Array<string> = [];
  let inner = cause;
  for (let depth = 0; inner !== undefined && depth < CAUSES_MAX; depth++) {
    const word = inner instanceof Error ? inner.message : String(inner);
    if (!words.some((known) => known.includes(word))) words.push(word);
    inner = inner instanceof Error ? inner.cause : undefined;
  }
  return words.join(": ");
};

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
};

/** Says in the log what was not done. */
export const warned = (what: string) => ({ reason, detail }: Pick<ClusterError, "reason" | "detail">) =>
  Effect.logWarning(what).pipe(Effect.annotateLogs({ reason, detail }));
