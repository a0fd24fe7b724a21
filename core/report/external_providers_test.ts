import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, converged, edited, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";
import { type LivePod, livePod } from "../snapshot/live_pod.ts";

const IMAGE = "registry.example.com/own:1";
const SPEC = {
  externalProviders: {
    inference: [{ providerId: "one", image: IMAGE }],
    eval: [{ providerId: "two", image: "registry.example.com/two:1" }],
  },
};
const ID = `${IMAGE}@sha256:1`;

const install = (id: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: `install-provider-${id}`,
  image: IMAGE,
  imageID: ID,
  state,
  ...more,
});
const prepare = (state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: "prepare-providers",
  state,
  ...more,
});
const done = { terminated: { exitCode: 0 } };
const running = { running: {} };
const idle = { waiting: { reason: "PodInitializing" } };
const failed = (message: string, exitCode = 1) => ({ terminated: { exitCode, message } });
const told = (report: JsonObject) => JSON.stringify(report);

const pod = (statuses: ReadonlyArray<JsonObject>, status: JsonObject = {}): LivePod =>
  livePod({
    metadata: { name: "my-1", creationTimestamp: "2026-01-01T00:00:00Z" },
    status: { initContainerStatuses: statuses, ...status },
  });
const before = converged(snapshot(SPEC)).snapshot;
const seen = (...pods: ReadonlyArray<LivePod>): ClusterSnapshot => ({ ...before, pods });
const statusOf = (of: ClusterSnapshot) => objectAt(after(of, planOf(of)).resource, "status");
const phases = (of: ClusterSnapshot) =>
  listAt(statusOf(of), "externalProviders").map((state) => `${stringAt(state, "phase")} ${stringAt(state, "reason")}`);
const condition = (of: ClusterSnapshot, type: string) => {
  const found = listAt(statusOf(of), "conditions").find((item) => stringAt(item, "type") === type);
  return found === undefined ? undefined : `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};
const notes = (of: ClusterSnapshot) => planOf(of).steps.flatMap((step) => step._tag === "Announce" ? [step.note] : []);

const SUCCESS = {
  ok: true,
  providers: [{ id: "one", version: "1.2" }, { id: "two", version: "0.1.0" }],
  warnings: ['External provider "one": numpy 1 replaces 2 of the server'],
};
const installed = pod([
  install("one", done),
  install("two", done),
  prepare({ terminated: { exitCode: 0, message: told(SUCCESS) } }),
]);
const WHY = `External provider "two" (image registry.example.com/two:1): the image has no file /lls-provider/x`;
const broken = prepare(
  { waiting: { reason: "CrashLoopBackOff" } },
  { lastState: failed(told({ ok: false, id: "two", reason: "ProviderMetadataMissing", message: WHY })) },
);

for (
  const [name, pods, want, ready] of [
    ["no pod", [], ["Pending Waiting", "Pending Waiting"], "Unknown Waiting"],
    [
      "a copy that runs",
      [pod([install("one", running), install("two", idle), prepare(idle)])],
      ["Installing Copying", "Pending Waiting"],
      "Unknown Waiting",
    ],
    [
      "copies that ended",
      [pod([install("one", done), install("two", done), prepare(running)])],
      ["Installing Preparing", "Installing Preparing"],
      "Unknown Waiting",
    ],
    ["packages in place", [installed], ["Ready Installed", "Ready Installed"], "True ExternalProvidersInstalled"],
    [
      "a provider that does not fit",
      [pod([install("one", done), install("two", done), broken])],
      ["Pending Waiting", "Failed ProviderMetadataMissing"],
      "False ExternalProviderFailed",
    ],
    [
      "one pod of two without it",
      [installed, pod([install("one", done), install("two", done), broken])],
      ["Pending Waiting", "Failed ProviderMetadataMissing"],
      "False ExternalProviderFailed",
    ],
    [
      "a failure that is repeated at the moment",
      [pod([install("one", done), install("two", done), { ...broken, state: running }])],
      ["Pending Waiting", "Failed ProviderMetadataMissing"],
      "False ExternalProviderFailed",
    ],
    [
      "an image that cannot be pulled",
      [pod([install("one", { waiting: { reason: "ErrImagePull", message: "not found" } }), install("two", idle)])],
      ["Failed ImagePullFailed", "Pending Waiting"],
      "False ExternalProviderFailed",
    ],
    [
      "an image without a folder",
      [pod([install("one", failed(told({ ok: false, reason: "ProviderMetadataMissing", message: "no folder" })))])],
      ["Failed ProviderMetadataMissing", "Pending Waiting"],
      "False ExternalProviderFailed",
    ],
    [
      "an image without a shell",
      [pod([install("one", failed('exec: "/bin/sh": stat /bin/sh: no such file or directory', 128))])],
      ["Failed ShellMissing", "Pending Waiting"],
      "False ExternalProviderFailed",
    ],
    [
      "an image without a shell, before its container ends",
      [pod([install("one", {
        waiting: { reason: "RunContainerError", message: 'exec: "/bin/sh": stat /bin/sh: no such file or directory' },
      })])],
      ["Failed ShellMissing", "Pending Waiting"],
      "False ExternalProviderFailed",
    ],
    [
      "a copy that ended in another way",
      [pod([install("one", failed("killed", 137))])],
      ["Failed InstallationFailed", "Pending Waiting"],
      "False ExternalProviderFailed",
    ],
    [
      "a script that ran out of memory",
      [pod([
        install("one", done),
        install("two", done),
        prepare({ terminated: { exitCode: 137, reason: "OOMKilled" } }),
      ])],
      ["Failed OutOfMemory", "Failed OutOfMemory"],
      "False ExternalProviderFailed",
    ],
    [
      "a volume that is too small",
      [pod([install("one", done)], {
        reason: "Evicted",
        message: 'Usage of EmptyDir volume "external-providers" exceeds the limit "1Mi". ',
      })],
      ["Failed VolumeSizeExceeded", "Failed VolumeSizeExceeded"],
      "False ExternalProviderFailed",
    ],
  ] as ReadonlyArray<readonly [string, ReadonlyArray<LivePod>, ReadonlyArray<string>, string]>
) {
  Deno.test(`the status of external providers shows ${name}`, () => {
    deepStrictEqual([phases(seen(...pods)), condition(seen(...pods), "ExternalProvidersReady")], [want, ready]);
  });
}

Deno.test("the status of an installed provider has its version and the image with its digest, and is written once", () => {
  const of = seen(installed);
  deepStrictEqual(listAt(statusOf(of), "externalProviders")[0], {
    providerId: "one",
    image: IMAGE,
    imageID: ID,
    version: "1.2",
    phase: "Ready",
    reason: "Installed",
    message: "Installed",
  });
  const ready = listAt(statusOf(of), "conditions").find((item) => stringAt(item, "type") === "ExternalProvidersReady");
  strictEqual(
    stringAt(ready, "message"),
    'Installed one, two. External provider "one": numpy 1 replaces 2 of the server',
  );
  deepStrictEqual(planOf(after(of, planOf(of))).steps, []);
});

Deno.test("a provider that fails is reported once by an Event, and by Ready with its sentence", () => {
  const of = seen(pod([install("one", done), install("two", done), broken]));
  deepStrictEqual(notes(of).map(({ reason, note }) => `${reason}: ${note}`), [`ExternalProviderFailed: ${WHY}`]);
  deepStrictEqual(notes(after(of, planOf(of))), []);
  strictEqual(condition(of, "Ready"), "False ExternalProviderFailed");
});

Deno.test("a resource without external providers has neither the condition nor the list", () => {
  const of = converged(snapshot({})).snapshot;
  strictEqual(condition(of, "ExternalProvidersReady"), undefined);
  ok(!Object.hasOwn(statusOf(of), "externalProviders"));
  const gone = edited({ ...before, pods: [installed] }, {});
  strictEqual(condition(gone, "ExternalProvidersReady"), undefined);
  ok(!Object.hasOwn(statusOf(gone), "externalProviders"));
});

Deno.test("text from a container is shortened, made printable and freed of values of Secrets", () => {
  const message = `\u001b[31m${"x".repeat(5000)}`;
  const of = seen(pod([install("one", failed(told({ ok: false, reason: "A <b>", message })))]));
  const [state] = listAt(statusOf(of), "externalProviders");
  strictEqual(stringAt(state, "reason"), "InstallationFailed", "a word that nobody knows");
  ok((stringAt(state, "message") ?? "").length <= 1000);
  ok(!(stringAt(state, "message") ?? "").includes("\u001b"));
});

Deno.test("no value of a Secret is in the status, whatever the containers report", () => {
  const canary = "canary-of-a-provider";
  const spec = {
    externalProviders: {
      inference: [{
        providerId: "one",
        image: IMAGE,
        secretRefs: { token: { secretKeyRef: { name: "s", key: "k" } } },
      }],
    },
  };
  const with_ = converged(snapshot(spec, { secrets: secretsOf({ s: { k: canary } }) })).snapshot;
  for (const text of [canary, btoa(canary)]) {
    const report = { ok: true, providers: [{ id: "one", version: `v${text}` }], warnings: [`warn ${text}`] };
    const imageID = `${IMAGE}@${text}`;
    const of = {
      ...with_,
      pods: [pod([install("one", done, { imageID }), prepare({ terminated: { exitCode: 0, message: told(report) } })])],
    };
    const status = JSON.stringify(statusOf(of));
    ok(status.includes("Installed"), status);
    ok(!status.includes(canary) && !status.includes(btoa(canary)), status);
  }
});

Deno.test("a pod that was evicted is ignored once another one has taken its place", () => {
  const evicted = pod([install("one", done)], {
    phase: "Failed",
    reason: "Evicted",
    message: 'Usage of EmptyDir volume "external-providers" exceeds the limit "1Mi". ',
  });
  const newer = { ...installed, createdAt: "2026-01-02T00:00:00Z" };
  deepStrictEqual(phases(seen(evicted, newer)), ["Ready Installed", "Ready Installed"]);
  strictEqual(condition(seen(evicted, newer), "ExternalProvidersReady"), "True ExternalProvidersInstalled");
});

Deno.test("a failure that names no provider of the resource is that of all of them", () => {
  const ghost = prepare({ terminated: { exitCode: 1, message: told({ ok: false, id: "ghost", message: "no" }) } });
  const of = seen(pod([install("one", done), install("two", done), ghost]));
  deepStrictEqual(phases(of), ["Failed InstallationFailed", "Failed InstallationFailed"]);
});

Deno.test("every reason of the script that installs providers is known", async () => {
  const script = await Deno.readTextFile(new URL("../resources/prepare_providers.py", import.meta.url));
  const words = new Set([...script.matchAll(/"((?:Provider|Server)[A-Z][A-Za-z]+)"/g)].map(([, word = ""]) => word));
  words.delete("ProviderPackage");
  ok(words.size > 8);
  for (const reason of words) {
    const one = prepare({
      terminated: { exitCode: 1, message: told({ ok: false, id: "one", reason, message: "no" }) },
    });
    deepStrictEqual(phases(seen(pod([install("one", done), install("two", done), one])))[0], `Failed ${reason}`);
  }
});
