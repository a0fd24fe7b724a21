import { deepStrictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { endOf, livePod, openContainers } from "./live_pod.ts";

const podWith = (status: JsonObject) => livePod({ metadata: { name: "my-1" }, status });
const ended = (exitCode: number) => ({ terminated: { exitCode, reason: "Error", message: "why" } });
const end = (exitCode: number) => ({ _tag: "Terminated", exitCode, reason: "Error", message: "why" });

Deno.test("livePod() has one state for each container, which waits where the kubelet reports none", () => {
  const states = [{ running: {} }, { waiting: { reason: "CrashLoopBackOff" } }, ended(1), undefined];
  const { containers } = podWith({
    containerStatuses: states.map((state) => ({ name: "c", ...(state === undefined ? {} : { state }) })),
  });
  deepStrictEqual(containers.map(({ state }) => state), [
    { _tag: "Running" },
    { _tag: "Waiting", reason: "CrashLoopBackOff", message: undefined },
    end(1),
    { _tag: "Waiting", reason: undefined, message: undefined },
  ]);
});

Deno.test("endOf() is the present end of a container, else the one before", () => {
  const { containers } = podWith({
    containerStatuses: [
      { state: ended(1), lastState: ended(2) },
      { state: { running: {} }, lastState: ended(2) },
      { state: { running: {} }, lastState: {} },
    ],
  });
  deepStrictEqual(containers.map(endOf), [end(1), end(2), undefined]);
});

Deno.test("openContainers() leaves out init containers that ended well, and no other container", () => {
  const pod = podWith({
    initContainerStatuses: [{ name: "good", state: ended(0) }, { name: "bad", state: ended(1) }],
    containerStatuses: [{ name: "server", state: ended(0) }],
  });
  deepStrictEqual(openContainers(pod).map(({ name }) => name), ["bad", "server"]);
});

Deno.test("livePod() says why no node takes a pod, and why one was evicted", () => {
  const unscheduled = (more: JsonObject) =>
    podWith({ conditions: [{ type: "PodScheduled", status: "False", ...more }] }).unschedulable;
  deepStrictEqual([unscheduled({ message: "0/1 nodes" }), unscheduled({})], ["0/1 nodes", "no suitable node"]);
  const { phase, evicted } = podWith({ phase: "Failed", reason: "Evicted", message: "disk" });
  deepStrictEqual([phase, evicted, podWith({ reason: "Other", message: "x" }).evicted], ["Failed", "disk", undefined]);
});
