import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import { stringAt } from "../../core/data/json.ts";
import { secret } from "../given.ts";
import { startPostgresAccount } from "../server/storage_services.ts";
import { withModels } from "../server/stored_state.ts";
import { CHAT, MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import {
  condition,
  podName,
  podsOf,
  resourceWhen,
  served,
  UNSTARTABLE,
  whenReady,
  whenReplaced,
  withEnv,
  word,
} from "./served.ts";
import { aMoment } from "../waiting.ts";

const SPEC = withModels({ distribution: { name: "starter" } }, MODELS_ENDPOINT);

Deno.test("a good edit rolls the pod while every request of a client is answered", () =>
  inPlace("rolling", async (place) => {
    await using _vllm = await startModelService(place);
    await place.resource("busy", SPEC);
    await whenReady(place, "busy");
    const before = (await podsOf(place, "busy")).map(podName);
    await using client = keepAsking(place, "busy");
    await place.resource("busy", withEnv(SPEC, "EDITED", "yes"));
    const after = await whenReplaced(place, "busy", before);
    const answers = await client.end();
    await whenReady(place, "busy");
    deepStrictEqual([before.length, after.length], [1, 1]);
    deepStrictEqual(answers.filter((answer) => answer !== "200"), []);
    ok(answers.length > 20, `only ${answers.length} requests were made`);
  }));

Deno.test("the old pod keeps answering while the pods of an edit cannot start, and the status reports why", () =>
  inPlace("failing", async (place) => {
    await using _vllm = await startModelService(place);
    await place.resource("stays", SPEC);
    await whenReady(place, "stays");
    const [old = ""] = (await podsOf(place, "stays")).map(podName);
    await using client = keepAsking(place, "stays");
    await place.resource("stays", withEnv(SPEC, ...UNSTARTABLE));
    const failed = await resourceWhen(
      place,
      "stays",
      "failed",
      (object) => stringAt(condition(object, "Available"), "reason") === "CrashLoop",
    );
    strictEqual(word(failed, "Ready"), "False");
    const message = stringAt(condition(failed, "Ready"), "message") ?? "";
    match(
      message,
      /^Pod stays-\S+, container llama-stack ended with exit code [1-9]\d* after \d+ restarts?: it may not write/,
    );
    doesNotMatch(message, new RegExp(`^Pod ${old},`));
    deepStrictEqual((await client.end()).filter((answer) => answer !== "200"), []);
    ok((await podsOf(place, "stays")).map(podName).includes(old));
    await place.resource("stays", SPEC);
    await whenReady(place, "stays");
  }));

Deno.test("a failed start of OGX is detected, and its secret is not shown", () =>
  inPlace("ogx-failing", async (place) => {
    await using postgres = await startPostgresAccount("right");
    const url = postgres.url("canary-4711");
    const port = Number(/:(\d+)\//.exec(url)?.[1]);
    await place.expose("postgres", port, port);
    await place.secret("database", { url: url.replace("@127.0.0.1:", "@postgres:") });
    await place.resource("wrong", {
      distribution: { name: "ogx-starter" },
      storage: { sql: { type: "postgres", connectionString: secret("database", "url") } },
    });
    const failed = await resourceWhen(
      place,
      "wrong",
      "failed",
      (object) => stringAt(condition(object, "Available"), "reason") === "CrashLoop",
    );
    strictEqual(word(failed, "Ready"), "False");
    match(stringAt(condition(failed, "Ready"), "message") ?? "", /ended with exit code \d+/);
    doesNotMatch(JSON.stringify(failed.status), /canary/);
    await postgres.setPassword("canary-4711");
    await whenReady(place, "wrong");
  }));

/** Clients that ask all the time, each on connections of its own. */
const keepAsking = (place: Place, name: string) => {
  const stack = served(place, name);
  const answers: string[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      answers.push(await stack.post("/v1/chat/completions", CHAT).then(({ status }) => `${status}`, String));
      await aMoment();
    }
  };
  const clients = Promise.all([client(), client()]);
  const end = async (): Promise<readonly string[]> => {
    isOver = true;
    await clients;
    return answers;
  };
  return {
    end,
    [Symbol.asyncDispose]: async () => void await end(),
  };
};
