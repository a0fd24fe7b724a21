/** Sources of a projected volume. Source: validateProjectionSources of Kubernetes; without certificates of pods. */
import { quoted } from "../../data/printable.ts";
import { isObject, type JsonObject, member } from "../../data/json.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, filled, part } from "./broken.ts";
import { filePath, files, podFile } from "./volume_files.ts";

const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

export function* projectedSources(volume: JsonObject): Generator<Broken> {
  const paths = new Set<string>();
  function* once(item: JsonObject): Generator<Broken> {
    const path = member(item, "path");
    if (typeof path !== "string" || path === "") return;
    if (paths.has(path)) yield broken(`two files have the path ${quoted(path)}; rename one of them`, "path");
    paths.add(path);
  }
  yield* each(volume, "sources", function* (source) {
    const kinds = Object.keys(source).filter((kind) => isObject(source[kind]));
    if (kinds.length > 1) {
      yield broken(`has more than one kind: ${kinds.join(", ")}; write an item of its own for each`);
    }
    for (const [field, kind] of [["secret", "Secret"], ["configMap", "ConfigMap"]] as const) {
      yield* part(source, field, function* (own) {
        yield* filled(own, "name", `name a ${kind}`);
        yield* files(own);
        yield* each(own, "items", once);
      });
    }
    yield* part(source, "downwardAPI", function* (own) {
      yield* each(own, "items", podFile);
      yield* each(own, "items", once);
    });
    yield* part(source, "serviceAccountToken", function* (token) {
      const { expirationSeconds: seconds } = token;
      if (typeof seconds === "number" && (seconds < TOKEN_SECONDS_MIN || seconds > TOKEN_SECONDS_MAX)) {
        yield broken(`out of range: ${seconds}; use ${TOKEN_SECONDS_MIN} to ${TOKEN_SECONDS_MAX}`, "expirationSeconds");
      }
      yield* filePath(token, "path");
    });
    yield* part(source, "clusterTrustBundle", function* (bundle) {
      const given = ["name", "signerName"].filter((field) => member(bundle, field) !== undefined);
      if (given.length !== 1) yield broken("set either name or signerName");
      yield* filePath(bundle, "path");
      yield* once(bundle);
    });
  });
}
