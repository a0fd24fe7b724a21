import { strictEqual } from "node:assert/strict";
import { printable, shell } from "./printable.ts";

Deno.test("printable() escapes terminal control characters, and leaves lines, tabs and letters of any script", () => {
  strictEqual(printable("a\u001b[2J\u009b1m\rb\u202ec\u0000"), "a\\u001b[2J\\u009b1m\\u000db\\u202ec\\u0000");
  strictEqual(printable("1\t2\nü 漢 🦙"), "1\t2\nü 漢 🦙");
});

Deno.test("shell`` quotes external words, and each remains one word", async () => {
  strictEqual(shell`kubectl get ${"pod"} ${"a-b.c"} -n ${"n"}`, "kubectl get pod a-b.c -n n");
  const words = ["x$(touch y)", "a b", "it's", "`id`", "", "a\nb", "-n", "~", "*"];
  for (const word of words) {
    const run = await new Deno.Command("sh", {
      args: ["-c", shell`printf %s ${word}`.replace("printf %s", "printf %s --")],
    })
      .output();
    strictEqual(new TextDecoder().decode(run.stdout).replace(/^--/, ""), word, word);
  }
});
