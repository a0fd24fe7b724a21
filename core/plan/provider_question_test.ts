import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { converged, edited, OPERATOR, planOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import { providerLabelsIn } from "../image/provider_labels.ts";
import type { ClusterSnapshot, ProviderAnswer } from "../snapshot/cluster_snapshot.ts";
import { prepare } from "./prepare.ts";
import { providerQuestions, reportedProvider } from "./provider_question.ts";

const IMAGE = "registry.example.com/own:1";
const BEFORE: JsonObject = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };
const SPEC: JsonObject = { ...BEFORE, externalProviders: { eval: [{ providerId: "own", image: IMAGE }] } };
const use = (imageLabels: "Auto" | "Never") => ({
  ...OPERATOR,
  surroundings: { ...OPERATOR.surroundings, imageLabels },
});
const asking = (spec: JsonObject): ClusterSnapshot => snapshot(spec, { operator: use("Auto") });
const questions = (from: ClusterSnapshot) =>
  [...providerQuestions(from, Result.getOrThrow(prepare(from)))].map(([id, { image }]) => `${id} ${image}`);
const ASKED = [`own ${IMAGE}`];
const without = converged(asking(BEFORE)).snapshot;
const running = converged(asking(SPEC)).snapshot;
const told = (from: ClusterSnapshot, answer: ProviderAnswer): ClusterSnapshot => ({
  ...from,
  providerLabels: new Map([["own", answer]]),
});
const WRONG: ProviderAnswer = {
  kind: "read",
  labels: providerLabelsIn({ "io.llamastack.provider.wheels": btoa("[]") }),
};
const status = (of: ClusterSnapshot) => objectAt(converged(of).snapshot.resource, "status");
const provider = (of: ClusterSnapshot) => listAt(status(of), "externalProviders")[0];
const condition = (of: ClusterSnapshot, type: string) => {
  const found = listAt(status(of), "conditions").find((item) => stringAt(item, "type") === type);
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
};
const writesDeployment = (of: ClusterSnapshot) =>
  planOf(of).steps.some((step) => step._tag === "Apply" && step.manifest.kind === "Deployment");

Deno.test("images of a new server and of an edit are asked for, and none that the Deployment has", () => {
  deepStrictEqual(questions(asking(SPEC)), ASKED);
  deepStrictEqual(questions(edited(without, SPEC)), ASKED);
  deepStrictEqual(questions(running), []);
  deepStrictEqual(questions(edited(running, { ...SPEC, workload: { replicas: 2 } })), []);
  const next = { eval: [{ providerId: "own", image: "registry.example.com/own:2" }] };
  deepStrictEqual(questions(edited(running, { ...SPEC, externalProviders: next })), ["own registry.example.com/own:2"]);
});

Deno.test("an image that the Deployment has is asked for again for another API, and for a server of the other product", () => {
  const own = { providerId: "own", image: IMAGE };
  deepStrictEqual(questions(edited(running, { ...SPEC, externalProviders: { safety: [own] } })), ASKED);
  const inference = { ...SPEC, externalProviders: { inference: [own] } };
  const llamaStack = converged(asking(inference)).snapshot;
  deepStrictEqual(questions(edited(llamaStack, { ...inference, distribution: { name: "ogx-starter" } })), ASKED);
  const other = { ...SPEC, distribution: { name: "starter", serverVersion: "0.6" } };
  deepStrictEqual(questions(edited(running, other)), []);
  // What the pods run for is not known any more.
  const maps = new Map([...running.live].filter(([key]) => !key.startsWith("ConfigMap/")));
  deepStrictEqual(questions(edited({ ...running, live: maps }, SPEC)), []);
});

Deno.test("nothing is asked for what pods have installed, for a deleted resource, or against the setting", () => {
  const lost = { ...running, live: new Map([...running.live].filter(([key]) => key !== "Deployment/my")) };
  deepStrictEqual(questions(lost), ASKED);
  const installed = [{ providerId: "own", image: IMAGE, phase: "Ready" }];
  const ready = put(lost.resource, ["status", "externalProviders"], installed);
  deepStrictEqual(questions({ ...lost, resource: ready }), []);
  deepStrictEqual(questions(edited({ ...lost, resource: ready }, { ...SPEC, workload: { replicas: 2 } })), ASKED);
  const deleted = put(lost.resource, ["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
  deepStrictEqual(questions({ ...lost, resource: deleted }), []);
  deepStrictEqual(questions({ ...lost, operator: use("Never") }), []);
});

Deno.test("a problem in the labels keeps a new server from being created, and a running one as it is", () => {
  for (const  of of[told(asking(SPEC), WRONG), told(edited(without, SPEC), WRONG)]) {
    ok(!writesDeployment(of));
    strictEqual(stringAt(provider(of), "phase"), "Failed");
    strictEqual(stringAt(provider(of), "reason"), "ProviderPackagesMissing");
    match(
      stringAt(provider(of), "message") ?? "",
      /^External provider "own" \(image .*\), according to its labels: the image has no wheel in/,
    );
    strictEqual(condition(of, "ExternalProvidersReady"), "False ExternalProviderFailed");
    strictEqual(condition(of, "ConfigGenerated"), "True ConfigGenerationSucceeded");
    strictEqual(condition(of, "Stalled").split(" ")[0], "True");
    const notes = planOf(of).steps.flatMap((step) => step._tag === "Announce" ? [step.note.reason] : []);
    deepStrictEqual(notes, ["ExternalProviderFailed"]);
  }
});

Deno.test("while labels are awaited the rollout waits without a failure, and without an answer it goes on", () => {
  const waiting = told(edited(without, SPEC), { kind: "awaited" });
  ok(!writesDeployment(waiting));
  strictEqual(stringAt(provider(waiting), "phase"), "Pending");
  strictEqual(condition(waiting, "ExternalProvidersReady"), "Unknown Waiting");
  ok(writesDeployment(told(edited(without, SPEC), { kind: "unknown" })));
  ok(writesDeployment(told(edited(without, SPEC), { kind: "read", labels: Result.succeed(undefined) })));
});

Deno.test("after a restart of the operator, a failure stays in the status until the answer", () => {
  const failed = converged(told(asking(SPEC), WRONG)).snapshot;
  const waiting = told(failed, { kind: "awaited" });
  deepStrictEqual(provider(waiting), provider(told(asking(SPEC), WRONG)));
  deepStrictEqual(planOf(waiting).steps.filter((step) => step._tag === "Announce"), []);
});

Deno.test("a registry that is down lets nothing replace a running server that its labels have shown not to fit", () => {
  const kept = converged(told(edited(without, SPEC), WRONG)).snapshot;
  deepStrictEqual(planOf(told(kept, { kind: "unknown" })).steps, []);
  ok(writesDeployment(told(edited(kept, { ...SPEC, workload: { replicas: 2 } }), { kind: "unknown" })));
  ok(writesDeployment(told(kept, { kind: "read", labels: Result.succeed(undefined) })));
  // Nothing runs yet.
  ok(writesDeployment(told(converged(told(asking(SPEC), WRONG)).snapshot, { kind: "unknown" })));
});

Deno.test("what was found stays found while another failure comes first", () => {
  const secretRefs = { token: { secretKeyRef: { name: "own", key: "token" } } };
  const needy = { ...BEFORE, externalProviders: { eval: [{ providerId: "own", image: IMAGE, secretRefs }] } };
  const { secrets } = snapshot({}, { secrets: new Map([["own", { token: Redacted.make("a value of it") }]]) });
  const kept = converged({ ...told(edited(without, needy), WRONG), secrets }).snapshot;
  strictEqual(stringAt(provider(kept), "phase"), "Failed");
  const missing = converged({ ...told(kept, { kind: "unknown" }), secrets: new Map() }).snapshot;
  strictEqual(condition(missing, "SecretsResolved"), "False SecretNotFound");
  deepStrictEqual(provider(missing), provider(kept));
  const back = { ...told(missing, { kind: "unknown" }), secrets };
  ok(!writesDeployment(back));
  strictEqual(condition(back, "ExternalProvidersReady"), "False ExternalProviderFailed");
});

Deno.test("pods of the running server hide nothing of what labels showed, and a correct image ends it", () => {
  const message = JSON.stringify({ ok: true, providers: [{ id: "own", version: "1.0" }], warnings: [] });
  const initContainerStatuses = [
    {
      name: "install-provider-own",
      image: IMAGE,
      imageID: `${IMAGE}@sha256:1`,
      state: { terminated: { exitCode: 0 } },
    },
    { name: "prepare-providers", state: { terminated: { exitCode: 0, message } } },
  ];
  const pods: ReadonlyArray<JsonObject> = [{
    metadata: { name: "my-1", creationTimestamp: "2026-01-01T00:00:00Z" },
    status: { initContainerStatuses },
  }];
  strictEqual(stringAt(provider({ ...running, pods }), "phase"), "Ready");
  const next = { ...SPEC, externalProviders: { safety: [{ providerId: "own", image: IMAGE }] } };
  const kept = converged({ ...told(edited(running, next), WRONG), pods }).snapshot;
  strictEqual(stringAt(provider(kept), "phase"), "Failed");
  const waiting = converged(told(kept, { kind: "awaited" })).snapshot;
  deepStrictEqual(provider(waiting), provider(kept));
  ok(!writesDeployment(told(waiting, { kind: "unknown" })));
  const correct = told(waiting, { kind: "read", labels: Result.succeed(undefined) });
  ok(writesDeployment(correct));
  strictEqual(stringAt(provider(correct), "phase") === "Failed", false);
});

Deno.test("a config that somebody deletes while an edit fails is named, since nobody can make it again", () => {
  const kept = converged(told(edited(without, SPEC), WRONG)).snapshot;
  const message = (of: ClusterSnapshot) =>
    listAt(status(of), "conditions").flatMap((item) =>
      stringAt(item, "type") === "DeploymentUpdated" ? [stringAt(item, "message") ?? ""] : []
    ).join();
  match(message(told(kept, WRONG)), /is unchanged until the errors of the resource are fixed$/);
  const live = new Map([...kept.live].filter(([key]) => !key.startsWith("ConfigMap/")));
  match(
    message(told({ ...kept, live, configs: [] }, WRONG)),
    /fixed\. The ConfigMap my-config-[0-9a-f]{8} that its pods mount was deleted, and cannot be made again/,
  );
});

Deno.test("commands that ask nobody decide by what the operator reported", () => {
  const failed = converged(told(asking(SPEC), WRONG)).snapshot;
  const reported = reportedProvider(failed.resource, { id: "own", image: IMAGE });
  strictEqual(reported?.kind, "reported");
  ok(!writesDeployment(told(failed, reported)));
  deepStrictEqual(planOf(told(failed, reported)).steps, []);
  strictEqual(reportedProvider(failed.resource, { id: "own", image: "registry.example.com/own:2" }), undefined);
  const edit = put(failed.resource, ["metadata", "generation"], 9);
  strictEqual(reportedProvider(edit, { id: "own", image: IMAGE }), undefined);
});
