import { deepStrictEqual, strictEqual } from "node:assert/strict";
import * as Effect from "effect/Effect";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import { REGISTRIES_DEFAULT } from "../../core/operator/registries.ts";
import type { JsonObject } from "../../core/data/json.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { credentialsDigest, credentialsIn, keyringsFor } from "./pull_credentials.ts";

const QUESTION: ImageQuestion = {
  image: "reg.example.com/team/a:1",
  reference: "reg.example.com/team/a:1",
  wanted: undefined,
  namespace: "team",
  serviceAccount: undefined,
  pullSecrets: ["pull"],
  authorities: "",
  registries: REGISTRIES_DEFAULT,
};

const secretOf = (auths: JsonObject): JsonObject => ({
  type: "kubernetes.io/dockerconfigjson",
  data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
});

/** Users by place, with these Secrets by namespace and name. */
const found = async (secrets: Readonly<Record<string, JsonObject>>, question: Partial<ImageQuestion> = {}) => {
  const get = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
    Effect.succeed(secrets[`${namespace}/${name}`]);
  const credentials = await Effect.runPromise(
    keyringsFor({ ...QUESTION, ...question }, "operator").pipe(
      Effect.map((keyrings) => credentialsIn(keyrings, { ...QUESTION, ...question })),
      Effect.provideService(Cluster, { get } as unknown as Cluster["Service"]),
    ),
  );
  return { credentials, users: [...credentials].map(([place, all]) => [place, all.map(({ username }) => username)]) };
};

const MINE = secretOf({ "reg.example.com": { username: "mine", password: "p" } });
const OPERATORS = secretOf({ "reg.example.com": { username: "operator", password: "p" } });

Deno.test("credentialsIn() keeps those that apply to the image, the operator's own last", async () => {
  const secrets = {
    "team/pull": secretOf({ "other.example": { username: "other", password: "p" } }),
    "team/more": MINE,
    "operator/llama-stack-operator-registries": OPERATORS,
  };
  const { users } = await found(secrets, { pullSecrets: ["pull", "more"] });
  deepStrictEqual(users, [["reg.example.com/team/a", ["mine", "operator"]]]);
});

Deno.test("keyringsFor() gives the operator's own to nobody who vouches for the registry himself", async () => {
  const secrets = { "team/pull": MINE, "operator/llama-stack-operator-registries": OPERATORS };
  const { users } = await found(secrets, { authorities: "PEM of a tenant" });
  deepStrictEqual(users, [["reg.example.com/team/a", ["mine"]]]);
});

Deno.test("keyringsFor() reads no Secret of a size that only an attacker has", async () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [String(index), {}]));
  const { users } = await found({ "team/pull": secretOf({ ...many, "reg.example.com": { username: "mine" } }) });
  deepStrictEqual(users, [["reg.example.com/team/a", []]]);
  const some = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [String(index), {}]));
  deepStrictEqual((await found({ "team/pull": secretOf({ ...some }) })).users, [["reg.example.com/team/a", []]]);
});

Deno.test("credentialsDigest() differs by password, and is the same for the same credentials", async () => {
  const digest = async (password: string) =>
    await credentialsDigest(
      (await found({ "team/pull": secretOf({ "reg.example.com": { username: "u", password } }) })).credentials,
    );
  strictEqual(await digest("a"), await digest("a"));
  strictEqual(await digest("a") === await digest("b"), false);
});
