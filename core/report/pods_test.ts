import { ok, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { type Disclosure, podTrouble as troubleOf } from "./pods.ts";

const EVERYTHING: Disclosure = { text: (text) => text, log: () => true };
const podTrouble = (pods: ReadonlyArray<JsonObject>, disclosure = EVERYTHING) => troubleOf(pods, disclosure);

const pod = (status: JsonObject, name = "my-1", creationTimestamp = "2026-01-01T00:00:00Z"): JsonObject => ({
  metadata: { name, creationTimestamp },
  status,
});
const container = (state: JsonObject, more: JsonObject = {}): JsonObject => ({
  containerStatuses: [{ name: "llama-stack", image: "x:1", restartCount: 3, state, ...more }],
});

for (
  const [name, status, want] of [
    [
      "nothing when the container runs",
      container({ running: {} }, { lastState: { terminated: { exitCode: 1 } } }),
      undefined,
    ],
    [
      "a pod that no node takes",
      { conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }] },
      "Unschedulable: Pod my-1 cannot be scheduled: 0/1 nodes",
    ],
    [
      "an image that cannot be pulled",
      container({ waiting: { reason: "ImagePullBackOff", message: "not found" } }),
      "ImagePullFailed: Pod my-1 cannot pull image x:1 (ImagePullBackOff): not found. Check the image name, the registry and imagePullSecrets",
    ],
    [
      "a server that exits with an error, with the end of its log",
      container({ waiting: { reason: "CrashLoopBackOff" } }, {
        lastState: { terminated: { exitCode: 1, message: "a\nValueError: bad\n" } },
      }),
      "CrashLoop: Pod my-1, container llama-stack ended with exit code 1 after 3 restarts: ValueError: bad. See kubectl logs my-1 -c llama-stack --previous",
    ],
    [
      "a failed start that ends with 0",
      container({ terminated: { exitCode: 0 } }),
      "CrashLoop: Pod my-1, container llama-stack ended with exit code 0 after 3 restarts. See kubectl logs my-1 -c llama-stack --previous",
    ],
    [
      "nothing of an init container that ended well, while the server starts",
      {
        initContainerStatuses: [{ name: "trusted-authorities", ready: true, state: { terminated: { exitCode: 0 } } }],
        containerStatuses: [{ name: "llama-stack", state: { waiting: { reason: "PodInitializing" } } }],
      },
      undefined,
    ],
    [
      "an external provider that cannot be installed, with its sentence",
      {
        initContainerStatuses: [
          { name: "install-provider-own", state: { terminated: { exitCode: 0 } } },
          {
            name: "prepare-providers",
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: {
              terminated: { exitCode: 1, message: '{"ok":false,"reason":"R","message":"Provider own: why"}' },
            },
          },
        ],
      },
      "ExternalProviderFailed: Pod my-1: Provider own: why. See kubectl logs my-1 -c prepare-providers",
    ],
    [
      "a container that ran out of memory",
      container({ waiting: { reason: "CrashLoopBackOff" } }, {
        lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
      }),
      "CrashLoop: Pod my-1, container llama-stack ended with exit code 137 (out of memory: increase workload.resources.limits.memory) after 3 restarts. See kubectl logs my-1 -c llama-stack --previous",
    ],
    [
      "a Secret key that is gone",
      container({ waiting: { reason: "CreateContainerConfigError", message: "couldn't find key k" } }),
      "CrashLoop: Pod my-1, container llama-stack: CreateContainerConfigError: couldn't find key k",
    ],
  ] as ReadonlyArray<readonly [string, JsonObject, string | undefined]>
) {
  Deno.test(`podTrouble() reports ${name}`, () => {
    const trouble = podTrouble([pod(status)]);
    strictEqual(trouble === undefined ? undefined : `${trouble.reason}: ${trouble.message}`, want);
  });
}

Deno.test("podTrouble() reports the newest pod first", () => {
  const broken = container({ terminated: { exitCode: 1 } });
  const trouble = podTrouble([pod(broken, "old"), pod(broken, "new", "2026-02-01T00:00:00Z")]);
  strictEqual(trouble?.message.includes("Pod new"), true);
});

Deno.test("podTrouble() quotes the error of a traceback, not the line that happens to be last", () => {
  const message =
    "Traceback (most recent call last):\n  File x\nValueError: no such provider\n    For further information visit https://example.com";
  const pod = {
    metadata: { name: "p" },
    status: { containerStatuses: [{ name: "c", state: { terminated: { exitCode: 1, message } } }] },
  };
  ok(podTrouble([pod])?.message.includes("ValueError: no such provider"));
});

Deno.test("podTrouble() quotes nothing of a log but the class of its exception where it may not be disclosure", () => {
  const ended = (message: string) =>
    podTrouble([pod(container({ terminated: { exitCode: 1, message } }))], { text: (text) => text, log: () => false })
      ?.message ?? "";
  ok(ended("ValueError: bad sk-1\nx").includes(": ValueError. See kubectl logs"));
  ok(ended("sk-1 is no key").includes("after 3 restarts. See kubectl logs"));
});
