import { ok } from "node:assert/strict";
import { decoded } from "../../tests/given.ts";
import { foldersOf } from "./data_folders.ts";
import { isInVolume } from "./mounted_files.ts";

Deno.test("isInVolume() tells by the folder that a path leads to, however it is written", () => {
  const isIn = (path: string, mountPath: string): boolean => {
    const { spec } = decoded({
      distribution: { name: "starter" },
      workload: { overrides: { volumes: [{ name: "v", emptyDir: {} }], volumeMounts: [{ name: "v", mountPath }] } },
    });
    return isInVolume(path, { spec, folders: foldersOf(spec) });
  };
  ok(isIn("/data//certs/./ca.pem", "/data/") && isIn("/data/a", "/data/./") && isIn("/a", "/"));
  ok(!isIn("/data/../etc/ca.pem", "/data") && !isIn("/database/a", "/data") && !isIn("data/a", "/data"));
});
