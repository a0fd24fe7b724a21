import { strictEqual } from "node:assert/strict";
import { printable, quoted, shell, shortWord } from "./printable.ts";

Deno.test("printable() escapes terminal control characters, and leaves lines, tabs and letters of any script", () => {
  strictEqual(printable("a\u001b[2J\u009b1m\rb\u202ec\u0000"), "a\\u001b[2J\\u009b1m\\u000db\\u202ec\\u0000");
  strictEqual(printable("1\t2\nü 漢 🦙"), "1\t2\nü 漢 🦙");
});

Deno.test("a quoted word of somebody else shows no password", () => {
  for (
    const [word, shown] of [
      ["https://user:hunter2@registry.example/ns/img:1", "https://user:…@registry.example/ns/img:1"],
      ["user:hunter2@registry.example/ns/img:1", "user:…@registry.example/ns/img:1"],
      ["registry.example/user:hunter2@img", "registry.example/user:…@img"],
      ["postgresql://u:p:w@db:5432/x?sslmode=require", "postgresql://u:…@db:5432/x?sslmode=require"],
      ["redis://:hunter2@cache:6379", "redis://:…@cache:6379"],
      ["https://a.example/v1?x=1&api_key=hunter2&y=2", "https://a.example/v1?x=1&api_key=…&y=2"],
      ["registry.example:5000/ns/img:1@sha256:0011", "registry.example:5000/ns/img:1@sha256:0011"],
      ["quay.io/team/server:1.0", "quay.io/team/server:1.0"],
    ] as const
  ) strictEqual(quoted(word), `"${shown}"`);
  const long = `https://user:${"x".repeat(5_000)}@registry.example`;
  strictEqual(shortWord(long), "https://user:…@… (5030 characters)");
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
