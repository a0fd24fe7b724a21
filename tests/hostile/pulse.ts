/**
 * A worker that asks the operator's `/livez` again and again, and says on request what the longest answer took since the last
 * request: in milliseconds of processor time of the operator's main thread, so that other programs on the machine do not count.
 */
import { aMoment } from "../waiting.ts";

export interface Asked {
  readonly url: string;
  readonly pid: number;
}

/** An answer that never comes, whatever it waits for. */
const NO_ANSWER_MS = 60_000;

export interface Longest {
  /** Milliseconds of the main thread. */
  readonly ms: number;
  /** What came in place of an answer. */
  readonly instead?: string;
}

let longest: Longest = { ms: 0 };

/** Milliseconds that the main thread has run; the kernel counts nanoseconds. 0 where the process has ended. */
const ranMs = async (pid: number): Promise<number> => {
  const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/schedstat`).catch(() => "0");
  return Number(text.split(" ")[0]) / 1e6;
};

const beat = async ({ url, pid }: Asked): Promise<never> => {
  for (;;) {
    const before = await ranMs(pid);
    const said = await fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(NO_ANSWER_MS) })
      .then((answer) => answer.text(), String);
    const ms = await ranMs(pid) - before;
    if (!said.startsWith("ok")) longest = { ms, instead: said };
    else if (longest.instead === undefined && ms > longest.ms) longest = { ms };
    await aMoment();
  }
};

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Asked | "longest">) => void;
  postMessage: (longest: Longest) => void;
};
scope.onmessage = ({ data }) => {
  if (data !== "longest") return void beat(data);
  scope.postMessage(longest);
  longest = { ms: 0 };
};
