/** `takeover-check`: flags and help; reads the cluster once and lets core/command/takeover_check.ts judge the take-over. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { Command, Flag } from "effect/cli";
import type { DiffSubject } from "../../../core/command/diff.ts";
import { takeOverCheckCommand } from "../../../core/command/takeover_check.ts";
import { type JsonObject, put } from "../../../core/data/json.ts";
import { isPassing } from "../../kubernetes/cluster.ts";
import { clusterFlags, lookOptions } from "../cluster_flags.ts";
import { textOutput } from "../flags.ts";
import { INVOKED_AS } from "../invocation.ts";
import { looking, plannedFor, resourcesIn } from "../look.ts";
import { print, styleFor } from "../print.ts";
import { resourceKey } from "../../../core/snapshot/live_object.ts";
import { liveResource } from "../../../core/snapshot/live_resource.ts";

export const takeoverCheck = Command.make(
  "takeover-check",
  {
    namespace: Flag.String("namespace").pipe(
      Flag.withAlias("n"),
      Flag.withMetavar("NAME"),
      Flag.withDescription("Namespace of the resources (default: all namespaces)"),
      Flag.optional,
    ),
    ...clusterFlags,
    output: textOutput,
  },
  Effect.fn("takeover-check")(function* (input) {
    const look = { ...yield* lookOptions(input), isFirst: true };
    const program = Effect.gen(function* () {
      const resources = yield* resourcesIn(Option.getOrUndefined(input.namespace));
      const subjects = yield* Effect.forEach(resources, subjectOf);
      return takeOverCheckCommand(subjects, { format: input.output, style: styleFor(Deno.stdout) });
    });
    yield* print(yield* looking(program, look));
  }),
).pipe(
  Command.withDescription(
    "Show what the first reconciliation by this operator would change for servers that the Go operator runs, what changes with " +
      "the next edit of their resources, and whether pods would restart or connections close. Run it before you install " +
      "this operator, with the right to read Secrets. Writes nothing and never shows values of Secrets. Exit codes: 0 no pod " +
      "restarts and no connection closes, 1 pods restart, connections close or the cluster is not readable, 2 usage error.",
  ),
  Command.withShortDescription("Show what a take-over from the Go operator would change"),
  Command.withExamples([
    { command: `${INVOKED_AS} takeover-check`, description: "Check all namespaces" },
    { command: `${INVOKED_AS} takeover-check -n models -o json`, description: "Check one namespace, as JSON" },
  ]),
);

const subjectOf = Effect.fnUntraced(function* (resource: JsonObject) {
  const label = resourceKey(resource);
  // A resource that nobody has reconciled would pass for a new one, of which only the Deployment is looked up.
  const seen = liveResource(resource).hasConditions ? resource : put(resource, ["status", "conditions"], []);
  const looked = yield* Effect.result(plannedFor(seen));
  // What concerns this resource alone does not hide the others.
  if (Result.isFailure(looked) && (isPassing(looked.failure) || looked.failure._tag === "Unauthorized")) {
    return yield* looked.failure;
  }
  const subject: DiffSubject = { label, planned: Result.mapError(looked, ({ detail }) => [detail]) };
  return subject;
});
