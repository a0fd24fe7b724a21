import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { failures, generated, rejected, secret, warnings } from "../../../tests/given.ts";

const AT = "spec.providers.inference[0]";
const spec = (provider: object) =>
  ({
    providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", ...provider }] },
  }) as never;

for (const value of ["lots", 5.5, [], {}, null]) {
  Deno.test(`settingFindings() refuses ${JSON.stringify(value)} where the provider reads a whole number`, () =>
    deepStrictEqual(failures(spec({ settings: { max_tokens: value } })), [
      `SettingInvalid at ${AT}.settings.max_tokens`,
    ]));
}

for (const value of ["4096", " 4096 ", 4096, true, "${env.HOSTNAME}"]) {
  Deno.test(`settingFindings() takes ${JSON.stringify(value)} for a whole number, as the server does`, () =>
    deepStrictEqual(warnings(spec({ settings: { max_tokens: value } })), []));
}

Deno.test("settingFindings() says what the provider expects and quotes no value", () => {
  strictEqual(
    rejected(spec({ settings: { refresh_models: "hunter2" } })).failures[0]?.message,
    `${AT}.settings.refresh_models: wrong type for provider type "remote::vllm"; expected true or false`,
  );
});

for (
  const [settings, field, instead] of [
    [{ api_token: secret("s", "k") }, "api_token", "use apiKey"],
    [{ tls_verify: secret("s", "k") }, "tls_verify", "use secretRefs.tls_verify"],
    [{ api_token: { valueFrom: secret("s", "k") } }, "api_token", "use apiKey"],
    [{ network: { tls: { key: secret("s", "k") } } }, "network.tls.key", "use secretRefs.network"],
  ] as const
) {
  Deno.test(`settingFindings() refuses a reference to a Secret in settings.${field}`, () => {
    deepStrictEqual(failures(spec({ settings })), [`SettingInvalid at ${AT}.settings.${field}`]);
    ok(rejected(spec({ settings })).failures[0]?.message.endsWith(instead));
  });
}

Deno.test("settingFindings() warns of a credential in clear text and does not print it", () => {
  const clear = spec({ settings: { api_token: "hunter2" } });
  deepStrictEqual(warnings(clear), [`CredentialInSettings at ${AT}.settings.api_token`]);
  ok(generated(clear).config.warnings.every(({ message }) => !message.includes("hunter2")));
  deepStrictEqual(warnings(spec({ settings: { api_token: "${env.VLLM_TOKEN:=}" } })), []);
});

Deno.test("doubledFields() refuses two fields that stand for one key of the provider", () => {
  deepStrictEqual(failures(spec({ secretRefs: { base_url: secret("s", "k") } })), [
    `RuleBroken at ${AT}.secretRefs.base_url`,
  ]);
  const keyed = spec({ apiKey: secret("s", "k"), secretRefs: { api_token: secret("s", "k") } });
  strictEqual(
    rejected(keyed).failures[0]?.message,
    `${AT}.secretRefs.api_token: sets the same field of the provider as apiKey: "api_token"; remove one of the two`,
  );
});

Deno.test("strayFindings() names the field that the author wrote", () => {
  deepStrictEqual(warnings(spec({ settings: { maxtokens: 1 }, secretRefs: { api_key: secret("s", "k") } })), [
    `UnknownSetting at ${AT}.settings.maxtokens`,
    `UnknownSetting at ${AT}.secretRefs.api_key`,
  ]);
});
