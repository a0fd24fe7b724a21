import type { Booted } from "../../tools/server/boot.ts";
import type { Answer } from "../../tools/server/llama_stack.ts";

/**
 * Asks again where Llama Stack 0.7 with Redis stumbled.
 *
 * That server opens its Redis connections in an event loop that is gone when the first request comes: the first use of
 * each one fails with `Event loop is closed`, and the next one opens a new connection. The answer is then a 500, or an
 * empty page of search results. No config changes that; OGX is cured.
 */
export const pastStaleConnections = <Stack extends Pick<Booted, "server" | "get" | "post">>(stack: Stack): Stack => {
  if (stack.server !== "llama-stack 0.7.3") return stack;
  return {
    ...stack,
    get: (path, headers) => askAgain(() => stack.get(path, headers)),
    post: (path, body, headers) => askAgain(() => stack.post(path, body, headers)),
  };
};

/** A request meets the connections of the registry and of one provider. */
const TRIES = 3;

const askAgain = async (ask: () => Promise<Answer>): Promise<Answer> => {
  for (let tried = 1; tried < TRIES; tried++) {
    const answer = await ask();
    const stumbled = answer.status === 500 ||
      answer.body?.object === "vector_store.search_results.page" && answer.body.data.length === 0;
    if (!stumbled) return answer;
  }
  return await ask();
};
