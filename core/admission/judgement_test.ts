import { DEFAULT_SURROUNDINGS } from "../config/default_surroundings.ts";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifest, secret, SURROUNDINGS } from "../../tests/given.ts";
import { converted } from "../api/convert.ts";
import { at, type JsonObject, listAt, put, stringAt } from "../data/json.ts";
import { ADMISSION_WARNING_MAX, ANNOTATIONS_MAX } from "../data/limits.ts";
import type { Change } from "./change.ts";
import { accepted, admissionAnswer, oversizedAnswer, questionIn } from "./admission_review.ts";
import { type Found, judge, judgedConfigMap, newReferences, referenceName } from "./judgement.ts";

const change = (object: JsonObject, before?: JsonObject, writtenIn = "v1alpha2"): Change => ({
  namespace: "default",
  object,
  before,
  writtenIn,
});
const judged = (item: Change, references: "Warn" | "Reject" = "Warn", found: Found = "Present") =>
  judge(
    item,
    SURROUNDINGS,
    references,
    new Map(newReferences(item, SURROUNDINGS).map((ref) => [referenceName(ref), found])),
  );
const rejections = (item: Change) => judged(item).rejections.map(({ message }) => message);

const BAD = manifest({ distribution: { name: "nope" } });

Deno.test("judge() rejects a new resource with every finding and its path", () => {
  const { rejections } = judged(change(manifest({
    resources: { models: [{ name: "m", provider: "nope" }] },
    workload: { podDisruptionBudget: {}, autoscaling: { maxReplicas: 0 } },
  })));
  deepStrictEqual(rejections.map(({ field }) => field), [
    "spec.resources.models[0].provider",
    "spec.workload.podDisruptionBudget",
    "spec.workload.autoscaling.maxReplicas",
  ]);
});

Deno.test("judge() finds nothing in what the author did not change", () => {
  deepStrictEqual(rejections(change(put(BAD, ["metadata", "labels"], { a: "b" }), BAD)), []);
  deepStrictEqual(rejections(change(put(BAD, ["spec", "suspend"], true), BAD)), []);
  strictEqual(rejections(change(BAD, manifest({}))).length, 1);
  strictEqual(rejections(change(put(BAD, ["spec", "distribution", "name"], "other"), BAD)).length, 1);
});

Deno.test("judge() knows a finding again when its item has moved in its list, and no other item by it", () => {
  const bad = { id: "bad", provider: "nonsense", endpoint: "http://x" };
  const good = (id: string): JsonObject => ({ id, provider: "vllm", endpoint: "http://vllm:8000/v1" });
  const withModels = (inference: ReadonlyArray<JsonObject>) =>
    manifest({ providers: { inference }, resources: { models: [{ name: "m", provider: "good" }] } });
  const edit = (now: ReadonlyArray<JsonObject>, before: ReadonlyArray<JsonObject>) =>
    rejections(change(withModels(now), withModels(before))).length;
  strictEqual(edit([bad, good("good")], [good("good")]), 1);
  strictEqual(edit([good("new"), bad, good("good")], [bad, good("good")]), 0);
  strictEqual(edit([good("good"), bad], [bad, good("good")]), 0);
  strictEqual(edit([{ ...bad, id: "another" }, good("good")], [bad, good("good")]), 0);
  strictEqual(edit([{ ...bad, id: "another" }, bad, good("good")], [bad, good("good")]), 1);
  const short = { ...good("short"), settings: { max_tokens: "many" } };
  strictEqual(edit([good("new"), short, good("good")], [short, good("good")]), 0);
});

Deno.test("judge() warns of what only the operator's release or its settings decide", () => {
  const { rejections, warnings } = judged(change(manifest({
    distribution: { image: "registry/own:1" },
    providers: { inference: [{ provider: "vllm", endpoint: "http://v" }] },
  })));
  deepStrictEqual(rejections, []);
  ok(warnings.some((text) => text.includes("has no known base config")), warnings.join("\n"));
  const newer = judged(change(manifest({ distribution: { name: "starter", serverVersion: "9.9.9" } })));
  deepStrictEqual([newer.rejections, newer.warnings.length], [[], 1]);
});

Deno.test("judge() applies rules that v1alpha1 could bypass", () => {
  const both = manifest({ overrideConfig: { configMapName: "c" }, disabled: ["safety"] });
  ok(rejections(change(both, manifest({ disabled: ["safety"] }), "v1alpha1"))[0]?.includes("mutually exclusive"));
});

Deno.test("judge() warns of the content of an own config once, and rejects none, because another object has it", () => {
  const own = manifest({ overrideConfig: { configMapName: "c" } });
  const edited = put(own, ["spec", "workload", "replicas"], 2);
  const judgedWith = (config: string, item: Change) => {
    const configMaps = new Map([["default/c", { data: { "config.yaml": config }, binaryData: {} }]]);
    return judge(item, { ...SURROUNDINGS, configMaps }, "Reject", new Map());
  };
  strictEqual(judgedConfigMap(change(own))?.name, "c");
  const variable = "version: 2\ndistro_name: ${env.NOWHERE}\nproviders: {}\n";
  const { rejections, warnings } = judgedWith(variable, change(own));
  deepStrictEqual([rejections, warnings.length], [[], 1]);
  ok(warnings[0]?.includes("${env.NOWHERE} has no value"), warnings.join());
  deepStrictEqual(judgedWith(variable, change(edited, own)).warnings.filter((text) => text.includes("NOWHERE")), []);
  const broken = judgedWith("a: [", change(own));
  deepStrictEqual([broken.rejections, broken.warnings.length], [[], 1]);
});

Deno.test("judge() warns about missing references or rejects them, but not about those that it could not look up", () => {
  const needy = change(manifest({
    providers: { inference: [{ provider: "vllm", endpoint: "http://v/v1", apiKey: secret("s", "k") }] },
  }));
  deepStrictEqual(newReferences(needy, SURROUNDINGS).map(referenceName), ["Secret\n\ns\nk"]);
  deepStrictEqual(newReferences(change(put(needy.object, ["spec", "suspend"], true), needy.object), SURROUNDINGS), []);
  const lists = (references: "Warn" | "Reject", found: Found) => {
    const { rejections, warnings } = judged(needy, references, found);
    return [rejections.length, warnings.length];
  };
  deepStrictEqual(
    [lists("Warn", "NoObject"), lists("Reject", "NoObject"), lists("Reject", "NoKey"), lists("Reject", undefined)],
    [[0, 1], [1, 0], [1, 0], [0, 0]],
  );
});

Deno.test("judge() warns that the config in another namespace is not read", () => {
  const object = put(manifest({ overrideConfig: { configMapName: "c" } }), ["metadata", "annotations"], {
    "v1alpha1.leftovers.llamastack.io/spec.server.userConfig.configMapNamespace": '{"to":"other"}',
  });
  ok(judged(change(object)).warnings.some((text) => text.includes("create c in namespace default")));
});

Deno.test("questionIn() checks neither deleted objects nor other versions", () => {
  const review = (object: JsonObject) => ({
    request: { uid: "u", namespace: "n", object, oldObject: null, requestKind: { version: "v1alpha1" } },
  });
  deepStrictEqual(questionIn(review(BAD)).change, {
    namespace: "n",
    object: BAD,
    before: undefined,
    writtenIn: "v1alpha1",
  });
  strictEqual(questionIn(review(put(BAD, ["metadata", "deletionTimestamp"], "now"))).change, undefined);
  strictEqual(questionIn(review({ ...BAD, apiVersion: "llamastack.io/v1alpha1" })).change, undefined);
  deepStrictEqual(questionIn("nonsense"), { uid: "", change: undefined });
});

Deno.test("admissionAnswer() bounds its warnings and carries each finding as a cause", () => {
  const warnings = Array.from({ length: 32 }, () => "w".repeat(900));
  const answer = admissionAnswer("u", { rejections: [], warnings }, "my");
  const said = listAt(answer, "response", "warnings") as ReadonlyArray<string>;
  ok(said.every((text) => text.length <= ADMISSION_WARNING_MAX) && said.join("").length < 4096 + said.length * 4);
  strictEqual(said.at(-1), "29 more warnings; the command lint shows all");
  strictEqual(at(answer, "response", "allowed"), true);
  const refused = admissionAnswer("u", { rejections: judged(change(BAD)).rejections, warnings: [] }, "my");
  strictEqual(at(refused, "response", "status", "code"), 422);
  deepStrictEqual(
    listAt(refused, "response", "status", "details", "causes").map((cause) => at(cause, "field")),
    ["spec.distribution.name"],
  );
  strictEqual(at(accepted("u"), "response", "allowed"), true);
});

/** More than annotations can hold, each value within its own bounds. */
const LARGE = manifest({
  providers: {
    inference: Array.from({ length: 32 }, (_, index) => ({
      id: `v-${index}`,
      provider: "vllm",
      endpoint: "http://vllm:8000/v1",
      settings: { note: "x".repeat(9000) },
    })),
  },
});

Deno.test("admissionAnswer() shows a long warning to its end", () => {
  const text = `spec.x: ${"a word ".repeat(60)}and the fix`;
  const said = listAt(admissionAnswer("u", { rejections: [], warnings: [text] }, "my"), "response", "warnings");
  strictEqual(said.length, 2);
  strictEqual(said.map((part) => String(part).replace(/…$/, "")).join(" "), text);
});

Deno.test("judge() accepts a spec that clients of v1alpha1 do not see completely, and says so once", () => {
  const told = (one: Change) =>
    judge(one, SURROUNDINGS, "Warn", new Map()).warnings.filter((text) => text.includes("clients of v1alpha1"));
  deepStrictEqual(rejections(change(LARGE)), []);
  const [first = ""] = told(change(LARGE));
  ok(first.startsWith("spec: use v1alpha2 for it"), first);
  ok(first.includes("do not see spec.providers.inference"), first);
  deepStrictEqual(told(change(put(LARGE, ["metadata", "labels"], { a: "b" }), LARGE)), []);
  deepStrictEqual(told(change(put(LARGE, ["spec", "workload"], { replicas: 3 }), LARGE)), []);
});

Deno.test("judge() says that annotations leave clients of v1alpha1 nothing but the name", () => {
  const providers = { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] };
  const full = put(manifest({ providers }), ["metadata", "annotations"], { "a.example/b": "x".repeat(262_100) });
  const { warnings } = judge(change(full), SURROUNDINGS, "Warn", new Map());
  ok(warnings.some((text) => text.includes("see nothing but its name")), warnings.join());
});

Deno.test("judge() names what a write through v1alpha1 removes of an object that v1alpha1 shows incompletely", () => {
  // As the API server passes it: what is stored, by way of the version of the request.
  const before = converted(converted(LARGE, "llamastack.io/v1alpha1"), "llamastack.io/v1alpha2");
  const { warnings } = judge(change(manifest({}), before, "v1alpha1"), SURROUNDINGS, "Warn", new Map());
  ok(warnings.some((text) => text.includes("removes spec.providers.inference")), warnings.join());
});

Deno.test("judge() rejects a write of an object of which v1alpha1 showed only the name", () => {
  const shown = put(manifest({}), ["metadata", "annotations"], {
    "llamastack.io/unconverted": "more than 5 values",
  });
  const [first = ""] = rejections(change(shown, shown, "v1alpha1"));
  ok(first.includes("would remove everything but the name: the object has more than 5 values, which cannot"), first);
});

Deno.test("oversizedAnswer() rejects a new resource of too many values and lets an old one be edited and deleted", () => {
  const wide = (more: string, count = 100_000) => `{"metadata":{"name":"my"${more}},"spec":[${"{},".repeat(count)}1]}`;
  const answer = (request: string) => oversizedAnswer(new TextEncoder().encode(`{"request":{"uid":"u",${request}}}`));
  const isAllowed = (request: string) => at(answer(request) ?? null, "response", "allowed");
  strictEqual(isAllowed(`"object":${wide("")}`), false);
  strictEqual(at(answer(`"object":${wide("")}`) ?? null, "response", "uid"), "u");
  strictEqual(isAllowed(`"object":${wide("")},"oldObject":${wide("", 10)}`), false);
  strictEqual(isAllowed(`"object":${wide("")},"oldObject":${wide("")}`), true);
  strictEqual(isAllowed(`"object":${wide(',"deletionTimestamp":"now"')},"oldObject":null`), true);
  strictEqual(answer('"objects":[]'), undefined);
});

Deno.test("judge() rejects a write of an object that v1alpha1 showed incompletely", () => {
  const shown = converted(LARGE, "llamastack.io/v1alpha1");
  ok(stringAt(shown, "metadata", "annotations", "llamastack.io/incomplete-conversion")?.includes("spec.providers"));
  const written = converted(shown, "llamastack.io/v1alpha2");
  const [first = ""] = rejections(change(written, LARGE, "v1alpha1"));
  ok(first.includes("a write would remove that"), first);
});

Deno.test("judge() rejects a port of v1alpha1 that no server can have, and no later edit of such an object", () => {
  const old = (port: number, more: JsonObject = {}): JsonObject => ({
    apiVersion: "llamastack.io/v1alpha1",
    kind: "LlamaStackDistribution",
    metadata: { name: "my", namespace: "default" },
    spec: { server: { distribution: { name: "starter" }, containerSpec: { port }, ...more } },
  });
  const current = (resource: JsonObject) => converted(resource, "llamastack.io/v1alpha2");
  deepStrictEqual(rejections(change(current(old(70000)), undefined, "v1alpha1")), [
    "spec.server.containerSpec.port: not a TCP port, so that the server would use 8321: 70000; use 1024 to 65535",
  ]);
  deepStrictEqual(rejections(change(current(old(70000, { workers: 2 })), current(old(70000)), "v1alpha1")), []);
  deepStrictEqual(rejections(change(current(old(0)), undefined, "v1alpha1")), []);
});

Deno.test("judge() rejects bounds that exclude each other in a new v1alpha1 object, and no later edit of a stored one", () => {
  const old = (block: JsonObject, more: JsonObject = {}): JsonObject =>
    converted({
      apiVersion: "llamastack.io/v1alpha1",
      kind: "LlamaStackDistribution",
      metadata: { name: "my", namespace: "default" },
      spec: { server: { distribution: { name: "starter" }, ...block, ...more } },
    }, "llamastack.io/v1alpha2");
  for (
    const [block, said] of [
      [
        { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 2 } },
        "podDisruptionBudget.maxUnavailable: minAvailable and maxUnavailable are mutually exclusive; where a resource has it " +
        "already, minAvailable applies",
      ],
      [
        { autoscaling: { minReplicas: 5, maxReplicas: 2 } },
        "autoscaling.maxReplicas: maxReplicas must be greater than or equal to minReplicas; where a resource has it already, " +
        "maxReplicas applies as both bounds",
      ],
    ] as const
  ) {
    deepStrictEqual(rejections(change(old(block), undefined, "v1alpha1")), [`spec.server.${said}`]);
    deepStrictEqual(rejections(change(old(block, { workers: 2 }), old(block), "v1alpha1")), []);
  }
});

Deno.test("judge() keeps the paths of fields that v1alpha1 lacks", () => {
  const object = manifest({ distribution: { name: "starter", serverVersion: "9.9" } });
  const [found] = judged(change(object, undefined, "v1alpha1")).rejections;
  strictEqual(found, undefined);
  const { warnings } = judged(change(object, undefined, "v1alpha1"));
  ok(warnings.some((text) => text.includes("spec.distribution.serverVersion")), warnings.join("\n"));
  ok(!warnings.some((text) => text.includes("spec.server.distribution.serverVersion")), warnings.join("\n"));
});

Deno.test("judge() rejects a name whose images are gone for a new resource, and not for one that ran", () => {
  const judgedBare = (item: Change) =>
    judge(item, DEFAULT_SURROUNDINGS, "Warn", new Map()).rejections.map(({ message }) => message);
  const named = manifest({ distribution: { name: "remote-vllm" } });
  ok(judgedBare(change(named))[0]?.includes('no image of distribution "remote-vllm" is published'));
  const ran = put(named, ["status"], { version: { llamaStackServerVersion: "0.2.14" } });
  deepStrictEqual(judgedBare(change(put(ran, ["spec", "networking"], { port: 9000 }), ran)), []);
});

Deno.test("judge() rejects a new object with very many annotations without looking at them, and no edit of a stored one", () => {
  const many = (count: number) =>
    put(
      BAD,
      ["metadata", "annotations"],
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, ""])),
    );
  deepStrictEqual(rejections(change(many(ANNOTATIONS_MAX + 1))), [
    "metadata.annotations: more than 2000 annotations, which no version of the API supports; remove some",
  ]);
  deepStrictEqual(rejections(change(many(ANNOTATIONS_MAX + 2), many(ANNOTATIONS_MAX + 1))), []);
  strictEqual(rejections(change(many(ANNOTATIONS_MAX))).length, 1);
});
