import { deepStrictEqual } from "node:assert/strict";
import { formatPath } from "../../data/field_path.ts";
import type { Json, JsonObject } from "../../data/json.ts";
import { serverOf } from "../servers/families/families.ts";
import { policyFindings } from "./own_policies.ts";

const found = (auth: JsonObject, version = "1.5.0"): ReadonlyArray<string> =>
  policyFindings({ server: { auth } }, serverOf(version)!)
    .map(({ path, isFatal }) => `${formatPath(path)}${isFatal ? "" : " (warning)"}`);
const access = (...rules: ReadonlyArray<Json>) => ({ access_policy: rules });

Deno.test("policyFindings() judges conditions at the places of the config", () => {
  const permit = { actions: ["read"] };
  deepStrictEqual(
    found(access({ permit, when: "user is admin" }, { permit, unless: ["user is owner", "nobody", 5] }, "text")),
    ["server.auth.access_policy[0].when", "server.auth.access_policy[1].unless[1]"],
  );
  deepStrictEqual(found({ route_policy: [{ permit: { paths: "*" }, when: "owner" }] }), [
    "server.auth.route_policy[0].when",
  ]);
  deepStrictEqual(found(access({ permit, when: "resource is unowned" })), []);
  deepStrictEqual(found(access({ permit, when: "resource is unowned" }), "0.3.5"), [
    "server.auth.access_policy[0].when",
  ]);
  deepStrictEqual(found(access({ permit, when: "${env.CONDITION}" })), []);
});

Deno.test("policyFindings() warns of rules under which nothing falls", () => {
  deepStrictEqual(
    found(access({ forbid: { actions: "read", resource: "modell::a" } }, { permit: { resource: "regex:(" } })),
    [
      "server.auth.access_policy[1].permit.resource (warning)",
      "server.auth.access_policy[0].forbid.resource (warning)",
    ],
  );
  deepStrictEqual(found({ route_policy: [{ forbid: { paths: "/v1/*/x" } }, { permit: { paths: ["/a", "/*/b"] } }] }), [
    "server.auth.route_policy[0].forbid.paths (warning)",
    "server.auth.route_policy[1].permit.paths[1] (warning)",
  ]);
});

Deno.test("policyFindings() judges the networks of a gateway", () => {
  const provider_config = { type: "upstream_header", trusted_proxy_cidrs: ["10.0.0.0/8", "nonsense", "${env.NET}"] };
  deepStrictEqual(found({ provider_config }), ["server.auth.provider_config.trusted_proxy_cidrs[1]"]);
  // It does not read the field.
  deepStrictEqual(found({ provider_config }, "1.0.4"), []);
});
