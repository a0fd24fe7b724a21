/** A worker that asks a URL again and again, and says on request how long the longest answer took since the last request. */

const PAUSE_MS = 50;
const NO_ANSWER_MS = 20_000;

let longest = 0;

const beat = async (url: string): Promise<never> => {
  for (;;) {
    const started = performance.now();
    const isOk = await fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(NO_ANSWER_MS) })
      .then(async (answer) => (await answer.text()).startsWith("ok"), () => false);
    longest = Math.max(longest, isOk ? performance.now() - started : NO_ANSWER_MS);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};

const scope = self as unknown as {
  onmessage: (event: MessageEvent<string>) => void;
  postMessage: (longestMs: number) => void;
};
scope.onmessage = ({ data }) => {
  if (data !== "longest") return void beat(data);
  scope.postMessage(longest);
  longest = 0;
};
