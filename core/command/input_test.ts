import { strictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { notComparable } from "./input.ts";

Deno.test("notComparable() names what a document without a name lacks", () => {
  const document = (metadata: JsonObject): JsonObject => ({ kind: "LlamaStackDistribution", metadata });
  strictEqual(notComparable(document({ name: "my" })), undefined);
  strictEqual(notComparable(document({ generateName: "my-" }))?.startsWith("metadata.name: required"), true);
});
