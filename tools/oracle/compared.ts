/** What lint says of a resource, what the server says, and the smallest resource of which they say the same. */
import { warningsOf } from "../../core/config/derive.ts";
import type { WarningCode } from "../../core/failure/warning.ts";
import { trappedKeys } from "../../core/plan/secret_values.ts";
import { isList, isObject, type Json, type JsonObject } from "../../core/data/json.ts";
import type { ArbitraryConfig } from "../../tests/arbitrary_configs.ts";
import { NoConfig } from "../server/boot.ts";
import { secretsOf } from "../../tests/snapshots.ts";
import { derivedAnyway } from "./anyway.ts";
import type { Oracle, OracleAnswer } from "./oracle.ts";

/** Warnings of what keeps the server from its start, unless something else in the pod helps. */
const OF_START: ReadonlySet<WarningCode> = new Set([
  "ConfigUnfit",
  "CredentialsMissing",
  "FileNotMounted",
  "OtherServer",
  "ServerDefect",
  "VariableNotSet",
  "VariableUnfit",
]);

export interface Compared {
  /** Clean: neither a failure, nor a warning that the server may not start. */
  readonly lint: "clean" | "warned" | "refused";
  /** Tags of the failures, or codes of the warnings; sorted. */
  readonly findings: ReadonlyArray<string>;
  /** Messages of the failures, where the server was asked in spite of them. */
  readonly reasons?: string;
  /** Undefined where there is no config to ask about. */
  readonly server?: OracleAnswer;
}

export const compared = async (
  oracle: Oracle,
  { manifest, secrets, configMaps }: ArbitraryConfig,
  asksOfRefused = false,
): Promise<Compared> => {
  const options = {
    secrets,
    surroundings: { secrets: secretsOf(secrets), ...(configMaps === undefined ? {} : { configMaps }) },
  };
  const start = await oracle.start(manifest, options).catch((cause) =>
    cause instanceof NoConfig ? cause : Promise.reject(cause)
  );
  if (start instanceof NoConfig) {
    const findings = [...new Set(start.tags)].sort();
    // Nothing of it asks for another config than that of the image.
    if (findings.length === 0) return { lint: "clean", findings };
    if (!asksOfRefused) return { lint: "refused", findings };
    // What the stages leave out for its failure is missing in the config: the server may start for that alone.
    const anyway = await oracle.start(manifest, { ...options, derive: derivedAnyway })
      .catch((cause) => cause instanceof NoConfig ? undefined : Promise.reject(cause));
    const server = anyway === undefined ? undefined : await oracle.ask(anyway);
    return { lint: "refused", findings, reasons: start.message, ...(server === undefined ? {} : { server }) };
  }
  const trapped = trappedKeys(start.resource, { secrets: secretsOf(secrets) });
  if (trapped.length > 0) {
    const server = asksOfRefused ? { server: await oracle.ask(start) } : {};
    const reasons = trapped.map(({ message }) => message).join("\n");
    return { lint: "refused", findings: ["SecretValueUnusable"], reasons, ...server };
  }
  const codes = [...new Set(warningsOf(start.derived).map(({ code }) => code))].sort();
  const lint = codes.some((code) => OF_START.has(code)) ? "warned" : "clean";
  return { lint, findings: codes, server: await oracle.ask(start) };
};

/** What lint does not find, and why. */
const KNOWN_GAPS: ReadonlyArray<{ readonly error: RegExp; readonly reason: string }> = [
  {
    error: /^ConnectionConfigException: .*needs start with \[unix, http, https, tcp\] or a local file/,
    reason:
      "the path of inline::milvus comes from a Secret: rules between fields are not asked about values of Secrets",
  },
  {
    error: /^DatabaseError: DPY-\d+: file .* is missing or unreadable/,
    reason: "the folders of remote::oci are plain text in its class, so that nothing tells that they must be mounted",
  },
];

export const isSurprise = ({ lint, server }: Compared): boolean =>
  lint === "clean" && server?.outcome === "fails" && !KNOWN_GAPS.some(({ error }) => error.test(server.error ?? ""));

/** One for all surprises with the same cause: the place in the server and the kind of exception. */
export const causeOf = ({ server }: Compared): string =>
  `${server?.where ?? "?"} ${server?.error?.split(/[:\n]/)[0] ?? "?"} ${
    (server?.error ?? "").replaceAll(/'[^']*'|"[^"]*"|\d+/g, "…").replaceAll(/\s+/g, " ").slice(0, 160)
  }`;

/** The smallest resource that is left with the same surprise when parts are taken away one by one. */
export const shrunk = async (oracle: Oracle, config: ArbitraryConfig, cause: string): Promise<ArbitraryConfig> => {
  let smallest = config;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const manifest of smallerOnes(smallest.manifest)) {
      const next = { ...smallest, manifest };
      const found = await compared(oracle, next).catch(() => undefined);
      if (found === undefined || !isSurprise(found) || causeOf(found) !== cause) continue;
      [smallest, isSmaller] = [next, true];
      break;
    }
  }
  return smallest;
};

/** Without one part below spec, the largest parts first. */
const smallerOnes = function* (manifest: JsonObject): Generator<JsonObject> {
  const { spec = null } = manifest;
  for (let depth = 1; depth <= 7; depth++) {
    for (const smaller of without(spec, depth)) yield { ...manifest, spec: smaller };
  }
};

const without = function* (tree: Json, depth: number): Generator<Json> {
  if (isList(tree)) {
    for (const [index, item] of tree.entries()) {
      if (depth === 1 && tree.length > 1) yield tree.toSpliced(index, 1);
      else for (const smaller of without(item, depth - 1)) yield tree.with(index, smaller);
    }
  } else if (isObject(tree)) {
    for (const [key, item] of Object.entries(tree)) {
      if (depth === 1) {
        if (key !== "distribution" && key !== "provider") {
          yield Object.fromEntries(Object.entries(tree).filter(([name]) => name !== key));
        }
      } else for (const smaller of without(item, depth - 1)) yield { ...tree, [key]: smaller };
    }
  }
};
