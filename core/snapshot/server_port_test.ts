import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { JsonObject } from "../data/json.ts";
import { serverPortIn } from "./server_port.ts";

const template = (server: JsonObject) => ({ spec: { containers: [server, { ports: [{ containerPort: 1 }] }] } });
const ports = [{ containerPort: 8321 }, { containerPort: 9464 }];

Deno.test("serverPortIn() is the first port of the first container, with TLS as its probes say", () => {
  const probe = (scheme: string): JsonObject => ({ httpGet: { scheme, port: 8321 } });
  deepStrictEqual(serverPortIn(template({ ports, readinessProbe: probe("HTTPS") })), { port: 8321, isTls: true });
  deepStrictEqual(serverPortIn(template({ ports, startupProbe: probe("HTTP") })), { port: 8321, isTls: false });
});

Deno.test("serverPortIn() does not know TLS of a template without a probe that asks, as other operators make them", () => {
  deepStrictEqual(serverPortIn(template({ ports })), { port: 8321, isTls: undefined });
  deepStrictEqual(serverPortIn(template({ ports, livenessProbe: { exec: {} } })), { port: 8321, isTls: undefined });
  strictEqual(serverPortIn(template({})), undefined);
  strictEqual(serverPortIn(undefined), undefined);
});
