import { throws } from "node:assert/strict";
import { none } from "./none.ts";

Deno.test("none() names what was found, and what to do about it", () => {
  none([], "Add a row");
  throws(() => none(["a", "b"], "Add a row"), { message: "Add a row:\n  a\n  b" });
});
