/**
 * What holds for every resource. `PROPERTY_RUNS` sets how many are tried (2,000 where it is not set); `deno task
 * properties` tries 200,000. A failure prints the seed with which it can be repeated.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import * as Result from "effect/Result";
import { decodeResource } from "../core/api/decode.ts";
import { derive, Derived } from "../core/config/derive.ts";
import { authenticationOf } from "../core/config/stages/authentication.ts";
import { formatPath } from "../core/data/field_path.ts";
import { isList, isObject, type Json, type JsonObject, objectAt, stringAt } from "../core/data/json.ts";
import { reasonOf } from "../core/report/failure_table.ts";
import { readYaml11 } from "../core/data/yaml.ts";
import { arbitraryResource } from "./arbitrary_resources.ts";
import { SURROUNDINGS } from "./given.ts";

const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 2_000);

/** Half of the resources are refused early; the properties of generated configs need fewer runs to see as many. */
const SOME = Math.ceil(RUNS / 5);

const outcome = (resource: JsonObject) =>
  Result.flatMap(
    Result.mapError(decodeResource(resource, "strict"), (failures) => ({ failures, warnings: [] })),
    (decoded) => derive(decoded, SURROUNDINGS),
  );

const generatedFrom = (resource: JsonObject) => {
  const derived = outcome(resource);
  return Result.isSuccess(derived) && Derived.$is("Generated")(derived.success) ? derived.success : undefined;
};

Deno.test(`derive() converts each of ${RUNS} resources to a config or to failures with path, message and verdict`, () => {
  const seen = new Map<string, number>();
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  fc.assert(
    fc.property(arbitraryResource, (resource) => {
      const derived = outcome(resource);
      if (Result.isSuccess(derived)) {
        count(derived.success._tag);
        if (!Derived.$is("Generated")(derived.success)) return;
        const { config, env } = derived.success;
        const tree = Result.getOrThrow(readYaml11(config.yaml));
        ok(isObject(tree) && tree.version === 2);
        strictEqual(new Set(env.map(({ name }) => name)).size, env.length);
        for (const name of placeholders(config.yaml)) ok(/^[A-Z0-9_]+$/.test(name), name);
        for (const warning of config.warnings) ok(formatPath(warning.path).length > 0 && warning.message.length > 0);
      } else {
        ok(derived.failure.failures.length > 0);
        for (const failure of derived.failure.failures) {
          count(failure._tag);
          ok(failure.path.length > 0, failure._tag);
          ok(failure.message.length > 0 && !/undefined|\[object/.test(failure.message), failure.message);
          ok(reasonOf(failure).length > 0);
        }
      }
    }),
    { numRuns: RUNS },
  );
  // The grammar must reach the places that the property speaks of.
  const expected = [
    "Generated",
    "DistributionDefault",
    "Override",
    "SchemaMismatch",
    "RuleBroken",
    "UnknownProviderType",
    "UnknownProvider",
    "EnvNameCollision",
    "MissingSetting",
    "MissingProviderForResource",
    "NotSupportedByServer",
    "BaseConfigRequired",
    "UnusableEndpoint",
  ];
  deepStrictEqual(expected.filter((tag) => !seen.has(tag)), []);
});

Deno.test("derive() never lets a server with spec.auth start without authentication", () => {
  let seen = 0;
  fc.assert(
    fc.property(arbitraryResource, (resource) => {
      if (!Object.hasOwn(objectAt(resource, "spec"), "auth")) return;
      const derived = outcome(resource);
      if (Result.isFailure(derived)) return;
      ok(Derived.$is("Generated")(derived.success), derived.success._tag);
      const { server, config } = derived.success;
      const tree = Result.getOrThrow(readYaml11(config.yaml)) as JsonObject;
      strictEqual(authenticationOf(tree, () => "Unset", server), "On");
      match(
        stringAt(tree, "server", "auth", "provider_config", "type") ?? "",
        /^(oauth2_token|kubernetes|custom|upstream_header)$/,
      );
      seen++;
    }),
    { numRuns: RUNS },
  );
  ok(seen > 0);
});

Deno.test("derive() produces the same bytes for the same resource, whatever the order of its keys", () => {
  let compared = 0;
  fc.assert(
    fc.property(arbitraryResource, fc.integer(), (resource, seed) => {
      const first = generatedFrom(resource);
      const again = generatedFrom(shuffled(structuredClone(resource), seed));
      strictEqual(again?.config.yaml, first?.config.yaml);
      deepStrictEqual(again?.env, first?.env);
      if (first !== undefined) compared++;
    }),
    { numRuns: SOME },
  );
  ok(compared > SOME / 20, `${compared} generated`);
});

Deno.test("derive() changes nothing when it runs over its own result", () => {
  let compared = 0;
  fc.assert(
    fc.property(arbitraryResource, (resource) => {
      const first = generatedFrom(resource);
      // The entry of an external provider is completed in the pod; until then no server reads it.
      if (first === undefined || first.config.external.length > 0) return;
      compared++;
      const decoded = Result.getOrThrow(decodeResource(resource, "strict"));
      const base = { origin: "its own result", content: first.config.yaml };
      const second = derive(decoded, { ...SURROUNDINGS, base });
      ok(Result.isSuccess(second) && Derived.$is("Generated")(second.success), JSON.stringify(resource));
      strictEqual(second.success.config.yaml, first.config.yaml);
    }),
    { numRuns: SOME },
  );
  ok(compared > SOME / 20, `${compared} generated`);
});

Deno.test("derive() quotes no value where a secret may be", () => {
  const CANARY = "canary-7f3a";
  fc.assert(
    fc.property(arbitraryResource, (resource) => {
      const tainted = poisoned(resource, CANARY) as JsonObject;
      const derived = outcome(tainted);
      const said = Result.isSuccess(derived)
        ? Derived.$is("Generated")(derived.success) ? derived.success.config.warnings.map(({ message }) => message) : []
        : [...derived.failure.failures, ...derived.failure.warnings].map(({ message }) => message);
      ok(said.every((line) => !line.includes(CANARY)), said.join("\n"));
    }),
    { numRuns: SOME },
  );
});

const placeholders = (yaml: string): ReadonlyArray<string> =>
  [...yaml.matchAll(/\$\{env\.(LLSD_[^}:]*)/g)].map((found) => found[1] ?? "");

/** The same tree with the keys of each object in another order. */
const shuffled = (value: Json, seed: number): JsonObject => {
  const walk = (node: Json): Json => {
    if (isList(node)) return node.map(walk);
    if (!isObject(node)) return node;
    const entries = Object.entries(node).map(([key, inner]): [string, Json] => [key, walk(inner)]);
    return Object.fromEntries(entries.sort(([a], [b]) => hash(a, seed) - hash(b, seed)));
  };
  return walk(value) as JsonObject;
};

const hash = (text: string, seed: number): number =>
  [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, seed);

/** Puts the canary where authors misplace secrets: as the reference itself, as a setting, in the user info of an address. */
const poisoned = (value: Json, canary: string): Json => {
  if (isList(value)) return value.map((item) => poisoned(item, canary));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, Json] => {
      if (["apiKey", "password", "connectionString"].includes(key)) return [key, canary];
      if (key === "settings") return [key, { password: canary, nested: { token: canary } }];
      if (key === "endpoint") return [key, `http://user:${canary}@host:port`];
      return [key, poisoned(inner, canary)];
    }),
  );
};
