/** Errors between the operator and the API server, created where the external response or exception arrives. */
import * as Data from "effect/Data";
import { type Json, type JsonObject, listAt, member, stringAt } from "../../core/data/json.ts";
import type { ObjectKey } from "../../core/snapshot/object_key.ts";
import { CAUSES_MAX, RETRY_AFTER_MS_MAX } from "../limits.ts";

const UNREACHABLE = "Unreachable";

/** A call that the API server rejected, or that never reached it. */
export class ClusterError extends Data.TaggedError("ClusterError")<{
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
}> {
  override get message(): string {
    return this.reason === UNREACHABLE
      ? `Cannot ${this.verb} ${this.path}: the API server did not answer: ${this.detail}`
      : `Cannot ${this.verb} ${this.path}: ${this.status ?? "not sent"} ${this.reason}: ${this.detail}`;
  }
  /** The same call may work in a moment. */
  get isPassing(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }
}

export const rejectionError = (verb: string, path: string, response: Response, text: string): ClusterError => {
  const status = parsed(text);
  const retryAfter = Number(response.headers.get("retry-after"));
  return new ClusterError({
    verb,
    path: path.split("?")[0] ?? path,
    status: response.status,
    reason: stringAt(status, "reason") ?? response.statusText,
    detail: stringAt(status, "message") ?? "no message",
    retryAfterMs: retryAfter > 0 ? Math.min(retryAfter * 1000, RETRY_AFTER_MS_MAX) : undefined,
    fields: listAt(status, "details", "causes").flatMap((cause) => stringAt(cause, "field") ?? []),
  });
};

/** For invalid object names: used in a path unchanged, they would request something else. */
export const unnameable = (verb: string, { kind, namespace }: ObjectKey): ClusterError =>
  new ClusterError({
    verb,
    path: `${kind} in namespace ${namespace}`,
    status: 400,
    reason: "InvalidName",
    detail: "not a valid object name",
    retryAfterMs: undefined,
  });

const TOO_LONG = "TooLong";

/** The answer is longer than the caller reads. */
export const tooLong = (verb: string, path: string, bytesMax: number): ClusterError =>
  new ClusterError({
    verb,
    path: path.split("?")[0] ?? path,
    status: 200,
    reason: TOO_LONG,
    detail: `more than ${bytesMax} bytes`,
    retryAfterMs: undefined,
  });

export const isTooLong = ({ reason }: ClusterError): boolean => reason === TOO_LONG;

export const watchError = (path: string, status: JsonObject): ClusterError =>
  new ClusterError({
    verb: "watch",
    path,
    status: Number(member(status, "code") ?? 500),
    reason: stringAt(status, "reason") ?? "Error",
    detail: stringAt(status, "message") ?? "no message",
    retryAfterMs: undefined,
  });

export const unreached = (verb: string, path: string, cause: unknown): ClusterError =>
  new ClusterError({
    verb,
    path: path.split("?")[0] ?? path,
    status: undefined,
    reason: UNREACHABLE,
    detail: withCauses(cause),
    retryAfterMs: undefined,
  });

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
