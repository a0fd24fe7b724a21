import { deepStrictEqual } from "node:assert/strict";
import { annotationsOf, recordIn } from "./record.ts";

Deno.test("a record is read from the annotations that it is written to, and others are none of it", () => {
  const record = { template: "t", cause: "upgrade", upgradeStarted: undefined, rolledBack: "b" } as const;
  const annotations = annotationsOf(record);
  deepStrictEqual(annotations, {
    "llamastack.io/template-digest": "t",
    "llamastack.io/rollout-cause": "upgrade",
    "llamastack.io/rolled-back-template": "b",
  });
  const read = recordIn({ metadata: { annotations: { ...annotations, "example.com/other": "x" } } });
  deepStrictEqual(annotationsOf(read), annotations);
});
