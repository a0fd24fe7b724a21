/**
 * Data lost by a change between server families before 1.0, on the files of real servers; tests/node checks the change
 * from 0.7 to OGX.
 */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { API_VERSION, KIND } from "../../core/api/v1alpha2.ts";
import { type JsonObject, listAt, put, stringAt } from "../../core/data/json.ts";
import { startModelServer } from "../../tools/model_server.ts";
import { boot, type Booted } from "../../tools/server/boot.ts";
import { ServerDidNotStart } from "../../tools/server/llama_stack.ts";
import { converged, edited, snapshot } from "../snapshots.ts";
import { KIND_NAMES, type KindName, kindsThere, LOST_AS, type StoredKinds, storeKinds } from "./stored_kinds.ts";
import { type Stateful, withModels } from "./stored_state.ts";

Deno.test("Llama Stack 0.3 finds nothing of what 0.2 stored in sqlite, as the operator reports", () =>
  onOneFolder(async (start) => {
    const kinds = KIND_NAMES.filter((kind) => kind !== "conversation");
    const stored = await storedBy(await start("0.2.24"), kinds, behindPrefix);
    await using after = await start("0.3.5");
    const kept = await kindsThere(after, stored);
    deepStrictEqual(kept, []);
    for (const kind of kinds) ok(saidOfMove("0.2.24", "0.3.5").includes(LOST_AS[kind]), kind);
  }));

Deno.test("Llama Stack 0.6 finds no response of 0.3 and exits because of its vector stores, as the operator reports", () =>
  onOneFolder(async (start) => {
    // A shield that only the API knows ends the next start of any of these servers, of its own version as well.
    const kinds = KIND_NAMES.filter((kind) => kind !== "shield" && kind !== "vector store");
    const stored = await storedBy(await start("0.3.5"), kinds);
    const kept = await withServer(await start("0.6.1"), (stack) => kindsThere(stack, stored));
    deepStrictEqual([...kept], kinds.filter((kind) => kind !== "response"));
    const said = saidOfMove("0.3.5", "0.6.1");
    for (const kind of kinds) strictEqual(said.includes(LOST_AS[kind]), !kept.includes(kind), kind);
    await storedBy(await start("0.3.5"), ["vector store"]);
    await rejects(
      () => start("0.6.1"),
      (cause) => cause instanceof ServerDidNotStart && /EmbeddedChunk/.test(cause.log),
    );
    ok(said.includes(`${LOST_AS["vector store"]} that are not empty: the new server fails to start`), said);
  }));

type Start = (serverVersion: string) => Promise<Booted>;

/** Servers of several versions, one after the other, on the same data and the same models. */
const onOneFolder = async (test: (start: Start) => Promise<void>): Promise<void> => {
  const models = startModelServer();
  const folder = await Deno.makeTempDir();
  const spec = withModels({ distribution: { name: "starter" }, ...SQLITE }, `http://127.0.0.1:${models.port}`);
  const resource = { apiVersion: API_VERSION, kind: KIND, metadata: { name: "my", namespace: "default" }, spec };
  try {
    await test((serverVersion) => boot(resource, { folder, surroundings: { serverVersion } }));
  } finally {
    await models.stop();
    await Deno.remove(folder, { recursive: true });
  }
};

const SQLITE = { storage: { kv: { type: "sqlite" }, sql: { type: "sqlite" } } };

const withServer = async <T>(stack: Booted, use: (stack: Booted) => Promise<T>): Promise<T> => {
  try {
    return await use(stack);
  } finally {
    await stack.stop();
  }
};

const storedBy = (
  stack: Booted,
  kinds: readonly KindName[],
  asked = (stateful: Stateful): Stateful => stateful,
): Promise<StoredKinds> => withServer(stack, () => storeKinds(asked(stack), kinds));

/** The OpenAI-compatible paths have a prefix up to 0.2; prompts and shields never had one. */
const behindPrefix = ({ url, get, post }: Stateful): Stateful => {
  const at = (path: string) => /^\/v1\/(prompts|shields)/.test(path) ? path : `/v1/openai${path}`;
  return { url: `${url}/v1/openai`, get: (path) => get(at(path)), post: (path, body) => post(at(path), body) };
};

/** The sentence on a resource with a claim. */
const saidOfMove = (from: string, to: string): string => {
  const spec = withModels({ ...SQLITE, workload: { storage: { size: "1Gi" } } }, "http://vllm:8000");
  const on = (serverVersion: string): JsonObject => put(spec, ["distribution"], { name: "starter", serverVersion });
  const moved = converged(edited(converged(snapshot(on(from))).snapshot, on(to))).snapshot;
  const told = listAt(moved.resource.status, "conditions").find((condition) =>
    stringAt(condition, "type") === "ConfigGenerated"
  );
  return stringAt(told, "message") ?? "";
};
