import { deepStrictEqual, ok, throws } from "node:assert/strict";
import { allNodeFiles, nodeFilesOf } from "./node_files.ts";

const ALL = ["up_test.ts", "rollout_test.ts", "claims_test.ts", "operator_life_test.ts"];

Deno.test("deno task node without arguments runs every test file", () => {
  deepStrictEqual(nodeFilesOf([], ALL), {
    servers: ["claims_test.ts", "rollout_test.ts"],
    life: ["operator_life_test.ts"],
    up: ["up_test.ts"],
    flags: [],
  });
});

Deno.test("deno task node runs the named files alone, and passes flags on", () => {
  const { servers, life, up, flags } = nodeFilesOf(["tests/node/rollout_test.ts", "--filter=good"], ALL);
  deepStrictEqual([servers, life, up, flags], [["rollout_test.ts"], [], [], ["--filter=good"]]);
  deepStrictEqual(nodeFilesOf(["./up_test.ts"], ALL).servers, []);
});

Deno.test("deno task node rejects a file that it does not have", () => {
  throws(() => nodeFilesOf(["tests/node/rolout_test.ts"], ALL), /^Error: rolout_test\.ts: not among claims_test\.ts, /);
});

Deno.test("the files with a turn of their own exist", () => {
  const { life, up } = nodeFilesOf([], allNodeFiles());
  ok(life.length === 1 && up.length === 1);
});
