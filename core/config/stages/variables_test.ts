import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { failures, rejected, smallBase, warnings } from "../../../tests/given.ts";
import { secretsOf } from "../../../tests/snapshots.ts";

const spec = (text: string, overrides = {}) => ({
  providers: { inference: [{ provider: "openai", settings: { base_url: text } }] },
  workload: { overrides },
});

Deno.test("rejectUnsetVariables() rejects a variable in settings that is not set", () => {
  deepStrictEqual(failures(spec("${env.NOPE}")), ["VariableNotSet at spec.providers.inference[0].settings.base_url"]);
  strictEqual(
    rejected(spec("${env.NOPE}")).failures[0]?.message,
    'spec.providers.inference[0].settings.base_url: environment variable "NOPE" is not set; set it in ' +
      "spec.workload.overrides.env, or write a default as in ${env.NOPE:=default}",
  );
});

for (
  const [text, overrides, why] of [
    ["${env.NOPE:=http://x/v1}", {}, "a default"],
    ["${env.NOPE:+x}", {}, "a condition"],
    ["${env.HOSTNAME}", {}, "a variable of every container"],
    ["${env.KUBERNETES_SERVICE_HOST}", {}, "a variable of every pod"],
    ["${env.SQLITE_STORE_DIR}", {}, "a variable of the operator"],
    ["${env.NOPE}", { env: [{ name: "NOPE", value: "http://x/v1" }] }, "a variable of the resource"],
  ] as const
) {
  Deno.test(`rejectUnsetVariables() accepts ${why}`, () => deepStrictEqual(warnings(spec(text, overrides)), []));
}

Deno.test("rejectUnsetVariables() rejects a variable from a Secret that is known to be empty", () => {
  const env = [{ name: "NOPE", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }];
  const secrets = (k: string) => ({ secrets: secretsOf({ s: { k } }) });
  deepStrictEqual(failures(spec("${env.NOPE}", { env }), secrets("")), [
    "SecretValueUnusable at spec.workload.overrides.env[0]",
  ]);
  for (const [text, value] of [["${env.NOPE:=http://x/v1}", ""], ["${env.NOPE}", "http://x/v1"]] as const) {
    deepStrictEqual(warnings(spec(text, { env }), secrets(value)), []);
  }
});

Deno.test("rejectUnsetVariables() warns where a ConfigMap may set the variable", () => {
  const wanted = ["VariableNotKnown at spec.providers.inference[0].settings.base_url"];
  deepStrictEqual(warnings(spec("${env.NOPE}", { envFrom: [{ configMapRef: { name: "c" } }] })), wanted);
});

Deno.test("rejectUnsetVariables() names the base if the base requires the variable", () => {
  const base = smallBase({ connectors: [{ url: "${env.NOPE}" }] });
  deepStrictEqual(failures(spec("http://x/v1"), base), ["VariableNotSet at spec.distribution"]);
});
