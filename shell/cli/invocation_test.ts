import { strictEqual } from "node:assert/strict";
import { invokedAs, withInvocation } from "./invocation.ts";

Deno.test("invokedAs() knows the plugin of kubectl by its file", () => {
  strictEqual(invokedAs("/home/me/.krew/bin/kubectl-llama_stack"), "kubectl llama-stack");
  strictEqual(invokedAs("/usr/bin/llama-stack-operator"), "llama-stack-operator");
  strictEqual(invokedAs("/usr/bin/deno"), "llama-stack-operator");
});

Deno.test("withInvocation() changes commands of the program, and nothing else of its name", () => {
  const text = "run `llama-stack-operator lint -f a`; kubectl logs deployment/llama-stack-operator -n x";
  strictEqual(
    withInvocation(text, "kubectl llama-stack"),
    "run `kubectl llama-stack lint -f a`; kubectl logs deployment/llama-stack-operator -n x",
  );
  strictEqual(withInvocation(text, "llama-stack-operator"), text);
});
