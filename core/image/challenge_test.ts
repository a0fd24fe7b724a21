import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { challengeIn, tokenUrl } from "./challenge.ts";

const bearer = (header: string) => {
  const found = challengeIn(header);
  return found?.scheme === "bearer" ? tokenUrl(found, "a/b").href : found;
};

Deno.test("challengeIn() reads what registries send", () => {
  strictEqual(
    bearer('Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"'),
    "https://auth.docker.io/token?service=registry.docker.io&scope=repository%3Aa%2Fb%3Apull",
  );
  strictEqual(
    bearer('bearer realm="https://r.example/t?x=1"'),
    "https://r.example/t?x=1&scope=repository%3Aa%2Fb%3Apull",
  );
  deepStrictEqual(challengeIn('Basic realm="Registry Realm"'), { scheme: "basic" });
});

Deno.test("challengeIn() takes the first of several challenges that can be answered", () => {
  deepStrictEqual(challengeIn('Negotiate, Digest realm="x", nonce="y", Basic realm="z"'), { scheme: "basic" });
  strictEqual(
    bearer('Bearer realm="no url", Bearer realm="https://r.example/t"'),
    "https://r.example/t?scope=repository%3Aa%2Fb%3Apull",
  );
});

Deno.test("challengeIn() finds nothing in other headers", () => {
  for (const header of ["", "Negotiate", 'Bearer service="x"', `Basic realm="${"x".repeat(5000)}"`]) {
    strictEqual(challengeIn(header), undefined);
  }
});
