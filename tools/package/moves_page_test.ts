import { deepStrictEqual } from "node:assert/strict";
import { movesPage } from "./moves_page.ts";

Deno.test("movesPage() has a row for each two groups of servers between which something is lost", () => {
  const rows = movesPage().split("\n").filter((line) => /^\| (Llama|OGX)/.test(line))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  deepStrictEqual(rows.map(([from, to]) => `${from} → ${to}`), [
    "Llama Stack 0.2 → Llama Stack 0.3",
    "Llama Stack 0.2 → Llama Stack 0.4",
    "Llama Stack 0.2 → Llama Stack 0.5 – OGX 0.8",
    "Llama Stack 0.2 → OGX 1.0 – OGX 1.5",
    "Llama Stack 0.3 → Llama Stack 0.4",
    "Llama Stack 0.3 → Llama Stack 0.5 – OGX 0.8",
    "Llama Stack 0.3 → OGX 1.0 – OGX 1.5",
    "Llama Stack 0.4 → Llama Stack 0.5 – OGX 0.8",
    "Llama Stack 0.4 → OGX 1.0 – OGX 1.5",
    "Llama Stack 0.5 – OGX 0.8 → OGX 1.0 – OGX 1.5",
  ]);
  deepStrictEqual(rows.at(-1)?.slice(2), [
    "prompts; batches; vector stores in sqlite; shields",
    "prompts; batches; shields",
    "prompts; batches; vector stores in sqlite; shields",
  ]);
});
