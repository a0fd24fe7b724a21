/** The health check of Argo CD, which no type checks, knows every reason that it has to know. */
import { deepStrictEqual } from "node:assert/strict";
import { POD_REASONS } from "../../core/api/reasons.ts";

const SCRIPT = await Deno.readTextFile(new URL("../../deploy/argocd/health.lua", import.meta.url));

Deno.test("health.lua calls pods broken for every reason but that they wait for a node", () => {
  const [, names = ""] = /local broken = \{([^}]*)\}/.exec(SCRIPT) ?? [];
  const broken = names.split(",").map((item) => item.split("=")[0]?.trim());
  deepStrictEqual(broken, POD_REASONS.filter((reason) => reason !== "Unschedulable"));
});
