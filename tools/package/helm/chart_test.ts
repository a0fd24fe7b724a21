/** How variants of objects become templates; tests/cluster/helm_render_test.ts renders the whole chart with Helm. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import * as Result from "effect/Result";
import { objectAt } from "../../../core/data/json.ts";
import { readManifests } from "../../../core/data/yaml.ts";
import { DEFAULT } from "../choices.ts";
import { chartFiles } from "./chart.ts";
import { type Combination, COMBINATIONS, conditionFor } from "./combinations.ts";
import { mark, optional } from "./expressions.ts";
import { merged, orderOf } from "./merged.ts";
import { documentLines } from "./template.ts";

const where = (holds: (combination: Combination) => boolean) => COMBINATIONS.filter(holds);

Deno.test("conditionFor() finds the shortest condition within what is given", () => {
  strictEqual(conditionFor(COMBINATIONS, COMBINATIONS), undefined);
  strictEqual(conditionFor(COMBINATIONS, where(({ webhooks }) => !webhooks)), "not $.Values.webhooks.enabled");
  const mounted = where(({ webhooks, certificates }) => webhooks && certificates !== "self-managed");
  strictEqual(
    conditionFor(COMBINATIONS, mounted),
    'and $.Values.webhooks.enabled (ne $.Values.webhooks.certificates "self-managed")',
  );
  strictEqual(
    conditionFor(where(({ webhooks }) => webhooks), mounted),
    'ne $.Values.webhooks.certificates "self-managed"',
  );
  throws(() => conditionFor(COMBINATIONS, COMBINATIONS.slice(0, 17)), /No condition/);
});

Deno.test("orderOf() keeps every order, and rejects orders that contradict each other", () => {
  deepStrictEqual(orderOf([["b"], ["a", "b"], ["a", "c"], ["b", "c"]]), ["a", "b", "c"]);
  throws(() => orderOf([["a", "b"], ["b", "a"]]), /another order/);
});

Deno.test("variants become one template with a condition around what differs", () => {
  const object = (secretPolling: boolean) => ({
    same: { text: "a {{ b }}" },
    list: ["x", ...(secretPolling ? ["y"] : []), `--namespace=${mark("watched")}`],
    ports: [{ name: "web", number: secretPolling ? 1 : 2 }],
    pods: optional("affinity"),
  });
  const variants = COMBINATIONS.map((combination) => ({
    value: object(combination.secretPolling),
    combinations: [combination],
  }));
  deepStrictEqual(documentLines(merged(variants)), [
    "same:",
    "  text: a {{ `{{` }} b }}",
    "list:",
    "  - x",
    "{{- if $.Values.secretPolling }}",
    '  - "y"',
    "{{- end }}",
    "{{- range $namespace := $.Values.watchNamespaces }}",
    '  - "--namespace={{ $namespace }}"',
    "{{- end }}",
    "ports:",
    "  - name: web",
    "{{- if not $.Values.secretPolling }}",
    "    number: 2",
    "{{- end }}",
    "{{- if $.Values.secretPolling }}",
    "    number: 1",
    "{{- end }}",
    "{{- with $.Values.affinity }}",
    "pods:",
    "  {{- toYaml . | nindent 2 }}",
    "{{- end }}",
  ]);
});

Deno.test("chartFiles() makes the choices and the version of a release the defaults", () => {
  const digest = `sha256:${"ab".repeat(32)}`;
  const files = chartFiles({ ...DEFAULT, image: `example.com:5000/operator:v1@${digest}` }, "1.2.3");
  const read = (path: string) => objectAt(Result.getOrThrow(readManifests(files[path] ?? ""))[0]);
  deepStrictEqual(read("values.yaml").image, {
    repository: "example.com:5000/operator",
    tag: "",
    digest,
    pullPolicy: "",
  });
  deepStrictEqual([read("Chart.yaml").version, read("Chart.yaml").appVersion], ["1.2.3", "1.2.3"]);
  const tagged = chartFiles({ ...DEFAULT, image: "example.com:5000/operator" }, "1.2.3");
  match(tagged["values.yaml"] ?? "", /repository: example.com:5000\/operator\n/);
  throws(
    () => chartFiles({ ...DEFAULT, relatedImages: [{ variable: "RELATED_IMAGE_X", image: "x" }] }, "1.2.3"),
    /RELATED_IMAGE_X/,
  );
});

Deno.test("every value has a row in the README, and no text of the chart has a mark left", () => {
  const files = chartFiles(DEFAULT, "1.2.3");
  const schema = JSON.parse(files["values.schema.json"] ?? "");
  for (const key of Object.keys(schema.properties)) {
    ok(key === "global" || key === "enabled" || files["README.md"]?.includes(`| \`${key}`), key);
  }
  deepStrictEqual(Object.entries(files).filter(([, text]) => /[⟪⟫]/.test(text)).map(([path]) => path), []);
});
