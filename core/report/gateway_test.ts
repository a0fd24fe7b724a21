import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { makeAuthority, makeLeaf } from "../../shell/webhooks/certificate_maker.ts";
import { after, converged, edited, OPERATOR, planOf, secretsOf, snapshot } from "../../tests/snapshots.ts";
import { type JsonObject, listAt, member, objectAt, put, stringAt } from "../data/json.ts";
import type { OptionalKind } from "../resources/blueprint.ts";
import { failedWrite } from "./failed_write.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

const GATEWAYS = ["HTTPRoute", "BackendTLSPolicy"] as const;
const SPEC = {
  distribution: { name: "starter" },
  networking: {
    expose: { hostname: "h.example.com", gateway: { parentRefs: [{ name: "public", namespace: "infra" }] } },
  },
};
const served = (kinds: ReadonlyArray<OptionalKind>): Pick<ClusterSnapshot, "operator"> => ({
  operator: { ...OPERATOR, platform: { ...OPERATOR.platform, served: kinds } },
});
const found = ({ resource }: ClusterSnapshot, type = "GatewayAccepted"): ReadonlyArray<string | undefined> => {
  const condition = listAt(resource.status, "conditions").find((one) => stringAt(one, "type") === type);
  return ["status", "reason", "message"].map((field) => stringAt(condition, field));
};
const url = ({ resource }: ClusterSnapshot) => stringAt(resource, "status", "routeURL");

const PARENT = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "public", namespace: "infra" };
const condition = (type: string, status: string, more: JsonObject = {}): JsonObject => ({
  type,
  status,
  reason: status === "True" ? type : "NoMatchingListenerHostname",
  message: "as it is",
  ...more,
});
const ACCEPTED = [condition("Accepted", "True"), condition("ResolvedRefs", "True")];

/** With a controller that answers for the route. */
const answered = (before: ClusterSnapshot, conditions: ReadonlyArray<JsonObject>, parentRef: JsonObject = PARENT) => {
  const route = objectAt(Object.fromEntries(before.live), "HTTPRoute/my");
  const status = { parents: [{ parentRef, controllerName: "example.com/c", conditions: [...conditions] }] };
  const live = new Map([...before.live, ["HTTPRoute/my", put(route, ["status"], status) as JsonObject] as const]);
  const seen = { ...before, live };
  return after(seen, planOf(seen));
};

Deno.test("GatewayAccepted repeats what the controller of the Gateway says, and Ready does not depend on it", () => {
  const { snapshot: made } = converged(snapshot(SPEC, served(GATEWAYS)));
  deepStrictEqual(found(made).slice(0, 2), ["Unknown", "Waiting"]);
  ok(found(made)[2]?.includes("Gateway infra/public"));
  strictEqual(url(made), "");
  const accepted = answered(made, ACCEPTED);
  deepStrictEqual(found(accepted).slice(0, 2), ["True", "GatewayAccepted"]);
  strictEqual(url(accepted), "https://h.example.com");
  const refused = answered(made, [condition("Accepted", "False")]);
  deepStrictEqual(found(refused), [
    "False",
    "GatewayRefused",
    "Gateway infra/public: Accepted is False, NoMatchingListenerHostname: as it is",
  ]);
  const unresolved = answered(made, [condition("Accepted", "True"), condition("ResolvedRefs", "False")]);
  deepStrictEqual(found(unresolved).slice(0, 2), ["False", "GatewayRefused"]);
  for (const state of [made, accepted, refused, unresolved]) deepStrictEqual(found(state, "Ready")[0], "True");
});

Deno.test("an answer for another Gateway or for a former generation is none", () => {
  const { snapshot: made } = converged(snapshot(SPEC, served(GATEWAYS)));
  const route = objectAt(Object.fromEntries(made.live), "HTTPRoute/my");
  const generation = 3;
  const third = {
    ...made,
    live: new Map([...made.live, ["HTTPRoute/my", put(route, ["metadata", "generation"], generation) as JsonObject]]),
  };
  const of = (observedGeneration: number) => ACCEPTED.map((one) => ({ ...one, observedGeneration }));
  deepStrictEqual(found(answered(third, of(2))).slice(1), [
    "Waiting",
    "Gateway infra/public: its controller has answered for an earlier version of the HTTPRoute only",
  ]);
  deepStrictEqual(found(answered(third, of(3)))[1], "GatewayAccepted");
  deepStrictEqual(found(answered(third, of(3), { ...PARENT, name: "other" }))[1], "Waiting");
});

Deno.test("a controller that has not decided yet is not said to be missing", () => {
  const { snapshot: made } = converged(snapshot(SPEC, served(GATEWAYS)));
  const told = (...conditions: ReadonlyArray<JsonObject>) => found(answered(made, conditions)).slice(1);
  deepStrictEqual(told(condition("Accepted", "Unknown", { reason: "Pending" })), [
    "Waiting",
    "Gateway infra/public: Accepted is Unknown, Pending: as it is",
  ]);
  deepStrictEqual(told(condition("Accepted", "True")), [
    "Waiting",
    "Gateway infra/public: its controller has not answered ResolvedRefs yet",
  ]);
});

Deno.test("the condition says what is missing, and goes with the gateway", () => {
  const { snapshot: without } = converged(snapshot(SPEC, served([])));
  deepStrictEqual(found(without), [
    "False",
    "GatewayUnavailable",
    "The API server has no kind HTTPRoute (gateway.networking.k8s.io/v1)",
  ]);
  deepStrictEqual(found(without, "Ready")[0], "True");
  const { snapshot: made } = converged({ ...without, ...served(GATEWAYS) });
  ok(made.live.has("HTTPRoute/my"));
  const { snapshot: closed } = converged({
    ...edited(made, { distribution: { name: "starter" } }),
    ...served(GATEWAYS),
  });
  deepStrictEqual([closed.live.has("HTTPRoute/my"), found(closed)[0], url(closed)], [false, undefined, undefined]);
});

Deno.test("a server with TLS whose CA nobody named is not said to be reachable", () => {
  const secrets = snapshot({}).secrets;
  const spec = (gateway: JsonObject) => ({
    ...SPEC,
    networking: {
      tls: { enabled: true, secretName: "tls" },
      expose: { hostname: "h.example.com", gateway: { ...SPEC.networking.expose.gateway, ...gateway } },
    },
  });
  const configMaps = new Map([["default/ca", { data: { "ca.crt": OWN.certificate }, binaryData: {} }]]);
  const withTls = (gateway: JsonObject, kinds: ReadonlyArray<OptionalKind> = GATEWAYS) =>
    converged(snapshot(spec(gateway), { ...served(kinds), configMaps, secrets: new Map([...secrets, ["tls", TLS]]) }))
      .snapshot;
  deepStrictEqual(found(withTls({})).slice(0, 2), ["False", "GatewayUnavailable"]);
  ok(found(withTls({}))[2]?.includes("caConfigMapName"));
  const old = withTls({ caConfigMapName: "ca" }, ["HTTPRoute"]);
  deepStrictEqual(found(old)[2], "The API server has no kind BackendTLSPolicy (gateway.networking.k8s.io/v1)");
  const whole = withTls({ caConfigMapName: "ca" });
  ok(whole.live.has("BackendTLSPolicy/my"));
  const policy = objectAt(Object.fromEntries(whole.live), "BackendTLSPolicy/my");
  const ancestors = [{
    ancestorRef: PARENT,
    conditions: [condition("Accepted", "False", { reason: "NoValidCACertificate" })],
  }];
  const live = new Map([...whole.live, ["BackendTLSPolicy/my", put(policy, ["status"], { ancestors }) as JsonObject]]);
  ok(found(answered({ ...whole, live }, ACCEPTED))[2]?.includes("NoValidCACertificate"));
  // Some controllers never answer for the policy: the route counts, and the condition says so.
  const unanswered = found(answered(whole, ACCEPTED));
  deepStrictEqual(unanswered[0], "True");
  ok(unanswered[2]?.includes("No controller has answered for the BackendTLSPolicy yet"));
  const judged = { ancestors: [{ ancestorRef: PARENT, conditions: [condition("Accepted", "True")] }] };
  const both = new Map([...whole.live, ["BackendTLSPolicy/my", put(policy, ["status"], judged) as JsonObject]]);
  ok(!found(answered({ ...whole, live: both }, ACCEPTED))[2]?.includes("BackendTLSPolicy"));
  strictEqual(member(objectAt(policy, "spec", "validation"), "hostname"), "my-service.default.svc");
});

Deno.test("a write that the API server rejected is said, and not what controllers say of the object before", () => {
  const start = snapshot(SPEC, served(GATEWAYS));
  const { snapshot: made } = converged(start);
  const moved = edited(answered(made, ACCEPTED), {
    ...SPEC,
    networking: { expose: { ...SPEC.networking.expose, hostname: "other.example.com" } },
  });
  for (const before of [start, { ...moved, ...served(GATEWAYS) }]) {
    const step = planOf(before).decision.steps.find((one) => one._tag === "Apply" && one.manifest.kind === "HTTPRoute");
    if (step?._tag !== "Apply") throw new Error("nothing to write");
    for (const [status, reason] of [[500, "WriteFailed"], [422, "ObjectRefused"]] as const) {
      const answer = {
        status,
        isServerError: status === 500,
        detail: ".spec.rules[0].timeouts: field not declared in schema",
        fields: [],
      };
      const plan = planOf(before, { live: made.live, rejectedWrites: [failedWrite(step, answer, before)] });
      const told = found(after(before, plan));
      deepStrictEqual(told.slice(0, 2), ["False", reason]);
      ok(told[2]?.includes("timeouts: field not declared in schema"));
      deepStrictEqual(told[2]?.includes("install the Gateway API 1.2 or newer"), status === 500);
    }
  }
});

const KEPT = ". Until the HTTPRoute is accepted, Ingress my-ingress exposes the server";

Deno.test("an Ingress stays until a Gateway accepts the HTTPRoute for which it is given up, and the condition says so", () => {
  const old = { networking: { expose: { hostname: "old.example.com" } } };
  const { snapshot: plain } = converged(snapshot(old, served([])));
  ok(plain.live.has("Ingress/my-ingress"));
  const { snapshot: waiting } = converged({ ...edited(plain, SPEC), ...served([]) });
  const { snapshot: unanswered } = converged({ ...waiting, ...served(GATEWAYS) });
  const refused = answered(unanswered, [condition("Accepted", "False")]);
  for (const state of [waiting, unanswered, refused]) {
    ok(state.live.has("Ingress/my-ingress"));
    ok(found(state)[2]?.endsWith(KEPT));
    deepStrictEqual([url(state), planOf(state).steps], ["http://old.example.com", []]);
  }
  strictEqual(
    found(refused)[2],
    `Gateway infra/public: Accepted is False, NoMatchingListenerHostname: as it is${KEPT}`,
  );
  const { snapshot: routed } = converged(answered(refused, ACCEPTED));
  deepStrictEqual([routed.live.has("Ingress/my-ingress"), routed.live.has("HTTPRoute/my")], [false, true]);
  deepStrictEqual([found(routed)[0], url(routed)], ["True", "https://h.example.com"]);
  strictEqual(found(answered(routed, [condition("Accepted", "False")]))[2]?.includes("Ingress"), false);
  const { snapshot: closed } = converged({ ...edited(refused, {}), ...served(GATEWAYS) });
  ok(!closed.live.has("Ingress/my-ingress"));
});

Deno.test("a rejected HTTPRoute says that the Ingress stays, and another's HTTPRoute does not take its place", () => {
  const { snapshot: plain } = converged(snapshot({ networking: { expose: {} } }, served([])));
  const moved = { ...edited(plain, SPEC), ...served(GATEWAYS) };
  const step = planOf(moved).decision.steps.find((one) => one._tag === "Apply" && one.manifest.kind === "HTTPRoute");
  if (step?._tag !== "Apply") throw new Error("nothing to write");
  const rejected = failedWrite(step, { status: 422, isServerError: false, detail: "not like this", fields: [] }, moved);
  const state = after(moved, planOf(moved, { live: plain.live, rejectedWrites: [rejected] }));
  ok(found(state)[2]?.includes("not like this"));
  ok(found(state)[2]?.endsWith(KEPT));
  const foreign = { ...objectAt(Object.fromEntries(converged(moved).snapshot.live), "HTTPRoute/my") };
  const metadata = { name: "my", namespace: "default", uid: "other" };
  const others = { ...moved, live: new Map([...plain.live, ["HTTPRoute/my", { ...foreign, metadata } as JsonObject]]) };
  ok(converged(answered(others, ACCEPTED)).snapshot.live.has("Ingress/my-ingress"));
});

Deno.test("the gateway of the settings leaves a server with an Ingress or Route as it is, until it sets gateway", () => {
  const usual = (kinds: ReadonlyArray<OptionalKind>): Pick<ClusterSnapshot, "operator"> => {
    const { operator } = served(kinds);
    return {
      operator: { ...operator, platform: { ...operator.platform, gatewayParentRefs: [{ name: "usual" }] } },
    };
  };
  const exposed = { networking: { expose: {} } };
  const kindsOf = ({ live }: ClusterSnapshot) =>
    [...live.values()].map(({ kind }) => kind).filter((kind) => KINDS.some((one) => one === kind));
  for (const [kind, more] of [["Ingress", []], ["Route", ["Route"]]] as const) {
    const { snapshot: before } = converged(snapshot(exposed, served([...GATEWAYS, ...more])));
    const { snapshot: kept, passes } = converged({ ...before, ...usual([...GATEWAYS, ...more]) });
    deepStrictEqual([passes, kindsOf(kept), found(kept)[0]], [0, [kind], undefined]);
    const asked = { ...edited(kept, { networking: { expose: { gateway: {} } } }), ...usual([...GATEWAYS, ...more]) };
    deepStrictEqual(kindsOf(converged(asked).snapshot), [kind, "HTTPRoute"]);
    const answer = { ...PARENT, name: "usual", namespace: "default" };
    const { snapshot: routed } = converged(answered(converged(asked).snapshot, ACCEPTED, answer));
    deepStrictEqual(kindsOf(routed), ["HTTPRoute"]);
  }
  const { snapshot: fresh } = converged(snapshot(exposed, usual(GATEWAYS)));
  deepStrictEqual(kindsOf(fresh), ["HTTPRoute"]);
  deepStrictEqual(kindsOf(converged(snapshot(exposed, usual([]))).snapshot), ["Ingress"]);
});

Deno.test("an HTTPRoute of the settings stays while these name no Gateway, until its resource or somebody else ends it", () => {
  const withGateways = (...names: ReadonlyArray<string>): Pick<ClusterSnapshot, "operator"> => {
    const { operator } = served(GATEWAYS);
    const gatewayParentRefs = names.map((name) => ({ name, namespace: "infra" }));
    return { operator: { ...operator, platform: { ...operator.platform, gatewayParentRefs } } };
  };
  const kindsOf = ({ live }: ClusterSnapshot) =>
    [...live.values()].map(({ kind }) => kind).filter((kind) => KINDS.some((one) => one === kind));
  const parentOf = ({ live }: ClusterSnapshot) =>
    stringAt(listAt(live.get("HTTPRoute/my"), "spec", "parentRefs")[0], "name");
  for (const expose of [{}, { gateway: {} }]) {
    const { snapshot: routed } = converged(snapshot({ networking: { expose } }, withGateways("one")));
    deepStrictEqual([kindsOf(routed), parentOf(routed)], [["HTTPRoute"], "one"]);
    const { snapshot: kept, passes } = converged({ ...routed, ...withGateways() });
    deepStrictEqual([passes, kindsOf(kept), parentOf(kept), found(kept)], [0, ["HTTPRoute"], "one", found(routed)]);
    const edit = {
      ...edited(kept, { networking: { expose: { ...expose, hostname: "h.example.com" } } }),
      ...withGateways(),
    };
    deepStrictEqual([kindsOf(converged(edit).snapshot), parentOf(converged(edit).snapshot)], [["HTTPRoute"], "one"]);
    strictEqual(parentOf(converged({ ...kept, ...withGateways("two") }).snapshot), "two");
    const asked = { ...edited(kept, { networking: { expose: { ingressClassName: "nginx" } } }), ...withGateways() };
    deepStrictEqual(kindsOf(converged(asked).snapshot), ["Ingress"]);
  }
  const { snapshot: routed } = converged(snapshot({ networking: { expose: {} } }, withGateways("one")));
  const live = new Map([...routed.live].filter(([key]) => key !== "HTTPRoute/my"));
  deepStrictEqual(kindsOf(converged({ ...routed, live, ...withGateways() }).snapshot), ["Ingress"]);
});

Deno.test("an HTTPRoute of Gateways that the resource named goes with their names", () => {
  const gateway = { parentRefs: [{ name: "own" }] };
  const { snapshot: routed } = converged(snapshot({ networking: { expose: { gateway } } }, served(GATEWAYS)));
  ok(routed.live.has("HTTPRoute/my"));
  const { snapshot: plain } = converged({ ...edited(routed, { networking: { expose: {} } }), ...served(GATEWAYS) });
  deepStrictEqual([plain.live.has("HTTPRoute/my"), plain.live.has("Ingress/my-ingress")], [false, true]);
});

Deno.test("a missing CA for the gateway stops no edit, GatewayAccepted tells of it, and its content is no edit", () => {
  const networking = {
    tls: { enabled: true, secretName: "tls" },
    expose: { gateway: { parentRefs: [{ name: "public" }], caConfigMapName: "ca" } },
  };
  const secrets = new Map([...snapshot({}).secrets, ["tls", TLS]]);
  const start = snapshot({ networking }, { ...served(GATEWAYS), secrets });
  const holding = (key: string, ca: string) => new Map([["default/ca", { data: { [key]: ca }, binaryData: {} }]]);
  const { snapshot: without } = converged(start);
  deepStrictEqual(["SecretsResolved", "Ready"].map((type) => found(without, type)[0]), ["True", "True"]);
  deepStrictEqual(found(without), [
    "False",
    "GatewayUnavailable",
    'spec.networking.expose.gateway.caConfigMapName: ConfigMap "ca" does not exist; create it with a key ca.crt that has ' +
    "the CA of the server's certificate. Until then the gateway cannot verify the server, and answers with errors",
  ]);
  // The gateway must not send requests in clear text meanwhile.
  ok(without.live.has("BackendTLSPolicy/my"));
  const { snapshot: moved } = converged(
    edited(without, { networking, workload: { overrides: { env: [{ name: "MINE", value: "1" }] } } }),
  );
  ok(JSON.stringify(moved.live.get("Deployment/my")).includes("MINE"));
  const { snapshot: wrong } = converged({ ...moved, configMaps: holding("ca.pem", "one") });
  ok(found(wrong)[2]?.includes('ConfigMap "ca" has no key ca.crt; add it'));
  const plan = planOf({ ...wrong, configMaps: holding("ca.crt", OWN.certificate) });
  deepStrictEqual(plan.steps.map(({ _tag }) => _tag), ["SetStatus"]);
  const { snapshot: made } = converged({ ...wrong, configMaps: holding("ca.crt", OWN.certificate) });
  deepStrictEqual(found(made).slice(0, 2), ["Unknown", "Waiting"]);
  deepStrictEqual(planOf({ ...made, configMaps: holding("ca.crt", OTHER.certificate + OWN.certificate) }).steps, []);
});

const KINDS = ["Ingress", "Route", "HTTPRoute"];

const VALID = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
const [OWN, OTHER] = [await makeAuthority(VALID), await makeAuthority(VALID)];
const LEAF = await makeLeaf(OWN, ["my-service.default.svc"], VALID);
const TLS = secretsOf({ tls: { "tls.crt": LEAF.cert, "tls.key": LEAF.key } }).get("tls") ?? {};
