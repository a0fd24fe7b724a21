import { match, strictEqual } from "node:assert/strict";

const ROOT = new URL("../", import.meta.url);

const refused: ReadonlyArray<readonly [args: ReadonlyArray<string>, said: RegExp]> = [
  [["tools/test.ts", "ok", "core/plan"], /Unexpected argument 'core\/plan'[\s\S]*deno test -A FILE/],
  [["tools/test.ts", "test", "--filter=a"], /Unknown option '--filter'/],
  [["tools/test_all.ts", "--only", "no such part"], /--only no such part: no part has this in its name/],
  [["tools/gen.ts", "--chek"], /Unknown option '--chek'/],
];

for (const [args, said] of refused) {
  Deno.test(`${args.join(" ")} does nothing and says why`, async () => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "--allow-all", ...args],
      cwd: ROOT,
    }).output();
    strictEqual(code, 2);
    match(new TextDecoder().decode(stderr), said);
  });
}
