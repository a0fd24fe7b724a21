import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { RollingUpgrade } from "../../snapshot/rolling_upgrade.ts";
import { holdingSlots, stopperOf } from "./upgrade_slots.ts";

const away = (key: string, state: RollingUpgrade["state"], more: Partial<RollingUpgrade> = {}): RollingUpgrade => ({
  key,
  queue: "starter",
  pins: "p",
  state,
  slotEndsMs: 1000,
  ...more,
});
const stopAt = (list: ReadonlyArray<RollingUpgrade>, namespace: string, pins = "p", queue = "starter") =>
  stopperOf(list, { namespace, queue, pins })?.key;

Deno.test("stopperOf() stops a namespace at its first failed upgrade, and no other namespace", () => {
  const list = [away("a/1", "rolling"), away("a/2", "failed"), away("a/3", "failed")];
  deepStrictEqual([stopAt([], "a"), stopAt(list, "a"), stopAt(list, "b")], [undefined, "a/2", undefined]);
  deepStrictEqual([stopAt(list, "a", "other pins"), stopAt(list, "a", "p", "ogx")], [undefined, undefined]);
});

Deno.test("stopperOf() stops every namespace once three of them have a failed upgrade to the same pins", () => {
  const two = [away("a/1", "failed"), away("a/2", "failed"), away("b/1", "failed")];
  const three = [...two, away("c/1", "failed", { pins: "q" }), away("d/1", "failed")];
  deepStrictEqual([stopAt(two, "z"), stopAt(three, "z"), stopAt(three, "d")], [undefined, "a/1", "d/1"]);
});

Deno.test("stopperOf() lets one tenant with three namespaces stop his own upgrades only", () => {
  const failed = ["a", "b", "c"].map((namespace) => away(`${namespace}/1`, "failed"));
  const complete = (...namespaces: ReadonlyArray<string>) => namespaces.map((name) => away(`${name}/1`, "complete"));
  strictEqual(stopAt([...failed, ...complete("d", "e")], "z"), "a/1");
  strictEqual(stopAt([...failed, ...complete("d", "e", "f")], "z"), undefined);
  strictEqual(stopAt([...failed, ...complete("d", "e", "f")], "b"), "b/1");
  // Neither another server in a namespace that failed, nor another upgrade, nor one that goes on says that it works.
  const others = [away("a/2", "complete"), away("f/1", "complete", { pins: "q" }), away("f/2", "rolling")];
  strictEqual(stopAt([...failed, ...complete("d", "e"), ...others], "z"), "a/1");
});

Deno.test("holdingSlots() counts neither failed upgrades nor those whose time is over", () => {
  const list = [away("a/1", "rolling"), away("a/2", "failed"), away("a/3", "rolling", { slotEndsMs: 999 })];
  deepStrictEqual(holdingSlots(list, 999).map(({ key }) => key), ["a/1"]);
  strictEqual(holdingSlots(list, 1000).length, 0);
  // As somebody might write into the annotation of his own Deployment.
  strictEqual(holdingSlots([away("a/1", "rolling", { slotEndsMs: Date.UTC(2999, 0, 1) })], 999).length, 0);
});
