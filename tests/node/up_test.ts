/** `deno task up --real-node` as a process. It makes a node of its own, so it runs outside of the one of the other tests. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { nothingIsLeft, up } from "../cluster/up_run.ts";
import { inFolder } from "../folder.ts";

Deno.test("up --real-node --once ends with what the real server answers, and leaves nothing behind", () =>
  inFolder(async (tmp) => {
    const { code, text } = await up(tmp, ["--real-node", "--once", "--timeout", "8m"]);
    strictEqual(code, 0, text);
    match(text, /with one real node/);
    match(text, /Service vllm created for this run, with a stand-in for a model server/);
    match(text, /pod vllm-\S+: Running, ready/);
    match(text, /Ready +True +Ready: The server is ready/);
    match(text, /Service: http:\/\/vllm-service\.default\.svc\.cluster\.local:8321/);
    match(text, /\/v1\/models: .*vllm\/meta-llama\/Llama-3\.2-3B-Instruct/);
    deepStrictEqual(text.match(/simulated/), null);
    await nothingIsLeft(tmp);
  }));
