import { deepStrictEqual, ok } from "node:assert/strict";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import { ALLOCATOR_IN_IMAGE, allocatorEnv, RUNTIME_ENV } from "../../tools/program_flags.ts";

const DOCKERFILE = await Deno.readTextFile(new URL("../../Dockerfile", import.meta.url));

Deno.test("the Dockerfile sets what the tests start the program with", () => {
  for (const [name, value] of Object.entries({ ...allocatorEnv(ALLOCATOR_IN_IMAGE), ...RUNTIME_ENV })) {
    ok(new RegExp(`\\s${name}=${RegExp.escape(value)}\\s`).test(DOCKERFILE), name);
  }
});

Deno.test("the image is labelled with the version of the operator", () => {
  deepStrictEqual(valuesOf(/opencontainers\.image\.version="(.*?)"/g), [OPERATOR_VERSION]);
});

Deno.test("the Dockerfile builds with the version of Deno that the tests use", () => {
  deepStrictEqual(valuesOf(/^ARG DENO=.*?(\d+\.\d+\.\d+)$/gm), [Deno.version.deno]);
});

const valuesOf = (pattern: RegExp): ReadonlyArray<string | undefined> =>
  [...DOCKERFILE.matchAll(pattern)].map(([, value]) => value);
