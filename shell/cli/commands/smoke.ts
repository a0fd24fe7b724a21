/** `smoke`: flags and help; sends the requests of core/command/smoke.ts through the API server. */
import * as Effect from "effect/Effect";
import { Command, Flag } from "effect/cli";
import {
  type Answer,
  type Check,
  listCheck,
  modelsDetail,
  providersDetail,
  smokeOutcome,
  targetOf,
  type Trial,
  trialCheck,
  trialsOf,
  unaskedCheck,
  versionDetail,
} from "../../../core/command/smoke.ts";
import { withoutSecrets } from "../../../core/data/redaction.ts";
import { liveResource } from "../../../core/snapshot/live_resource.ts";
import { valuesRead } from "../../../core/plan/secret_values.ts";
import { chosenNamespace, clusterFlags, lookOptions, namespace, resourceName } from "../cluster_flags.ts";
import { textOutput } from "../flags.ts";
import { looking, plannedFor, resourceOf } from "../look.ts";
import { print, styleFor } from "../print.ts";
import { type ProxiedServer, proxiedServer } from "../proxied_server.ts";
import { INVOKED_AS } from "../invocation.ts";

export const smoke = Command.make(
  "smoke",
  {
    name: resourceName("Name of the LlamaStackDistribution"),
    namespace,
    ...clusterFlags,
    timeout: Flag.Int("timeout").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("Time to wait for each response (default 60)"),
      Flag.withDefault(60),
      Flag.filter((seconds) => seconds > 0, () => "a number of seconds above 0"),
    ),
    output: textOutput,
  },
  Effect.fn("smoke")(function* (input) {
    const look = yield* lookOptions(input);
    const program = Effect.gen(function* () {
      const resource = yield* resourceOf(chosenNamespace(input.namespace, look), input.name);
      // Without permission to read Secrets, nobody knows what to remove from the texts of the server.
      const values = yield* plannedFor(resource).pipe(
        Effect.map(({ snapshot }) => valuesRead(snapshot)),
        Effect.catchTag("Forbidden", () => Effect.succeed(undefined)),
      );
      const clean = values === undefined ? undefined : (text: string) => withoutSecrets(text, values);
      const server = yield* proxiedServer(look.connection, targetOf(resource), input.timeout * 1000);
      const options = { format: input.output, style: styleFor(Deno.stdout) };
      // It answers only callers that it knows, but for its health and its version.
      if (liveResource(resource).hasAuth) {
        const answer = listCheck("version", yield* server.ask("/v1/version"), clean, versionDetail);
        return smokeOutcome(resource, [answer, unaskedCheck("providers"), unaskedCheck("models")], options);
      }
      const [version, providers, models] = yield* Effect.all(
        [server.ask("/v1/version"), server.ask("/v1/providers"), server.ask("/v1/models")],
        { concurrency: "unbounded" },
      );
      const lists = [
        listCheck("version", version, clean, versionDetail),
        listCheck("providers", providers, clean, providersDetail),
        listCheck("models", models, clean, modelsDetail),
      ];
      // One after the other, so that the times are those of an idle server.
      const trials = yield* Effect.forEach(
        trialsOf(resource, bodyOf(providers), bodyOf(models)),
        (trial) => "check" in trial ? Effect.succeed(trial) : tried(server, trial, clean),
      );
      return smokeOutcome(resource, [...lists, ...trials], options);
    });
    yield* print(yield* looking(Effect.scoped(program), look));
  }),
).pipe(
  Command.withDescription(
    "Check that a running server works: request its version, providers and models, and send one short chat completion to " +
      "each inference provider (or embeddings, if a provider of the resource has no other models), through the API server's proxy. Prints a table " +
      "of what answered, how fast, and why not. Completions may cost money at the provider. With spec.auth, only " +
      "the version is requested. Requires the verbs get and " +
      "create on services/proxy. Exit codes: 0 everything answered, 1 a check failed, resource not found or cluster not " +
      "reachable, 2 usage error.",
  ),
  Command.withShortDescription("Check that a running server answers, provider by provider"),
  Command.withExamples([{
    command: `${INVOKED_AS} smoke vllm -n models`,
    description: "Check one server",
  }]),
);

const bodyOf = (answer: Answer) => answer.kind === "response" && answer.status === 200 ? answer.body : null;

const tried = (
  server: ProxiedServer,
  trial: Trial,
  clean: ((text: string) => string) | undefined,
): Effect.Effect<Check> =>
  Effect.gen(function* () {
    const [first = "", ...older] = trial.paths;
    let answer = yield* server.ask(first, trial.body);
    for (const path of older) {
      // A model that the provider does not know is answered with 404 as well, and then again.
      if (answer.kind !== "response" || answer.status !== 404) break;
      const again = yield* server.ask(path, trial.body);
      if (again.kind === "response" && again.status === 404) break;
      answer = again;
    }
    return trialCheck(trial, answer, clean);
  });
