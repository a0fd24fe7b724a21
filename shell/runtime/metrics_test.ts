import { match, ok } from "node:assert/strict";
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { TestClock } from "effect/testing";
import {
  failureFound,
  heard,
  keyAdded,
  LiveFigures,
  metricsText,
  newFigures,
  passEnded,
  showFigures,
  unreadable,
  wrote,
} from "./metrics.ts";

const run = <A, E>(program: Effect.Effect<A, E, LiveFigures>) =>
  Effect.runPromise(program.pipe(
    Effect.provideService(LiveFigures, newFigures()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provide(TestClock.layer()),
  ));

Deno.test("metricsText() prints counters, durations and computed values as Prometheus text", () =>
  run(Effect.gen(function* () {
    yield* passEnded("success", 0.02);
    yield* passEnded("error", 3);
    yield* keyAdded;
    yield* wrote("Deployment", "apply");
    yield* wrote("Deployment", "apply");
    yield* failureFound("SecretNotFound");
    yield* heard('/api/v1/"pods"');
    yield* unreadable("/api/v1/secrets", "403 Forbidden");
    yield* TestClock.adjust("90 seconds");
    const text = yield* Effect.scoped(Effect.gen(function* () {
      yield* showFigures({
        standings: Effect.succeed(
          new Map([
            ["Ready  true  0 Contested", 1],
            ["Ready UpgradeFailed true  0 ", 2],
            ["Pending  false Unobserved 30000 ", 1],
            ["Suspended  true  0 ", 1],
          ]),
        ),
        depth: Effect.succeed(2),
      });
      return yield* metricsText;
    }));
    for (
      const line of [
        /^controller_runtime_reconcile_total\{controller="llamastackdistribution",result="success"\} 1$/m,
        /^controller_runtime_reconcile_errors_total\{controller="llamastackdistribution"\} 1$/m,
        /^controller_runtime_reconcile_time_seconds_bucket\{controller="llamastackdistribution",le="0\.025"\} 1$/m,
        /^controller_runtime_reconcile_time_seconds_count\{controller="llamastackdistribution"\} 2$/m,
        /^workqueue_adds_total\{.*name="llamastackdistribution".*\} 1$/m,
        /^workqueue_depth\{.*\} 2$/m,
        /^llama_stack_operator_resources\{phase="Ready"\} 3$/m,
        /^llama_stack_operator_resources\{phase="Suspended"\} 1$/m,
        /^llama_stack_operator_stalled_resources\{phase="Ready",reason="UpgradeFailed"\} 2$/m,
        /^llama_stack_operator_unobserved_resources 1$/m,
        /^llama_stack_operator_invalid_settings 0$/m,
        /^llama_stack_operator_unready_resources\{reason="Unobserved"\} 1$/m,
        /^llama_stack_operator_unready_seconds\{reason="Unobserved"\} 60$/m,
        /^llama_stack_operator_abnormal_resources\{condition="Contested"\} 1$/m,
        /^llama_stack_operator_abnormal_resources\{condition="ObjectRefused"\} 0$/m,
        /^llama_stack_operator_unreadable\{what="\/api\/v1\/secrets"\} 1$/m,
        /^llama_stack_operator_resources\{phase="Pending"\} 1$/m,
        /^llama_stack_operator_resources\{phase="Failed"\} 0$/m,
        /^llama_stack_operator_writes_total\{kind="Deployment",verb="apply"\} 2$/m,
        /^llama_stack_operator_failures_total\{reason="SecretNotFound"\} 1$/m,
        /^llama_stack_operator_watch_last_event_seconds\{what="\/api\/v1\/\\"pods\\""\} 90$/m,
        /^leader_election_master_status\{name="llama-stack-operator"\} 1$/m,
        /^process_resident_memory_bytes [1-9]\d{6,}$/m,
      ]
    ) match(text, line);
    ok(text.endsWith("\n"));
    for (const line of text.trimEnd().split("\n")) {
      match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="(\\.|[^"\\])*"(,\w+="(\\.|[^"\\])*")*\})? -?[\d.e+-]+)$/);
    }
  })));

Deno.test("metricsText() shows no figures of resources while another replica works", () =>
  run(Effect.gen(function* () {
    yield* Effect.scoped(Effect.andThen(
      showFigures({ standings: Effect.succeed(new Map([["Pending  true  0 ", 1]])), depth: Effect.succeed(2) }),
      heard("pods"),
    ));
    const text = yield* metricsText;
    match(text, /^llama_stack_operator_resources\{phase="Pending"\} 0$/m);
    match(text, /^leader_election_master_status\{.*\} 0$/m);
    ok(!text.includes('what="pods"'));
  })));
