import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Claim, claimed, holderOf, LeaseMove, leaseMove, released, sameLease } from "./lease.ts";
import { at, type JsonObject } from "../data/json.ts";

const held = (holderIdentity: string, leaseDurationSeconds = 15): JsonObject => ({
  metadata: { name: "l", resourceVersion: "7" },
  // A clock that is wrong by decades changes nothing.
  spec: { holderIdentity, leaseDurationSeconds, renewTime: "1999-01-01T00:00:00.000000Z", leaseTransitions: 3 },
});

for (
  const [what, lease, unchangedMs, move] of [
    ["creates a lease that is not there", undefined, 0, LeaseMove.Create()],
    ["claims its own lease", held("me"), 0, LeaseMove.Claim()],
    ["claims a released lease at once", held("", 1), 0, LeaseMove.Claim()],
    ["claims a lease without a spec", { metadata: {} }, 0, LeaseMove.Claim()],
    [
      "waits for a lease that was just seen, whatever its renewTime says",
      held("other"),
      0,
      LeaseMove.Wait({ forMs: 15_000 }),
    ],
    ["waits until the last millisecond", held("other"), 14_999, LeaseMove.Wait({ forMs: 1 })],
    ["claims a lease that nobody renewed in its time", held("other"), 15_000, LeaseMove.Claim()],
    ["goes by the duration of the holder", held("other", 60), 15_000, LeaseMove.Wait({ forMs: 45_000 })],
    ["takes 15 s for a lease without a usable duration", held("other", 0), 1000, LeaseMove.Wait({ forMs: 14_000 })],
  ] as const
) {
  Deno.test(`leaseMove() ${what}`, () => deepStrictEqual(leaseMove(lease, "me", unchangedMs), move));
}

const CLAIM: Claim = { namespace: "n", name: "l", holder: "me", seconds: 15, nowMs: 1_700_000_000_123 };

Deno.test("claimed() makes a first lease without a transition", () => {
  deepStrictEqual(claimed(undefined, CLAIM), {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "l", namespace: "n" },
    spec: {
      holderIdentity: "me",
      leaseDurationSeconds: 15,
      renewTime: "2023-11-14T22:13:20.123000Z",
      acquireTime: "2023-11-14T22:13:20.123000Z",
      leaseTransitions: 0,
    },
  });
});

Deno.test("claimed() counts a transition, keeps it on renewal, and keeps the resourceVersion as the fence", () => {
  const taken = claimed(held("other"), CLAIM);
  deepStrictEqual([at(taken, "spec", "leaseTransitions"), at(taken, "metadata", "resourceVersion")], [4, "7"]);
  const renewed = claimed(taken, { ...CLAIM, nowMs: CLAIM.nowMs + 2000 });
  strictEqual(at(renewed, "spec", "leaseTransitions"), 4);
  strictEqual(at(renewed, "spec", "acquireTime"), at(taken, "spec", "acquireTime"));
  ok(!sameLease(taken, renewed));
});

Deno.test("released() leaves a lease that the next replica claims at once", () => {
  const free = released(claimed(undefined, CLAIM), CLAIM.nowMs + 1);
  deepStrictEqual([holderOf(free), at(free, "spec", "leaseDurationSeconds")], ["", 1]);
  deepStrictEqual(leaseMove(free, "other", 0), LeaseMove.Claim());
});

Deno.test("sameLease() compares the fields that holders write, and ignores added labels", () => {
  const lease = held("other");
  ok(sameLease(lease, { ...lease, metadata: { name: "l", resourceVersion: "8", labels: { a: "b" } } }));
  ok(!sameLease(lease, undefined));
});
