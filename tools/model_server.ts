/** A server that speaks the OpenAI protocol, answers from the request alone and remembers what it was asked. */
export interface ModelServer {
  /** With the base path, as a provider's `base_url` wants it. */
  readonly baseUrl: string;
  readonly port: number;
  /** In order of arrival. */
  readonly requests: readonly RecordedRequest[];
  stop(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly authorization: string | undefined;
  /** The header that carried a key, in the order in which they are looked at. */
  readonly keyHeader: KeyHeader | undefined;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON, else the text; undefined when there is none. */
  readonly body: unknown;
}

export interface ModelServerOptions {
  readonly basePath?: string;
  readonly models?: readonly string[];
  /** Every other key is answered with 401. */
  readonly requireKey?: string;
  /** PEM texts; without them it speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export const startModelServer = ({
  basePath = "/v1",
  models = ["test-model", "test-embedding"],
  requireKey,
  tls,
}: ModelServerOptions = {}): ModelServer => {
  const requests: RecordedRequest[] = [];
  const answer = async (request: Request): Promise<Response> => {
    const asked = await recorded(request);
    requests.push(asked);
    // The Ollama client sends a request here once, outside the base path and without a key.
    if (asked.method === "GET" && asked.path === "/api/ps") return Response.json({ models: [] });
    // Clients of these two first check the kind of the server, outside the base path.
    const root = basePath.replace(/\/v1$/, "");
    if (asked.path === `${root}/props`) {
      return Response.json({ default_generation_settings: {}, model_path: models[0] });
    }
    if (asked.path === `${root}/info`) return Response.json({ model_id: models[0], model_type: { embedding: {} } });
    if (requireKey !== undefined && asked.key !== requireKey) return failure(401, "Incorrect API key provided");
    const route = asked.path.startsWith(basePath) ? asked.path.slice(basePath.length) : undefined;
    if (asked.method === "GET" && route === "/models") return Response.json(modelList(models));
    const respond = asked.method === "POST" ? RESPONDERS[route ?? ""] : undefined;
    if (respond === undefined) return failure(404, `No ${asked.method} ${asked.path} here`);
    const body = isObject(asked.body) ? asked.body : {};
    if (!models.includes(String(body.model))) return failure(404, `The model ${String(body.model)} does not exist`);
    return respond(body);
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls }, answer);
  return {
    baseUrl: `${tls === undefined ? "http" : "https"}://127.0.0.1:${server.addr.port}${basePath}`,
    port: server.addr.port,
    requests,
    stop: () => server.shutdown(),
  };
};

/** Default length of an embedding; the smallest of the known models. */
export const EMBEDDING_DIMENSION = 384;

const KEY_HEADERS = ["authorization", "api-key", "x-api-key"] as const;
type KeyHeader = typeof KEY_HEADERS[number];

type Body = Readonly<Record<string, unknown>>;

const recorded = async (request: Request): Promise<RecordedRequest> => {
  const { pathname, search } = new URL(request.url);
  const authorization = request.headers.get("authorization") ?? undefined;
  const keyHeader = KEY_HEADERS.find((name) => request.headers.has(name));
  const carried = keyHeader === undefined ? undefined : request.headers.get(keyHeader) ?? undefined;
  return {
    method: request.method,
    path: pathname,
    search,
    authorization,
    keyHeader,
    key: keyHeader === "authorization" ? carried?.replace(/^Bearer /, "") : carried,
    headers: Object.fromEntries(request.headers),
    body: parsed(await request.text()),
  };
};

const parsed = (text: string): unknown => {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const modelList = (models: readonly string[]) => ({
  object: "list",
  data: models.map((id) => ({ id, object: "model", created: CREATED, owned_by: "test" })),
});

const RESPONDERS: Readonly<Record<string, (body: Body) => Response>> = {
  "/chat/completions": (body) => {
    const reply = `You said: ${lastUserText(body.messages)}`;
    if (body.stream !== true) {
      const message = { role: "assistant", content: reply };
      return Response.json({
        ...envelope(body, "chat.completion"),
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: usage(reply),
      });
    }
    const deltas = [{ role: "assistant", content: "" }, ...words(reply).map((content) => ({ content })), {}];
    return eventStream(
      body,
      deltas.map((delta, index) => ({
        ...envelope(body, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: index === deltas.length - 1 ? "stop" : null }],
      })),
      { ...envelope(body, "chat.completion.chunk"), choices: [], usage: usage(reply) },
    );
  },

  "/completions": (body) => {
    const reply = ` ... and so on after: ${String(body.prompt)}`;
    const choice = (text: string, finish_reason: string | null) => ({ index: 0, text, logprobs: null, finish_reason });
    if (body.stream !== true) {
      return Response.json({
        ...envelope(body, "text_completion"),
        choices: [choice(reply, "stop")],
        usage: usage(reply),
      });
    }
    const parts = [...words(reply), ""];
    return eventStream(
      body,
      parts.map((text, index) => ({
        ...envelope(body, "text_completion"),
        choices: [choice(text, index === parts.length - 1 ? "stop" : null)],
      })),
      { ...envelope(body, "text_completion"), choices: [], usage: usage(reply) },
    );
  },

  "/embeddings": (body) => {
    const inputs = Array.isArray(body.input) && typeof body.input[0] !== "number" ? body.input : [body.input];
    const length = typeof body.dimensions === "number" ? body.dimensions : EMBEDDING_DIMENSION;
    return Response.json({
      object: "list",
      model: body.model,
      data: inputs.map((input, index) => {
        const vector = embedding(JSON.stringify(input), length);
        return {
          object: "embedding",
          index,
          embedding: body.encoding_format === "base64" ? base64(vector) : [...vector],
        };
      }),
      usage: { prompt_tokens: inputs.length, total_tokens: inputs.length },
    });
  },
};

/** A fixed time, in seconds: the same question has the same answer. */
const CREATED = 1_700_000_000;

const envelope = (body: Body, object: string) => ({ id: "test-1", object, created: CREATED, model: body.model });

const usage = (reply: string) => {
  const count = words(reply).length;
  return { prompt_tokens: 1, completion_tokens: count, total_tokens: count + 1 };
};

const words = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

const lastUserText = (messages: unknown): string => {
  const said = Array.isArray(messages)
    ? messages.filter((message) => isObject(message) && message.role === "user")
    : [];
  const content = said.at(-1)?.content;
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part) => isObject(part) ? String(part.text ?? "") : "").join("");
};

const eventStream = (body: Body, chunks: readonly unknown[], withUsage: unknown): Response => {
  const asked = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const events = [...chunks, ...(asked ? [withUsage] : [])].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return new Response(events.join("") + "data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });
};

/** Equal texts have equal vectors of length 1; texts that share words are closer than others. */
const embedding = (text: string, length: number): Float32Array<ArrayBuffer> => {
  const vector = new Float32Array(length);
  for (const word of text.toLowerCase().match(/\w+/g) ?? [text]) {
    let hash = 0;
    for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 2_147_483_647;
    const place = hash % length;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const size = Math.hypot(...vector);
  return vector.map((value) => value / size);
};

const base64 = (vector: Float32Array<ArrayBuffer>): string => new Uint8Array(vector.buffer).toBase64();

const failure = (status: number, message: string): Response =>
  Response.json({ error: { message, type: "invalid_request_error", param: null, code: null } }, { status });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
