import { ok, strictEqual } from "node:assert/strict";
import { type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { converged, snapshot } from "../../tests/snapshots.ts";
import { livePod } from "../snapshot/live_pod.ts";
import type { Disclosure } from "./disclosure.ts";
import { podTrouble as troubleOf } from "./pods.ts";

const EVERYTHING: Disclosure = { text: (text) => text, isPublic: () => true, pull: (image) => `Look at ${image}` };
const podTrouble = (pods: ReadonlyArray<JsonObject>, disclosure = EVERYTHING) =>
  troubleOf(pods.map(livePod), disclosure);

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
      "ImagePullFailed: Pod my-1 cannot pull image x:1 (ImagePullBackOff): not found. Look at x:1",
    ],
    [
      "a server that exits with an error, by the class of its exception",
      container({ waiting: { reason: "CrashLoopBackOff" } }, {
        lastState: { terminated: { exitCode: 1, message: "a\nValueError: bad\n" } },
      }),
      "CrashLoop: Pod my-1, container llama-stack ended with exit code 1 (ValueError) after 3 restarts. See kubectl logs my-1 -c llama-stack --previous",
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
      "CrashLoop: Pod my-1, container llama-stack ended with exit code 137 (out of memory: increase spec.workload.resources.limits.memory) after 3 restarts. See kubectl logs my-1 -c llama-stack --previous",
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

Deno.test("podTrouble() says what the end of a log means, and quotes nothing else of it", () => {
  const ended = (message: string, isPublic: boolean) =>
    podTrouble([pod(container({ terminated: { exitCode: 1, message } }))], { ...EVERYTHING, isPublic: () => isPublic })
      ?.message ?? "";
  const log = "Traceback (most recent call last):\nValueError: Model sk-1 is not available from provider own\nx";
  ok(
    ended(log, true).includes(
      '(ValueError) after 3 restarts: the service behind the provider "own" does not have the model "sk-1"; correct',
    ),
  );
  ok(!/sk-1|own/.test(ended(log, false)));
  ok(ended("sk-1 is no key", true).includes("exit code 1 after 3 restarts. See kubectl logs"));
});

const pulling = (distribution: JsonObject, image: string, missingPullSecrets: ReadonlyArray<string> = []) => {
  const { snapshot: before } = converged(snapshot({ distribution }));
  const live = new Map(before.live);
  const status = { availableReplicas: 0, updatedReplicas: 1, observedGeneration: 1, replicas: 1 };
  live.set("Deployment/my", put(before.live.get("Deployment/my") ?? {}, ["status"], status) as JsonObject);
  const waiting = {
    name: "llama-stack",
    image,
    state: { waiting: { reason: "ErrImagePull", message: "no such host" } },
  };
  const pods = [livePod(pod({ containerStatuses: [waiting] }))];
  const { snapshot: after } = converged({ ...before, live, pods, missingPullSecrets });
  const found = listAt(after.resource, "status", "conditions").find((item) => stringAt(item, "type") === "Available");
  return stringAt(found, "message") ?? "";
};

Deno.test("an image that cannot be pulled is reported with the causes that the operator knows", () => {
  const gone = "docker.io/llamastack/distribution-starter:0.7.1";
  const ofGone = pulling({ image: gone }, gone);
  ok(ofGone.includes("no such host. Nobody has published this image since 2026-06: name a copy of it"), ofGone);
  const short = pulling({ image: "team/own:1" }, "team/own:1");
  ok(short.includes("The image names no registry, which nodes may require"), short);
  ok(short.includes("write docker.io/team/own if"), short);
  const full = "quay.io/team/own:1";
  const locked = pulling({ image: full }, full, ["robot"]);
  ok(locked.endsWith('Pull Secrets of the resource do not exist: "robot"'), locked);
  ok(
    pulling({ image: full }, full).endsWith(
      "Check the image name, the registry and spec.workload.overrides.imagePullSecrets",
    ),
  );
});
