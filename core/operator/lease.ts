/** Who may hold the lease of the operator: decided by what this replica saw itself, never by the clock of another. */
import * as Data from "effect/Data";
import { type JsonObject, member, objectAt, put, stringAt } from "../data/json.ts";

export type LeaseMove = Data.TaggedEnum<{
  /** The lease does not exist yet. */
  Create: Record<never, never>;
  /** The lease is held by this replica, free, or expired. */
  Claim: Record<never, never>;
  /** Another replica has it; at the end of this pause, in milliseconds, it has run out unless it was renewed. */
  Wait: { readonly forMs: number };
}>;
export const LeaseMove = Data.taggedEnum<LeaseMove>();

/** `unchangedMs` is for how long this replica has been seeing the lease as it is now. */
export const leaseMove = (lease: JsonObject | undefined, me: string, unchangedMs: number): LeaseMove => {
  if (lease === undefined) return LeaseMove.Create();
  const holder = holderOf(lease);
  if (holder === "" || holder === me) return LeaseMove.Claim();
  const forMs = secondsOf(lease) * 1000 - unchangedMs;
  return forMs <= 0 ? LeaseMove.Claim() : LeaseMove.Wait({ forMs });
};

/** Empty if it has no holder. */
export const holderOf = (lease: JsonObject): string => stringAt(lease, "spec", "holderIdentity") ?? "";

/** Whether two reads are equal: the lease was not claimed, renewed or released in between. */
export const sameLease = (a: JsonObject | undefined, b: JsonObject | undefined): boolean =>
  JSON.stringify(a === undefined ? null : [a.spec ?? null, objectAt(a, "metadata").uid ?? null]) ===
    JSON.stringify(b === undefined ? null : [b.spec ?? null, objectAt(b, "metadata").uid ?? null]);

export interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly holder: string;
  readonly seconds: number;
  readonly nowMs: number;
}

/** The lease after `claim`, fenced by the resourceVersion of `before`. */
export const claimed = (
  before: JsonObject | undefined,
  { namespace, name, holder, seconds, nowMs }: Claim,
): JsonObject => {
  const now = microTime(nowMs);
  const old = objectAt(before, "spec");
  const moved = before === undefined || holderOf(before) !== holder;
  const transitions = member(old, "leaseTransitions");
  const count = typeof transitions === "number" ? transitions : 0;
  const spec: JsonObject = {
    ...old,
    holderIdentity: holder,
    leaseDurationSeconds: seconds,
    renewTime: now,
    acquireTime: moved ? now : member(old, "acquireTime") ?? now,
    leaseTransitions: moved && before !== undefined ? count + 1 : count,
  };
  return before === undefined
    ? { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec }
    : put(before, ["spec"], spec);
};

/** Free for the next replica at once; the short duration is for replicas that go by it alone. */
export const released = (before: JsonObject, nowMs: number): JsonObject =>
  put(before, ["spec"], {
    ...objectAt(before, "spec"),
    holderIdentity: "",
    leaseDurationSeconds: 1,
    renewTime: microTime(nowMs),
  });

/** Duration of a lease that states none, in seconds: the one of Kubernetes' own components. */
const SECONDS_DEFAULT = 15;

const secondsOf = (lease: JsonObject): number => {
  const seconds = member(objectAt(lease, "spec"), "leaseDurationSeconds");
  return typeof seconds === "number" && seconds > 0 ? seconds : SECONDS_DEFAULT;
};

/** metav1.MicroTime wants six digits. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
