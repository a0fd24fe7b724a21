import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { agreed } from "./agreement.ts";

const config = { file: "config.yaml", text: "version: 2", serverVersion: "1.5.0" };
const platform = (architecture: string, change: Partial<typeof config> | undefined = {}) => ({
  architecture,
  config: change === undefined ? undefined : { ...config, ...change },
});

Deno.test("agreed() is the config that all architectures have", () => {
  deepStrictEqual(agreed([platform("amd64"), platform("arm64")]), Result.succeed(config));
  deepStrictEqual(agreed([{ architecture: "amd64", config: undefined }]), Result.succeed(undefined));
});

Deno.test("agreed() names the architectures that differ in text, file, version or having labels", () => {
  const others = [{ text: "version: 3" }, { file: "other.yaml" }, { serverVersion: "1.4.0" }];
  for (
    const other of [...others.map((change) => platform("arm64", change)), { architecture: "arm64", config: undefined }]
  ) {
    const found = agreed([platform("amd64"), other]);
    strictEqual(
      Result.isFailure(found) ? found.failure.message : "",
      "the configs of the architectures amd64 and arm64 of the image differ",
    );
  }
});
