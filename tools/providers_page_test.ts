import { deepStrictEqual, ok } from "node:assert/strict";
import { providersPage } from "./providers_page.ts";

Deno.test("providersPage() has a row for each type and each run of servers on which its fields are the same", () => {
  deepStrictEqual(providersPage().split("\n").filter((line) => line.startsWith("| `remote::vllm` |")), [
    "| `remote::vllm` | Llama Stack 0.2 – 0.3 | `url` | `api_token` |  |",
    "| `remote::vllm` | Llama Stack 0.4 – OGX 1.5 | `base_url` | `api_token` |  |",
  ]);
});

Deno.test("providersPage() says on which servers a type is unsupported, and why", () => {
  ok(providersPage().includes("| `remote::tgi` | Llama Stack 0.3 – 0.6 | refused: its module"));
});
