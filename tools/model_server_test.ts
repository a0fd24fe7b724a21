import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { startModelServer } from "./model_server.ts";

const chat = { model: "test-model", messages: [{ role: "user", content: "hello there" }] };

const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
};

Deno.test("startModelServer() answers below its base path only, and remembers every request", async () => {
  const server = startModelServer({ basePath: "/inference/v1", models: ["test-model"] });
  try {
    const models = await (await fetch(`${server.baseUrl}/models`)).json();
    deepStrictEqual(models.data.map(({ id }: { id: string }) => id), ["test-model"]);
    const answer = JSON.parse((await post(`${server.baseUrl}/chat/completions`, chat)).text);
    strictEqual(answer.choices[0].message.content, "You said: hello there");
    strictEqual((await post(`http://127.0.0.1:${server.port}/v1/chat/completions`, chat)).status, 404);
    strictEqual((await post(`${server.baseUrl}/chat/completions`, { ...chat, model: "other" })).status, 404);
    deepStrictEqual(server.requests.map(({ method, path }) => `${method} ${path}`), [
      "GET /inference/v1/models",
      "POST /inference/v1/chat/completions",
      "POST /v1/chat/completions",
      "POST /inference/v1/chat/completions",
    ]);
    deepStrictEqual(server.requests[1]?.body, chat);
  } finally {
    await server.stop();
  }
});

Deno.test("startModelServer() streams the same words in pieces", async () => {
  const server = startModelServer();
  try {
    const { text } = await post(`${server.baseUrl}/chat/completions`, {
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    const events = text.trim().split("\n\n").map((event) => event.replace(/^data: /, ""));
    strictEqual(events.pop(), "[DONE]");
    const chunks = events.map((event) => JSON.parse(event));
    strictEqual(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), "You said: hello there");
    strictEqual(chunks.at(-1).usage.completion_tokens, 4);
  } finally {
    await server.stop();
  }
});

Deno.test("startModelServer() embeds as floats and as base64, equal texts equally", async () => {
  const server = startModelServer();
  try {
    const asked = { model: "test-embedding", input: ["one red apple", "one red pear"] };
    const plain = JSON.parse((await post(`${server.baseUrl}/embeddings`, asked)).text);
    const packed = JSON.parse(
      (await post(`${server.baseUrl}/embeddings`, { ...asked, encoding_format: "base64" })).text,
    );
    const bytes = Uint8Array.fromBase64(packed.data[0].embedding);
    deepStrictEqual([...new Float32Array(bytes.buffer)], plain.data[0].embedding);
    strictEqual(plain.data[0].embedding.length, 384);
    ok(Math.abs(Math.hypot(...plain.data[1].embedding) - 1) < 1e-6);
  } finally {
    await server.stop();
  }
});

for (
  const [keyHeader, headers] of [
    ["authorization", { authorization: "Bearer secret" }],
    ["api-key", { "api-key": "secret" }],
    ["x-api-key", { "x-api-key": "secret" }],
  ] as const
) {
  Deno.test(`startModelServer() accepts the key in ${keyHeader} and rejects others`, async () => {
    const server = startModelServer({ requireKey: "secret" });
    try {
      strictEqual(
        (await post(`${server.baseUrl}/completions`, { model: "test-model", prompt: "a" }, headers)).status,
        200,
      );
      const wrong = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}x`]));
      const refused = await post(`${server.baseUrl}/chat/completions`, chat, wrong);
      strictEqual(refused.status, 401);
      match(refused.text, /Incorrect API key/);
      deepStrictEqual(server.requests.map((request) => [request.keyHeader, request.key]), [
        [keyHeader, "secret"],
        [keyHeader, "secretx"],
      ]);
    } finally {
      await server.stop();
    }
  });
}
