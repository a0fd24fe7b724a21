/** `diff`: flags and help; reads the cluster once and lets core/command/diff.ts report the changes. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Argument, Command } from "effect/cli";
import { diffCommand, type DiffSubject } from "../../../core/command/diff.ts";
import { type InputResource, notComparable, readInputs } from "../../../core/command/input.ts";
import { isObject } from "../../../core/data/json.ts";
import { NAMESPACE_DEFAULT } from "../../../core/data/namespace.ts";
import type { ConfigMaps } from "../../../core/config/config_map_content.ts";
import { growingClass } from "../../../core/plan/kept_claim.ts";
import type { Planned } from "../../../core/plan/plan.ts";
import type { ClusterSnapshot } from "../../../core/snapshot/cluster_snapshot.ts";
import { allowsExpansion } from "../../../core/snapshot/live_claim.ts";
import { Cluster, isPassing } from "../../kubernetes/cluster.ts";
import { intended } from "../intended.ts";
import { lacksKey, looking, plannedFor, ResourceNotFound, resourceOf } from "../look.ts";
import { chosenNamespace, clusterFlags, lookOptions, namespace, resourceName } from "../cluster_flags.ts";
import { filename, imageLabels, recursive, textOutput } from "../flags.ts";
import { labelsIn } from "../surroundings.ts";
import { manifestTexts } from "../files.ts";
import { print, styleFor, usageError } from "../print.ts";
import { INVOKED_AS } from "../invocation.ts";

/** A subject, and a remark on how it was read. */
interface Looked {
  readonly subject: DiffSubject;
  readonly note: string | undefined;
}

export const diff = Command.make(
  "diff",
  {
    filename,
    recursive,
    names: resourceName("Names of existing LlamaStackDistributions").pipe(Argument.variadic()),
    namespace,
    imageLabels,
    ...clusterFlags,
    output: textOutput,
  },
  Effect.fn("diff")(function* (input) {
    if (input.filename.length + input.names.length === 0) {
      return yield* usageError("Specify a file with -f FILE, or a resource of the cluster: diff NAME -n NAMESPACE");
    }
    const { resources, skipped, converted } = readInputs(
      yield* manifestTexts(input.filename, input.recursive),
    );
    const look = { ...yield* lookOptions(input), ...yield* labelsIn(input.imageLabels, resources) };
    const home = chosenNamespace(input.namespace, look);
    const program = Effect.gen(function* () {
      const files = yield* Effect.forEach(resources, (inputResource) => fromFile(inputResource, home));
      const live = yield* Effect.forEach(input.names, (name) => fromCluster(name, home));
      const keyless = [...files, ...live].some(({ subject: { planned } }) =>
        Result.isSuccess(planned) && lacksKey(planned.success.snapshot)
      );
      const notes = [
        ...skipped,
        ...converted,
        ...(keyless ? [NO_KEY] : []),
        ...[...files, ...live].flatMap(({ note }) => note === undefined ? [] : [note]),
      ];
      return diffCommand([...files, ...live].map(({ subject }) => subject), notes, {
        format: input.output,
        style: styleFor(Deno.stdout),
      });
    });
    yield* print(yield* looking(program, look));
  }),
).pipe(
  Command.withDescription(
    "Show the changes that the operator would make in the cluster for the resources in a file, or for existing resources. " +
      "Writes nothing and never shows values of Secrets. Exit codes: 0 no differences, 1 differences or errors, 2 usage error.",
  ),
  Command.withShortDescription("Show the changes that the operator would make"),
  Command.withExamples([
    { command: `${INVOKED_AS} diff -f llama.yaml`, description: "Preview kubectl apply" },
    {
      command: `${INVOKED_AS} diff vllm -n models -o json`,
      description: "Compare an existing resource, as JSON",
    },
  ]),
);

const NO_KEY =
  "the operator's HMAC key cannot be read, so Secrets and the labels of images may be shown as changed although they are not: " +
  "set --operator-namespace to the namespace of the operator, or ask for permission to read its Secret llama-stack-operator-hmac";

const fromFile = Effect.fnUntraced(
  function* (
    { label, document, resource, located, configMaps }: InputResource,
    namespace: string,
  ) {
    if (Result.isFailure(resource) || !isObject(document)) {
      const messages = Result.isFailure(resource)
        ? resource.failure.failures.map((failure) => located(failure).message)
        : [];
      return failed(label, messages);
    }
    const nameless = notComparable(document);
    if (nameless !== undefined) return failed(label, [nameless]);
    const made = yield* Effect.result(intended(document, resource.success.namespace ?? namespace));
    if (Result.isFailure(made)) {
      // A rejection concerns this document; any other error concerns the whole cluster.
      if (isPassing(made.failure) || made.failure._tag === "Unauthorized") return yield* made.failure;
      return failed(label, [made.failure.detail]);
    }
    const cluster = yield* Cluster;
    const planned = yield* Effect.provideService(
      plannedFor(made.success.resource),
      Cluster,
      withConfigMaps(cluster, configMaps, resource.success.namespace === undefined ? namespace : undefined),
    );
    return yield* looked(label, planned, made.success.note);
  },
);

/** The cluster as it will be: the files are applied together. `home`: where documents go that name no namespace, as the resource. */
const withConfigMaps = (
  cluster: Cluster["Service"],
  configMaps: ConfigMaps,
  home: string | undefined,
): Cluster["Service"] => ({
  ...cluster,
  get: (key) => {
    const namespace = key.namespace === home ? NAMESPACE_DEFAULT : key.namespace ?? "";
    const given = key.kind === "ConfigMap" ? configMaps.get(`${namespace}/${key.name}`) : undefined;
    return given === undefined ? cluster.get(key) : Effect.succeed({ ...key, ...given });
  },
});

const fromCluster = Effect.fnUntraced(function* (name: string, namespace: string) {
  const label = `${namespace}/${name}`;
  const found = yield* Effect.result(resourceOf(namespace, name));
  if (Result.isFailure(found)) {
    if (!(found.failure instanceof ResourceNotFound)) return yield* found.failure;
    return failed(label, [found.failure.message]);
  }
  return yield* looked(label, yield* plannedFor(found.success));
});

const failed = (label: string, messages: ReadonlyArray<string>): Looked => ({
  subject: { label, planned: Result.fail(messages) },
  note: undefined,
});

const looked = (label: string, planned: Planned, note?: string) =>
  Effect.map(
    canExpandClaim(planned.snapshot),
    (canExpand): Looked => ({ subject: { label, planned: Result.succeed(planned), canExpand }, note }),
  );

/** Whether the claim of the resource can grow as it asks; undefined if it does not, or the class may not be read. */
const canExpandClaim = Effect.fn("canExpandClaim")(function* (snapshot: ClusterSnapshot) {
  const name = growingClass(snapshot);
  if (name === undefined || name === "") return name === undefined ? undefined : false;
  const found = yield* Effect.catchTag(
    (yield* Cluster).read(`/apis/storage.k8s.io/v1/storageclasses/${encodeURIComponent(name)}`),
    ["Forbidden", "NotFound"],
    () => Effect.succeed(undefined),
  );
  return found === undefined ? undefined : allowsExpansion(found);
});
