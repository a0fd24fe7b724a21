/** Live objects are parsed once, in core/snapshot: what is above reads typed facts (ARCHITECTURE.md). */
import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok } from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

const FOLDERS = [
  ...["core/plan", "core/report", "core/command"],
  ...["shell/cache", "shell/controller", "shell/webhooks", "shell/process", "shell/runtime", "shell/cli"],
  "shell/registry",
];

/** Reads of any field of any tree by its name, where no misspelled one is an error. */
const READS =
  /(?<!\.)\b(at|stringAt|objectAt|listAt|member)\(|\b(live|object|kept)(\.(apiVersion|kind|metadata|spec|status|data)\b|\[)/;

/** What other files read so. */
const OTHERS: Readonly<Record<string, string>> = {
  "core/command/convert.ts": "resources of files",
  "core/command/field_changes.ts": "compares trees",
  "core/command/image.ts": "labels of images",
  "core/command/import.ts": "resources of files",
  "core/command/input.ts": "resources of files",
  "core/command/labels_file.ts": "labels of images",
  "core/command/moved.ts": "configs of servers",
  "core/command/smoke.ts": "answers of a server",
  "core/plan/allowed_template.ts": "fields of a pod template, whoever made it",
  "core/plan/difference.ts": "compares trees",
  "core/plan/duplicates.ts": "compares trees",
  "core/plan/field_owners.ts": "compares trees with sets of fields",
  "core/plan/foreign_fields.ts": "compares trees with sets of fields",
  "core/plan/kept_claim.ts": "the manifest of a claim",
  "core/plan/kept_network.ts": "peers of a policy, as a manifest and as it is",
  "core/plan/ownership.ts": "compares the content of ConfigMaps",
  "core/plan/stored_data/moved_stores.ts": "configs of servers",
  "core/plan/stored_data/registries.ts": "configs of servers",
  "core/plan/stored_data/stored_data.ts": "configs of servers",
  "core/plan/takeover.ts": "sets of fields",
  "core/plan/until_rolled_out.ts": "the manifest of a policy",
  "core/plan/written_defaults.ts": "the spec as it is written",
  "core/report/external_containers.ts": "what a container says at its end",
  "core/report/refused_fields.ts": "the spec as it is written",
  "core/report/server_answers.ts": "answers of a server",
  "shell/cache/cache_entry.ts":
    "every object of every watch once, of which a fact would be kept until the next collection",
  "shell/cache/cached_fields.ts": "keeps a part of a tree",
  "shell/cache/store.ts": "as in cache_entry.ts",
  "shell/cli/intended.ts": "lays a resource of a file over a tree",
  "shell/cli/registry_image.ts": "answers of a registry",
  "shell/process/metrics_server.ts": "answers to reviews of a token",
  "shell/registry/image_config.ts": "config of an image",
  "shell/registry/node_architectures.ts": "whether a list is empty",
  "shell/registry/registry.ts": "answers of a registry",
};

const filesIn = (folder: string): ReadonlyArray<string> =>
  [...Deno.readDirSync(new URL(`${folder}/`, ROOT))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? filesIn(path) : path.endsWith(".ts") && !path.endsWith("_test.ts") ? [path] : [];
  });

Deno.test("decisions, reports, commands and the shell read facts of live objects, not their fields by name", () => {
  const readers = FOLDERS.flatMap(filesIn).filter((path) => READS.test(Deno.readTextFileSync(new URL(path, ROOT))));
  deepStrictEqual(readers.toSorted(), Object.keys(OTHERS));
});

/** Files that name fields of the manifests that the operator makes. */
const OF_MANIFESTS = [
  "core/command/diff.ts",
  "core/command/takeover_check.ts",
  "core/plan/rollout/rollout.ts",
  "core/plan/writes.ts",
];

const UNDECLARED = /^TS4111 \[ERROR\].*\n(?:.*\n)*?\s+at (.*):\d+:\d+$/gm;

Deno.test("decisions, reports, commands and the shell name no field that a type does not declare, in whatever expression", async () => {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const { imports, compilerOptions, unstable } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
    const options = { ...compilerOptions, noPropertyAccessFromIndexSignature: true };
    await Deno.writeTextFile(config, JSON.stringify({ imports, unstable, compilerOptions: options }));
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--no-lock", `--config=${config}`, fileURLToPath(new URL("mod.ts", ROOT))],
      env: { NO_COLOR: "1" },
    }).output();
    const files = [...new TextDecoder().decode(stderr).matchAll(UNDECLARED)]
      .map(([, url = ""]) => url.slice(ROOT.href.length));
    // Layers below read trees; if none of them is seen, nothing was checked.
    ok(files.some((file) => file.startsWith("core/snapshot/")), files.join());
    const found = files.filter((file) => FOLDERS.some((folder) => file.startsWith(`${folder}/`)));
    deepStrictEqual([...new Set(found)].filter((file) => !(file in OTHERS)).toSorted(), OF_MANIFESTS);
  } finally {
    await Deno.remove(config);
  }
});
