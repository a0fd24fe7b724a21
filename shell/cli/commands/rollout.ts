/** `rollout`: flags and help; writes the annotation that core/command/rollout.ts returns. */
import { isSha256Digest } from "../../../core/data/image_reference.ts";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Command } from "effect/cli";
import { rolloutCommand } from "../../../core/command/rollout.ts";
import { Cluster } from "../../kubernetes/cluster.ts";
import { looking, plannedFor, resourceOf } from "../look.ts";
import { chosenNamespace, clusterFlags, lookOptions, namespace, resourceName } from "../cluster_flags.ts";
import { optionalText } from "../flags.ts";
import { print, usageError } from "../print.ts";
import { INVOKED_AS } from "../invocation.ts";
import { Patch } from "../../../core/plan/patch.ts";

/** Of the annotation alone, so that no other field of the resource gets another owner. */
const FIELD_MANAGER = "llama-stack-operator-rollout";

export const rollout = Command.make(
  "rollout",
  {
    name: resourceName("Name of the LlamaStackDistribution"),
    namespace,
    imageDigest: optionalText(
      "image-digest",
      "sha256:DIGEST",
      "Digest to run of an image whose base config is in its labels (default: what the operator has found its tag to mean)",
    ),
    ...clusterFlags,
  },
  Effect.fn("rollout")(function* (input) {
    const imageDigest = Option.getOrUndefined(input.imageDigest);
    if (imageDigest !== undefined && !isSha256Digest(imageDigest)) {
      return yield* usageError("--image-digest: expected sha256: and 64 hexadecimal digits");
    }
    const look = yield* lookOptions(input);
    const home = chosenNamespace(input.namespace, look);
    const program = Effect.gen(function* () {
      const planned = yield* plannedFor(yield* resourceOf(home, input.name));
      const { write, outcome } = rolloutCommand(planned, imageDigest);
      if (write !== undefined) {
        const patch = Patch.ServerSideApply({ object: write, fieldManager: FIELD_MANAGER, precondition: "any" });
        yield* (yield* Cluster).send(patch);
      }
      return outcome;
    });
    yield* print(yield* looking(program, look));
  }),
).pipe(
  Command.withDescription(
    "Roll out a pod template that is held after an upgrade of the operator, or that waits in the upgrade queue; or " +
      "the digest that the tag of an image means now, if its base config is in its labels. Sets an annotation on the resource; the running operator then replaces the pods.",
  ),
  Command.withShortDescription("Roll out a held pod template"),
  Command.withExamples([{
    command: `${INVOKED_AS} rollout vllm -n models`,
    description: "Roll out one resource",
  }]),
);
