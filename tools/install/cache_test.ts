import { rejects } from "node:assert/strict";
import { join } from "node:path";
import { inFolder } from "../../tests/folder.ts";
import { once } from "./cache.ts";

Deno.test("once() names the variable where the cache folder cannot be written", () =>
  inFolder(async (folder) => {
    const file = join(folder, "file");
    await Deno.writeTextFile(file, "");
    await rejects(once(join(file, "a", "b"), "b", () => Promise.resolve()), /Set LLAMA_STACK_OPERATOR_CACHE/);
  }));
