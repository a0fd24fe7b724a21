/** Live objects are parsed once, in core/snapshot: what is above reads typed facts (ARCHITECTURE.md). */
import { deepStrictEqual } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

const FOLDERS = ["core/plan", "core/report", "shell/controller"];

/** They read any field of any tree by its name, so that no misspelled one is an error. */
const READERS = /(?<!\.)\b(at|stringAt|objectAt|listAt|member)\(/;

/** What other files read with them. */
const OTHERS: Readonly<Record<string, string>> = {
  "core/plan/allowed_template.ts": "fields of a pod template, whoever made it",
  "core/plan/difference.ts": "compares trees",
  "core/plan/duplicates.ts": "compares trees",
  "core/plan/field_owners.ts": "compares trees with sets of fields",
  "core/plan/foreign_fields.ts": "compares trees with sets of fields",
  "core/plan/image_question.ts": "overrides of a resource, which are fields of pods",
  "core/plan/kept_claim.ts": "the manifest of a claim",
  "core/plan/kept_network.ts": "peers of a policy, as a manifest and as it is",
  "core/plan/stored_data/moved_stores.ts": "configs of servers",
  "core/plan/stored_data/registries.ts": "configs of servers",
  "core/plan/stored_data/stored_data.ts": "configs of servers",
  "core/plan/takeover.ts": "sets of fields",
  "core/plan/written_defaults.ts": "the spec as it is written",
  "core/report/external_containers.ts": "what a container says at its end",
  "core/report/refused_fields.ts": "the spec as it is written",
  "core/report/server_answers.ts": "answers of a server",
  "shell/controller/referenced_objects.ts": "Secrets and ConfigMaps of users",
  "shell/controller/storage_migration.ts": "definitions of resources",
};

const filesIn = (folder: string): ReadonlyArray<string> =>
  [...Deno.readDirSync(new URL(`${folder}/`, ROOT))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? filesIn(path) : path.endsWith(".ts") && !path.endsWith("_test.ts") ? [path] : [];
  });

Deno.test("decisions and reports read facts of live objects, not their fields by name", () => {
  const readers = FOLDERS.flatMap(filesIn).filter((path) => READERS.test(Deno.readTextFileSync(new URL(path, ROOT))));
  deepStrictEqual(readers.toSorted(), Object.keys(OTHERS));
});
