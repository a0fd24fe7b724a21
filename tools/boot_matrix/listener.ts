/**
 * An endpoint that accepts a chat under any path and records it: where a type's own path begins is not checked here.
 */
export interface Listener {
  readonly url: string;
  readonly requests: ReadonlyArray<{ readonly path: string; readonly headers: string }>;
  stop(): Promise<void>;
}

export const startListener = (): Listener => {
  const requests: Array<{ path: string; headers: string }> = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    requests.push({ path: pathname, headers: JSON.stringify([...request.headers]) });
    await request.text().catch(() => "");
    // Text Generation Inference is asked for this before anything else.
    if (pathname.endsWith("/info")) return Response.json({ model_id: MODEL.id, max_total_tokens: 4096 });
    // By this a server knows llama.cpp, and by the next what Databricks serves.
    if (pathname.endsWith("/props")) return Response.json({ default_generation_settings: {}, total_slots: 1 });
    if (pathname.endsWith("/serving-endpoints")) return Response.json({ endpoints: [{ name: MODEL.id }] });
    if (pathname.endsWith("/chat/completions")) return Response.json(REPLY);
    return Response.json({ object: "list", data: [MODEL], models: [MODEL], resources: [] });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, requests, stop: () => server.shutdown() };
};

const MODEL = { id: "test-model", object: "model", created: 1, owned_by: "test", name: "test-model" };
const REPLY = {
  id: "test-1",
  object: "chat.completion",
  created: 1,
  model: "test-model",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
