/** The credentials of a person for registries, as docker and podman keep them on the machine. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { type Credential, credentialsOf, type Entries, entriesOf, keyringOf } from "../../core/image/credentials.ts";
import type { ImageName } from "../../core/data/image_reference.ts";
import { ANSWER_BOUNDS, readJson } from "../../core/data/json_text.ts";
import { FileUnreadable } from "./files.ts";
import { fileProblem } from "../runtime/file_problem.ts";

/** The file that was named, else the first that exists of those that docker and podman write. */
const fileNames = (named: string | undefined): ReadonlyArray<string> => {
  if (named !== undefined) return [named];
  const [docker, home, runtime, podman] = ["DOCKER_CONFIG", "HOME", "XDG_RUNTIME_DIR", "REGISTRY_AUTH_FILE"]
    .map((name) => Deno.env.get(name));
  return [
    ...(podman === undefined ? [] : [podman]),
    ...(docker === undefined ? [] : [`${docker}/config.json`]),
    ...(runtime === undefined ? [] : [`${runtime}/containers/auth.json`]),
    ...(home === undefined ? [] : [`${home}/.docker/config.json`, `${home}/.config/containers/auth.json`]),
  ];
};

/** Helpers that keep credentials in a store of the system are not run. */
export const ownCredentials = Effect.fnUntraced(function* (
  name: ImageName,
  file: string | undefined,
): Effect.fn.Return<ReadonlyArray<Credential>, FileUnreadable> {
  for (const path of fileNames(file)) {
    const read = yield* Effect.result(Effect.tryPromise({ try: () => Deno.readTextFile(path), catch: fileProblem }));
    if (Result.isFailure(read)) {
      if (file === undefined) continue;
      return yield* new FileUnreadable({ name: path, detail: read.failure });
    }
    const entries = entriesIn(read.success);
    if (entries === undefined) {
      const detail = "it is not a config.json of docker with credentials in auths";
      return yield* new FileUnreadable({ name: path, detail });
    }
    return credentialsOf(name, keyringOf([entries]));
  }
  return [];
});

const entriesIn = (text: string): Entries | undefined => {
  const document = readJson(text, ANSWER_BOUNDS);
  return Result.isSuccess(document) ? entriesOf(document.success, "dockerconfigjson") : undefined;
};
