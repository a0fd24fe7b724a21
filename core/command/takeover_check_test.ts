import { deepStrictEqual, match } from "node:assert/strict";
import * as Result from "effect/Result";
import { planned, snapshot } from "../../tests/snapshots.ts";
import { PLAIN } from "./outcome.ts";
import { takeOverCheckCommand } from "./takeover_check.ts";

Deno.test("takeOverCheckCommand() reports a resource that cannot be read, shows the others, and exits with 1", () => {
  const subjects = [
    { label: "a/forbidden", planned: Result.fail(["secrets is forbidden"]) },
    { label: "a/fine", planned: Result.succeed(planned(snapshot({}))) },
  ];
  const { stdout, code } = takeOverCheckCommand(subjects, { format: "text", style: PLAIN });
  match(stdout, /a\/forbidden: not readable[^]*error: secrets is forbidden[^]*a\/fine: without a Deployment/);
  match(stdout, /2 resources: .* 0 not adopted, 1 not readable\n$/);
  deepStrictEqual(code, 1);
  deepStrictEqual(takeOverCheckCommand(subjects.slice(1), { format: "text", style: PLAIN }).code, 0);
});
