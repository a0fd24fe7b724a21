/** `explain`: flags and help; reads the cluster once and lets core/command/explain.ts explain it. */
import { textOutput } from "../flags.ts";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { Command } from "effect/cli";
import { explainCommand } from "../../../core/command/explain.ts";
import type { Printing } from "../../../core/command/outcome.ts";
import { lacksKey, looking, plannedFor, podsAndEventsOf, resourceOf } from "../look.ts";
import { chosenNamespace, clusterFlags, lookOptions, namespace, resourceName } from "../cluster_flags.ts";
import { printAdvice, styleFor } from "../print.ts";
import { INVOKED_AS } from "../invocation.ts";

export const explain = Command.make(
  "explain",
  {
    name: resourceName("Name of the LlamaStackDistribution"),
    namespace,
    ...clusterFlags,
    output: textOutput,
  },
  Effect.fn("explain")(function* (input) {
    const options = { format: input.output, style: styleFor(Deno.stdout) } as const;
    const look = yield* lookOptions(input);
    const home = chosenNamespace(input.namespace, look);
    yield* printAdvice(yield* looking(explained(home, input.name, options), look));
  }),
).pipe(
  Command.withDescription(
    "Explain why a server is not ready: the cause, the state of its Deployment and pods, recent Events, and the next steps " +
      "with commands. For a ready server, show its addresses and models. Writes nothing and never shows values of Secrets. " +
      "Exit codes: 0 success, 1 resource not found or cluster not reachable, 2 usage error.",
  ),
  Command.withShortDescription("Explain why a server is not ready"),
  Command.withExamples([{
    command: `${INVOKED_AS} explain vllm -n models`,
    description: "Explain one resource",
  }]),
);

/** The explanation of one resource of the cluster. */
export const explained = Effect.fn("explained")(function* (namespace: string, name: string, options: Printing) {
  const resource = yield* resourceOf(namespace, name);
  const { pods, events } = yield* podsAndEventsOf(resource);
  const planned = yield* plannedFor(resource).pipe(
    // Users who may not read Secrets see the explanation from the status.
    Effect.catchTag("Forbidden", () => Effect.succeed(undefined)),
    // Without the operator's key, pods would seem to have other Secrets than they have; the status knows better.
    Effect.map((found) => found !== undefined && lacksKey(found.snapshot) ? undefined : found),
  );
  return explainCommand({ resource, planned, pods, events, nowMs: yield* Clock.currentTimeMillis }, options);
});
