/** One judgement for all who ask: the command line before a cluster, admission at its door, and the operator behind it. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import * as Result from "effect/Result";
import { changeFindings } from "../core/api/change_rules.ts";
import { judge } from "../core/admission/judgement.ts";
import { decodeResource } from "../core/api/decode.ts";
import { withoutNulls } from "../core/api/nulls.ts";
import { lintCommand } from "../core/command/lint.ts";
import { PLAIN } from "../core/command/outcome.ts";
import { renderCommand } from "../core/command/render.ts";
import { at, type JsonObject } from "../core/data/json.ts";
import { prepare } from "../core/plan/prepare.ts";
import { arbitraryResource } from "./arbitrary_resources.ts";
import { SURROUNDINGS } from "./given.ts";
import { snapshot } from "./snapshots.ts";

/** Four judgements of each take a while. */
const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 400);

/** Only the operator reads Secrets and ConfigMaps. */
const OF_REFERENCES = new Set([
  "SecretNotFound",
  "SecretKeyMissing",
  "ConfigMapNotFound",
  "ConfigMapKeyMissing",
  "TooManyReferences",
  "SecretValueUnusable",
]);

const sorted = (messages: Iterable<string>): ReadonlyArray<string> => [...new Set(messages)].sort();

const lintErrors = (resource: JsonObject): ReadonlyArray<string> => {
  const files = [{ name: "f", text: JSON.stringify(resource) }];
  const { stdout } = lintCommand(files, SURROUNDINGS, { format: "json", style: PLAIN });
  const { findings } = JSON.parse(stdout) as {
    findings: ReadonlyArray<{ readonly level: string; readonly message: string }>;
  };
  return findings.filter(({ level }) => level === "error").map(({ message }) => message);
};

const renderFails = (resource: JsonObject): boolean => {
  const files = [{ name: "f", text: JSON.stringify(resource) }];
  return renderCommand(files, SURROUNDINGS, { only: "env", format: "json", style: PLAIN }).code !== 0;
};

Deno.test(`lint, render, admission and reconciliation judge each of ${RUNS} resources alike`, () => {
  let refused = 0;
  let accepted = 0;
  fc.assert(
    fc.property(arbitraryResource, (made) => {
      // What the API server would not store never reaches admission, and neither do the nulls that it removes.
      const resource = withoutNulls(JSON.parse(JSON.stringify(made)) as JsonObject) as JsonObject;
      const errors = lintErrors(resource);
      // Without the ConfigMap, which only the cluster has, there is nothing to render, and lint warns.
      const isOpen = at(resource, "spec", "baseConfig") !== undefined;
      strictEqual(renderFails(resource), errors.length > 0 || isOpen);
      if (Result.isFailure(decodeResource(resource, "strict"))) return ok(errors.length > 0);
      if (errors.length > 0) refused++;
      else accepted++;

      const change = { namespace: "default", object: resource, before: undefined, writtenIn: "v1alpha2" };
      const { rejections, warnings } = judge(change, SURROUNDINGS, "Warn", new Map());
      const told = warnings.filter((text) => errors.includes(text));
      deepStrictEqual(sorted([...rejections.map(({ message }) => message), ...told]), sorted(errors));

      const stored = changeFindings(resource).map(({ message }) => message);
      const prepared = prepare(snapshot({}, { resource }));
      const failures = Result.isFailure(prepared) ? prepared.failure.failures : [];
      const judged = failures.filter(({ _tag }) => !OF_REFERENCES.has(_tag)).map(({ message }) => message);
      deepStrictEqual(
        sorted(judged.filter((text) => !stored.includes(text))),
        sorted(errors.filter((text) => !stored.includes(text))),
      );
    }),
    { numRuns: RUNS },
  );
  ok(refused > RUNS / 50 && accepted > RUNS / 50, `${refused} refused, ${accepted} accepted`);
});
