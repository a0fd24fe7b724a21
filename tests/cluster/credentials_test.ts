/** The choice of credentials for an image, compared with the kubelet's own code on random Secrets and images. */
import { deepStrictEqual, ok } from "node:assert/strict";
import * as Redacted from "effect/Redacted";
import { credentialsOf, type Entries, entriesOf, keyringOf } from "../../core/image/credentials.ts";
import { imageName, repositoryOf } from "../../core/data/image_reference.ts";
import type { Json } from "../../core/data/json.ts";
import { installControlPlane } from "../../tools/install/control_plane.ts";
import { ended } from "../../tools/install/run_program.ts";

const CASES = 10_000;

interface Question {
  readonly image: string;
  readonly secrets: ReadonlyArray<{ readonly type: string; readonly data: string }>;
}

/** The same numbers for the same seed (mulberry32). */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

const questions = (seed: number): ReadonlyArray<Question> => {
  const random = randomOf(seed);
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)] as A;
  const hosts = [
    ...["docker.io", "index.docker.io", "registry-1.docker.io", "quay.io", "registry.example.com", "a.b.example.com"],
    ...[
      "localhost:5000",
      "registry.example.com:5000",
      "example.com",
      "10.0.0.1:5000",
      "REGISTRY.example.com",
    ],
  ];
  const globs = [
    ...["*.example.com", "*.*.example.com", "reg*.example.com", "*.example.com:5000", "*", "*.io", "quay.*", "q?ay.io"],
    ...[
      "r[a-f]gistry.example.com",
      "*.example.*",
      "r*g*t*y.example.com",
      "registry.example.com:*",
      "registry.example.com:",
      "*.docker.io",
    ],
  ];
  const paths = [
    "",
    "/",
    "/v1/",
    "/v2/",
    "/v1",
    "/foo",
    "/foo/",
    "/foo/bar",
    "/v1/foo",
    "/foo*",
    "/*",
    "/library",
    "/v2/foo/",
  ];
  const schemes = ["", "", "", "https://", "http://", "ftp://"];
  const base64 = (text: string) => pick([btoa(text), btoa(text), btoa(text).replace(/=+$/, "")]);
  const entry = (): Json => {
    const word = `${pick(["u", "user", ""])}${Math.floor(random() * 50)}`;
    return pick<() => Json>([
      () => ({ auth: base64(`${word}:p:w`) }),
      () => ({ auth: base64(`${word}:${pick(["", "pass", "ä"])}`) }),
      () => ({ username: word, password: "secret" }),
      () => ({ username: word, password: "secret", auth: base64("other:one"), email: "a@example.com" }),
      () => ({ identitytoken: "x" }),
      () => ({}),
      () =>
        random() < 0.1 ? pick<Json>([{ auth: "%%%" }, { auth: btoa("nocolon") }, { username: 1 }, null, "text"]) : {},
    ])();
  };
  const locations = (): Record<string, Json> =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 8) }, () => [
        `${pick(schemes)}${random() < 0.6 ? pick(hosts) : pick(globs)}${pick(paths)}`,
        entry(),
      ]),
    );
  const secret = () =>
    random() < 0.75
      ? {
        type: "kubernetes.io/dockerconfigjson",
        data: JSON.stringify(
          pick<() => Json>([
            () => ({ auths: locations() }),
            () => ({ auths: locations(), credHelpers: { "quay.io": "x" }, HttpHeaders: {} }),
            () => random() < 0.1 ? pick<Json>([{}, { auths: null }, { auths: [] }, []]) : { auths: locations() },
          ])(),
        ),
      }
      : { type: "kubernetes.io/dockercfg", data: JSON.stringify(locations()) };
  return Array.from({ length: CASES }, () => ({
    // As the kubelet normalizes it before it chooses.
    image: repositoryOf(imageName(
      `${pick(random() < 0.5 ? hosts.slice(4, 6) : hosts)}/${
        pick(["foo", "foo/bar", "foobar/baz", "library/ubuntu", "v1/foo", "bar"])
      }`,
    )),
    secrets: Array.from({ length: Math.floor(random() * 4) }, secret),
  }));
};

/** Null: one of the Secrets cannot be read. */
const ours = ({ image, secrets }: Question): ReadonlyArray<string> | null => {
  const files: Entries[] = [];
  for (const { type, data } of secrets) {
    const entries = entriesOf(JSON.parse(data), type === "kubernetes.io/dockercfg" ? "dockercfg" : "dockerconfigjson");
    if (entries === undefined) return null;
    files.push(entries);
  }
  return credentialsOf(imageName(image), keyringOf(files)).map(({ username, password }) =>
    `${username}:${Redacted.value(password)}`
  );
};

Deno.test(`the operator chooses credentials as the kubelet does, in ${CASES} random cases`, async () => {
  const { keyring } = await installControlPlane(["keyring"]);
  const all = questions(Number(Deno.env.get("SEED") ?? "1"));
  const { code, stdout, stderr } = await ended(keyring, [], {
    stdin: all.map((item) => JSON.stringify(item)).join("\n"),
  });
  deepStrictEqual(code, 0, stderr);
  const answers = stdout.trim().split("\n").map((line): ReadonlyArray<string> | null => JSON.parse(line).Credentials);
  // Go reads the locations of a file in no order, so that several with the same key come in any.
  const sorted = (list: ReadonlyArray<string> | null) => list?.toSorted() ?? null;
  const different = all.flatMap((question, index) => {
    const [theirs, own] = [sorted(answers[index] ?? null), sorted(ours(question))];
    return JSON.stringify(theirs) === JSON.stringify(own) ? [] : [{ ...question, kubelet: theirs, operator: own }];
  });
  deepStrictEqual(different.slice(0, 3), [], `${different.length} of ${CASES} differ`);
  const chosen = answers.filter((list) => (list?.length ?? 0) > 0).length;
  ok(chosen > CASES / 8, `only ${chosen} images have credentials`);
});
