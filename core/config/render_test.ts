import { ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { generated } from "../../tests/given.ts";
import { CONFIG_BYTES_MAX } from "../data/limits.ts";
import { render } from "./render.ts";

Deno.test("render() orders keys for the reader and by name, and keeps the order of lists", () => {
  const { yaml } = Result.getOrThrow(
    render({ z: 1, a: [2, 1], providers: {}, version: 2, config: { provider_type: "t", a: 1, provider_id: "i" } }),
  );
  strictEqual(
    yaml,
    "version: 2\nproviders: {}\na:\n  - 2\n  - 1\nconfig:\n  provider_id: i\n  provider_type: t\n  a: 1\nz: 1\n",
  );
});

Deno.test("render() rejects a config that is too large for a ConfigMap", () => {
  const failure = Result.match(render({ x: "ä".repeat(CONFIG_BYTES_MAX / 2) }), {
    onFailure: ({ message }) => message,
    onSuccess: () => "",
  });
  ok(failure.includes(`at most ${CONFIG_BYTES_MAX}`), failure);
});

Deno.test("generated names of A, B and A again are A, B and A", () => {
  const name = (max_tokens: number) =>
    generated({ providers: { inference: [{ provider: "vllm", endpoint: "http://x/v1", settings: { max_tokens } }] } })
      .config.digest;
  strictEqual(name(1), name(1));
  ok(name(1) !== name(2));
});

Deno.test("render() writes no half of a surrogate pair, which no UTF-8 has", () => {
  const { yaml } = Result.getOrThrow(render({ "a\ud83d": "\ude00" }));
  strictEqual(yaml, "a\ufffd: \ufffd\n");
});
