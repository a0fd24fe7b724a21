import { deepStrictEqual } from "node:assert/strict";
import { PUBLISHER, type Publisher, publisherProblems } from "./publisher.ts";

const REAL: Publisher = {
  displayName: "Llama Stack Operator",
  provider: "Some people",
  maintainer: { name: "Some people", email: "people@project.dev" },
  homepage: "https://project.dev",
  repository: "https://git.project.dev/people/operator",
  images: "registry.project.dev:5000/people",
  createdAt: "2026-11-21T00:00:00Z",
};

const fieldsOf = (publisher: Publisher) => publisherProblems(publisher).map((text) => text.split(":")[0]);

Deno.test("a publisher whose addresses exist may publish", () => deepStrictEqual(publisherProblems(REAL), []));

Deno.test("the addresses of this tree are refused, since nothing is published from it", () => {
  deepStrictEqual(fieldsOf(PUBLISHER), ["maintainer.email", "homepage", "repository"]);
});

Deno.test("every field is checked", () => {
  const wrong: ReadonlyArray<readonly [Partial<Publisher>, string]> = [
    [{ displayName: "" }, "displayName"],
    [{ provider: " " }, "provider"],
    [{ maintainer: { ...REAL.maintainer, name: "" } }, "maintainer.name"],
    [{ maintainer: { ...REAL.maintainer, email: "people@host.example" } }, "maintainer.email"],
    [{ maintainer: { ...REAL.maintainer, email: "people" } }, "maintainer.email"],
    [{ homepage: "http://project.dev" }, "homepage"],
    [{ homepage: "https://www.example.com/page" }, "homepage"],
    [{ homepage: "https://project.example:8443/page" }, "homepage"],
    [{ repository: "https://project.dev" }, "repository"],
    [{ images: "people" }, "images"],
    [{ images: "registry.example/people" }, "images"],
    [{ createdAt: "yesterday" }, "createdAt"],
  ];
  for (const [change, field] of wrong) deepStrictEqual(fieldsOf({ ...REAL, ...change }), [field]);
  deepStrictEqual(publisherProblems({ ...REAL, homepage: "https://counter-example.dev" }), []);
});
