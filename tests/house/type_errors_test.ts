/** Mistakes that the types prevent: each of these small programs must not compile, for the given reason. */
import { fileURLToPath } from "node:url";
import { ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url).href;

interface Mistake {
  readonly name: string;
  readonly program: string;
  /** What the compiler says of it. */
  readonly says: RegExp;
}

/** A file of the program in which `from` is replaced; its imports lead to the files beside the original. */
const changed = (path: string, from: string, to: string): string => {
  const place = new URL(path, ROOT);
  const text = Deno.readTextFileSync(place);
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  return text.replace(from, to).replace(/(?<=from ")\.[^"]*/g, (file) => new URL(file, place).href);
};

const MISTAKES: ReadonlyArray<Mistake> = [
  {
    name: "a stage with a failure that its type does not declare",
    program: `
      import { ConfigTooLarge, type RuleBroken } from "${ROOT}core/failure/failures.ts";
      import type { Stage } from "${ROOT}core/config/stage.ts";
      export const undeclared: Stage<RuleBroken> = (draft) => ({
        draft,
        failures: [new ConfigTooLarge({ path: [], bytes: 2, bytesMax: 1 })],
      });
    `,
    says: /in type 'ConfigTooLarge' but required in type 'RuleBroken'/,
  },
  {
    name: "a preserving decision that writes a Deployment",
    program: `
      import type { PreservationDecision } from "${ROOT}core/plan/decision.ts";
      import type { RolloutDecision } from "${ROOT}core/plan/decision.ts";
      export const writing = (made: RolloutDecision): PreservationDecision => ({
        kind: "preserved",
        steps: made.steps,
        failures: [],
        warnings: [],
        prepared: undefined,
      });
    `,
    says: /Type 'Manifest' is not assignable to type 'ManifestOf<[^>]*"ServiceAccount"[^>]*>'/s,
  },
  {
    name: "a misspelled field of a Deployment",
    program: `
      import { manifest } from "${ROOT}core/resources/kubernetes_objects.ts";
      export const misspelled = manifest<"Deployment">({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a", namespace: "b" },
        spec: { selector: {}, template: { spec: { containers: [{ name: "c", imagePullPolice: "Always" }] } } },
      });
    `,
    says: /'imagePullPolice' does not exist.*'imagePullPolicy'/s,
  },
  {
    name: "a Secret's value in a sentence",
    program: `
      import { SecretValueUnusable } from "${ROOT}core/failure/failures.ts";
      import type { ClusterSnapshot } from "${ROOT}core/snapshot/cluster_snapshot.ts";
      export const printed = ({ secrets }: ClusterSnapshot) =>
        [...secrets.values()].flatMap((values) =>
          Object.values(values).map((value) => new SecretValueUnusable({ path: [], key: "s/k", detail: value }))
        );
    `,
    says: /'Redacted<string>' is not assignable to type 'string'/,
  },
  {
    name: "a failure of the reconciliation without a row in the table of failures",
    program: `
      import type { FAILURES } from "${ROOT}core/report/failure_table.ts";
      import type { ReconcileFailure } from "${ROOT}core/plan/reconcile_failure.ts";
      type Rows = { readonly [Tag in ReconcileFailure["_tag"] | "Forgotten"]: object };
      export const complete = (rows: typeof FAILURES): Rows => rows;
    `,
    says: /Property 'Forgotten' is missing/,
  },
  {
    name: "a failure that does not exist among those that rest on more than the resource",
    program: changed("core/plan/rests_on.ts", "SecretNotFound:", "SecretNotFond:"),
    says: /'SecretNotFond' does not exist/,
  },
  {
    name: "a question of a plan that nobody answers",
    program: `
      import type { Ask, Plan } from "${ROOT}core/plan/plan.ts";
      export const answered = (ask: Exclude<Ask, { _tag: "Slots" }>): Plan => {
        switch (ask._tag) {
          case "Labels":
            return ask.resume({ kind: "unknown" });
          case "Objects":
          case "Owners":
            return ask.resume([]);
          case "Contests":
            return ask.resume(undefined);
        }
      };
    `,
    says: /Function lacks ending return statement and return type does not include 'undefined'/,
  },
  {
    name: "a step that nobody performs",
    program: changed(
      "shell/controller/perform.ts",
      "(step: WriteStep, resource: JsonObject, before",
      `(step: WriteStep | { readonly _tag: "Other" }, resource: JsonObject, before`,
    ),
    says: /Type '\{ readonly _tag: "Other"; \}' does not satisfy the expected type 'never'/,
  },
  {
    name: "a step that belongs to no group",
    program: changed(
      "core/plan/step.ts",
      "groupOf = (step: WriteStep)",
      `groupOf = (step: WriteStep | { readonly _tag: "Other" })`,
    ),
    says: /Type '\{ readonly _tag: "Other"; \}' does not satisfy the expected type 'never'/,
  },
  {
    name: "a case that is forgotten where nothing may be returned as well",
    program: `
      import type { Derived } from "${ROOT}core/config/derive.ts";
      export const fileOf = (derived: Derived): string | undefined => {
        switch (derived._tag) {
          case "Generated":
            return derived.config.yaml;
          case "Override":
            return undefined;
        }
      };
    `,
    says: /Not all code paths return a value/,
  },
  {
    name: "a field of a live pod that nobody has parsed",
    program: `
      import type { ClusterSnapshot } from "${ROOT}core/snapshot/cluster_snapshot.ts";
      export const node = ({ pods }: ClusterSnapshot) => pods.map(({ spec }) => spec);
    `,
    says: /Property 'spec' does not exist on type 'LivePod'/,
  },
];

Deno.test("mistakes that the types are there to stop do not compile", async (t) => {
  const folder = await Deno.makeTempDir();
  try {
    const files = MISTAKES.map((_, index) => `${folder}/mistake_${index}.ts`);
    await Promise.all(MISTAKES.map(({ program }, index) => Deno.writeTextFile(files[index] ?? "", program)));
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", `--config=${fileURLToPath(new URL("deno.json", ROOT))}`, ...files],
      env: { NO_COLOR: "1" },
    }).output();
    const errors = new TextDecoder().decode(stderr).split(/^(?=TS\d+ \[ERROR\])/m);
    for (const [index, { name, says }] of MISTAKES.entries()) {
      await t.step(name, () => {
        const said = errors.filter((error) => error.includes(`mistake_${index}.ts`)).join("");
        ok(says.test(said), said === "" ? "it compiles" : said);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
