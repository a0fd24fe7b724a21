import { deepStrictEqual, rejects } from "node:assert/strict";
import { join } from "node:path";
import { makeWheel } from "../../tests/provider_wheel.ts";
import { readWheelParts } from "./wheel_file.ts";

Deno.test("readWheelParts() lists the files of a wheel and reads its metadata", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = await makeWheel(folder, {
      name: "own-package",
      files: { "own/provider.py": "x = 1\n".repeat(1000) },
      metadata: ["Requires-Dist: helping"],
    });
    deepStrictEqual(await readWheelParts(join(folder, file)), {
      file: "own_package-1.0-py3-none-any.whl",
      files: ["own/provider.py", ...["METADATA", "WHEEL", "RECORD"].map((name) => `own_package-1.0.dist-info/${name}`)],
      metadata: new Map([[
        "own_package-1.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\nRequires-Dist: helping\n",
      ]]),
    });
    const bytes = await Deno.readFile(join(folder, file));
    for (
      const [name, content, why] of [
        ["empty", new Uint8Array(), /not a zip archive/],
        ["text", new TextEncoder().encode("not a zip archive at all, but long enough"), /not a zip archive/],
        ["cut", bytes.slice(200), /not a zip archive|damaged|too early/],
      ] as const
    ) {
      const path = join(folder, `${name}.whl`);
      await Deno.writeFile(path, content);
      await rejects(readWheelParts(path), why, name);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
