import { strictEqual } from "node:assert/strict";
import { unreached, withCauses } from "./cluster_error.ts";

Deno.test("unreached() reports why a call failed, down to the first cause, without repetition", () => {
  const tls = new Error("invalid peer certificate: UnknownIssuer");
  const send = new Error("error sending request", { cause: new Error("client error (Connect)", { cause: tls }) });
  strictEqual(
    unreached("get", "/a?b=c", new TypeError("fetch failed", { cause: send })).message,
    "Cannot get /a: the API server did not answer: fetch failed: error sending request: client error (Connect): " +
      "invalid peer certificate: UnknownIssuer",
  );
  strictEqual(withCauses(new Error("a: b", { cause: new Error("b") })), "a: b");
  strictEqual(withCauses("text"), "text");
  const endless = new Error("again");
  endless.cause = endless;
  strictEqual(withCauses(endless), "again");
});
