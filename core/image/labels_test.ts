import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import * as Result from "effect/Result";
import { configsIn, type ImageConfigs, type Labels } from "./labels.ts";

const YAML = "version: 2\nimage_name: starter\n";
const base64 = (text: string): string => new TextEncoder().encode(text).toBase64();

const good = (labels: Labels, wanted?: string): ImageConfigs => {
  const found = Result.getOrThrow(configsIn(labels, wanted));
  if (found === undefined) throw new Error("no config");
  return found;
};
const bad = (labels: Labels, wanted?: string): string => {
  const found = configsIn(labels, wanted);
  return Result.isFailure(found) ? found.failure.message : "no failure";
};

const OGX: Labels = {
  "com.ogx.config.config.yaml": base64(YAML),
  "com.ogx.config.run-with-postgres-store.yaml": base64(`${YAML}# postgres\n`),
  "com.ogx.distribution.name": "starter",
  "com.ogx.distribution.version": "1.5.0",
  "com.ogx.distribution.default-config": "config.yaml",
  "com.ogx.distribution.configs": "config.yaml,run-with-postgres-store.yaml",
};

Deno.test("configsIn() reads the labels of OGX, and uses the default unless another one is wanted", () => {
  const found = good(OGX);
  deepStrictEqual([...found.configs.keys()], ["config.yaml", "run-with-postgres-store.yaml"]);
  deepStrictEqual([found.chosen, found.distribution, found.serverVersion], ["config.yaml", "starter", "1.5.0"]);
  deepStrictEqual(found.configs.get("config.yaml"), { kind: "inline", text: YAML });
  strictEqual(good(OGX, "run-with-postgres-store.yaml").chosen, "run-with-postgres-store.yaml");
});

Deno.test("configsIn() reads the same labels of Llama Stack", () => {
  const labels = Object.fromEntries(
    Object.entries(OGX).map(([name, value]) => [name.replace("ogx", "llamastack"), value]),
  );
  deepStrictEqual(good(labels), good(OGX));
});

Deno.test("configsIn() reads an image that has its only config in the label of the names", () => {
  const found = good({
    "com.ogx.distribution.configs": base64(YAML),
    "com.ogx.distribution.version": "v1.2.4+rhaiv.0",
  });
  deepStrictEqual([...found.configs], [["config.yaml", { kind: "inline", text: YAML }]]);
  strictEqual(found.serverVersion, "1.2.4");
});

Deno.test("configsIn() reads a config inside a label, or in a layer", () => {
  const version = { "io.llamastack.config.version": "0.7.3" };
  const inline = good({ ...version, "io.llamastack.config.base64": base64(YAML) });
  deepStrictEqual(inline.configs.get("config.yaml"), { kind: "inline", text: YAML });
  strictEqual(inline.serverVersion, "0.7.3");
  const layer = `sha256:${"a".repeat(64)}`;
  deepStrictEqual(
    good({ "io.llamastack.config.layer": layer, "io.llamastack.config.path": "/app/config.yaml" }).configs.get(
      "config.yaml",
    ),
    { kind: "layer", layer, path: "app/config.yaml" },
  );
});

Deno.test("configsIn() finds nothing in labels of other kinds", () => {
  strictEqual(Result.getOrThrow(configsIn({ "org.opencontainers.image.version": "1.0" })), undefined);
  strictEqual(Result.getOrThrow(configsIn({ "com.ogx.distribution.name": "starter" })), undefined);
});

const CASES: ReadonlyArray<readonly [string, Labels, RegExp]> = [
  ["text that is not Base64", { "com.ogx.config.config.yaml": "%%%" }, /com\.ogx\.config\.config\.yaml.*Base64/],
  ["bytes that are not UTF-8", { "io.llamastack.config.base64": btoa("\xff\xfe") }, /UTF-8/],
  ["a config that is too long", { "io.llamastack.config.base64": base64("x".repeat(600_000)) }, /at most 524288 bytes/],
  [
    "a default that is not there",
    { ...OGX, "com.ogx.distribution.default-config": "gone.yaml" },
    /default-config.*it has config\.yaml, run/,
  ],
  ["a layer without its path", { "io.llamastack.config.layer": `sha256:${"a".repeat(64)}` }, /config\.path/],
  ["a path that climbs", {
    "io.llamastack.config.layer": `sha256:${"a".repeat(64)}`,
    "io.llamastack.config.path": "../../etc/passwd",
  }, /config\.path.*without \.\./],
  [
    "a layer that is no digest",
    { "io.llamastack.config.layer": "latest", "io.llamastack.config.path": "a" },
    /64 hexadecimal/,
  ],
  [
    "too many files",
    Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`com.ogx.config.c${index}.yaml`, ""])),
    /at most 32/,
  ],
];

for (const [what, labels, message] of CASES) {
  Deno.test(`configsIn() rejects ${what}`, () => match(bad(labels), message));
}

Deno.test("configsIn() rejects a wanted config that the image does not have, and names those it has", () => {
  match(bad(OGX, "other.yaml"), /com\.ogx\.config\.other\.yaml.*config\.yaml, run-with-postgres-store\.yaml/);
  ok(bad({ "io.llamastack.config.base64": base64(YAML) }, "other.yaml").includes("one config only"));
});

Deno.test("configsIn() quotes no value of a label", () => {
  ok(!bad({ "com.ogx.config.config.yaml": "canary%%" }).includes("canary"));
});

Deno.test("configsIn() rejects names of files that no ConfigMap can have, and shows them harmlessly", () => {
  for (const name of ["x".repeat(254), "a b.yaml", "a/b.yaml", "\u001b[2J.yaml"]) {
    const message = bad({ ...OGX, [`com.ogx.config.${name}`]: base64(YAML) });
    match(message, /expected a name of a file/);
    ok(!message.includes("\u001b") && message.length < 400, message);
  }
});

Deno.test("configsIn() takes a whole number for the version of the config's format, as build scripts write it", () => {
  const of = (version: string) =>
    Result.getOrThrow(configsIn({
      "io.llamastack.config.base64": btoa("version: 2\n"),
      "io.llamastack.config.version": version,
    }))?.serverVersion;
  deepStrictEqual(["2", "1.4.1", "v1.4"].map(of), [undefined, "1.4.1", "1.4"]);
});
