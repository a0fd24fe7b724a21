import { deepStrictEqual } from "node:assert/strict";
import { placesOf, REGISTRIES_DEFAULT } from "./registries.ts";

Deno.test("placesOf() tries the mirrors of the longest prefix in turn, and the registry itself last", () => {
  const registries = {
    ...REGISTRIES_DEFAULT,
    mirrors: new Map([["quay.io", ["general.example"]], ["quay.io/team", ["one.example/t", "two.example:5000"]]]),
  };
  deepStrictEqual(placesOf("quay.io/team/a", registries), ["one.example/t/a", "two.example:5000/a", "quay.io/team/a"]);
  deepStrictEqual(placesOf("quay.io/teams/a", registries), ["general.example/teams/a", "quay.io/teams/a"]);
  deepStrictEqual(placesOf("ghcr.io/a", registries), ["ghcr.io/a"]);
});
