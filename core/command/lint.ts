/** `lint`: all errors and warnings of resources, without a cluster. */
import * as Result from "effect/Result";
import { hiddenFromV1alpha1 } from "../api/guarded_conversion.ts";
import { withChangeFindings } from "../api/change_rules.ts";
import type { Surroundings } from "../config/derive.ts";
import { decodeResource } from "../api/decode.ts";
import type { FieldPath } from "../data/field_path.ts";
import { isReadLater } from "../failure/read_later.ts";
import type { Rejection } from "../failure/rejection.ts";
import { derivedWith, type GivenFailure } from "../plan/given_config_maps.ts";
import type { Platform } from "../resources/blueprint.ts";
import { reasonOf } from "../report/failure_table.ts";
import { type Warning, type WarningCode } from "../failure/warning.ts";
import { isObject, type Json, type JsonObject } from "../data/json.ts";
import { intendedExposureWarnings } from "./exposure.ts";
import { type InputFile, type InputResource, type Located, readInputs } from "./input.ts";
import { lines, type Outcome, type Style } from "./outcome.ts";

export interface LintOptions {
  readonly format: LintFormat;
  /** Whether warnings fail like errors. */
  readonly strict?: boolean;
  readonly style: Style;
  /** Of the intended cluster; undefined: nothing is said about it. */
  readonly platform?: Platform | undefined;
}

export const LINT_FORMATS = ["text", "json", "sarif", "github"] as const;
export type LintFormat = typeof LINT_FORMATS[number];

/** One line of the JSON form; stable for scripts. */
export interface LintFinding {
  readonly resource: string;
  readonly level: "error" | "warning";
  /** Kind of failure or warning, e.g. `UnknownProviderType`. */
  readonly code: string;
  /** The reason that the condition of a running resource would carry; for errors only. */
  readonly reason?: string;
  readonly path: string;
  readonly message: string;
  /** As it was named on the command line; `-` is standard input. */
  readonly file: string;
  /** Of the field in the file, or of the nearest field around it; from 1. Absent where the file cannot be read. */
  readonly line?: number;
  readonly column?: number;
}

export const lintCommand = (
  files: ReadonlyArray<InputFile>,
  surroundings: Surroundings,
  { format, strict = false, style, platform }: LintOptions,
): Outcome => {
  const { resources, skipped, converted, none } = readInputs(files);
  const found = resources.map((input) => ({
    label: input.label,
    own: findingsOf(input, surroundings, platform),
  }));
  const findings = found.flatMap(({ own }) => own);
  const errors = findings.filter(({ level }) => level === "error").length;
  const warnings = findings.length - errors;
  const code = errors > 0 || none.length > 0 || strict && warnings > 0 ? 1 : 0;
  const notes = [...skipped, ...converted, ...ownConfigs(resources)];
  const remarks = lines([...notes, ...none]);
  if (format === "json") {
    const report = { resources: resources.length, errors, warnings, findings };
    return { stdout: `${JSON.stringify(report, null, 2)}\n`, stderr: remarks, code };
  }
  if (format === "sarif") return { stdout: `${JSON.stringify(sarif(findings), null, 2)}\n`, stderr: remarks, code };
  if (format === "github") return { stdout: githubCommands(findings), stderr: remarks, code };
  const text = found.flatMap(({ label, own }) => {
    return own.length === 0 ? [] : [style.name(label), ...own.map((finding) => `  ${findingText(finding, style)}`)];
  });
  const total = none.length > 0
    ? none
    : [`${count(errors, "error")}, ${count(warnings, "warning")} in ${count(resources.length, "resource")}`];
  return { stdout: lines([...text, ...total]), stderr: lines(notes), code };
};

/** Once, however many there are. */
const ownConfigs = (resources: ReadonlyArray<InputResource>): ReadonlyArray<string> => {
  const own = resources.find(({ resource }) =>
    Result.isSuccess(resource) && resource.success.spec.overrideConfig !== undefined
  );
  return own === undefined ? [] : [
    `${own.label}: spec.overrideConfig: \`llama-stack-operator import -f FILE\` makes a short resource of a config.yaml, ` +
    "and proves that it means the same",
  ];
};

/** Errors first, in the order of the resource as far as it is known, then warnings. */
const findingsOf = (
  { label, file, current, resource, warnings, configMaps, located }: InputResource,
  surroundings: Surroundings,
  platform: Platform | undefined,
): ReadonlyArray<LintFinding> => {
  const judged = withChangeFindings(
    current,
    Result.flatMap(resource, (decoded) => derivedWith(decoded, { ...surroundings, configMaps })),
  );
  const refused = Result.isFailure(judged)
    ? together(judged.failure, furtherFindings(current, resource, { ...surroundings, configMaps }))
    : { failures: [], warnings: [] };
  const { failures } = refused;
  const own = Result.isSuccess(judged) ? judged.success.warnings : refused.warnings;
  const shown = (finding: Located) => {
    const { path, message, place } = located(finding);
    return { path, message, file, ...place };
  };
  return [
    ...warnings.filter(({ code }) => REJECTED.has(code)).map((warning): LintFinding => ({
      resource: label,
      level: "error",
      code: warning.code,
      ...shown(warning),
    })),
    ...failures.map((failure): LintFinding => ({
      resource: label,
      ...(isReadLater(failure)
        ? { level: "warning", code: failure.mayBeLabelled ? "ImageLabelsUnread" : "BaseConfigUnread" }
        : { level: "error", code: failure._tag, reason: reasonOf(failure) }),
      ...shown(failure),
    })),
    ...[
      ...warnings.filter(({ code }) => !REJECTED.has(code)),
      ...hiddenFromV1alpha1(isObject(current) ? current : {}),
      ...own,
      ...(Result.isFailure(resource) ? [] : intendedExposureWarnings(
        resource.success,
        Result.isSuccess(judged) ? judged.success.derived : undefined,
        configMaps,
        platform,
      )),
    ].map((warning: Warning): LintFinding => ({
      resource: label,
      level: "warning",
      code: warning.code,
      ...shown(warning),
    })),
  ];
};

/** Of the rest of a resource with fields that do not exist, so that all is reported at once; without what may follow from those. */
const furtherFindings = (
  current: Json,
  resource: InputResource["resource"],
  surroundings: Parameters<typeof derivedWith>[1],
): Rejection<GivenFailure> => {
  const wrong = Result.isFailure(resource)
    ? resource.failure.failures.map(({ path }) => path).filter(([first]) => first !== "apiVersion")
    : [];
  const decoded = decodeResource(current, "lenient");
  // Those of the whole spec or of the server decide what the rest means.
  const isUncertain = wrong.some((path) => path.length < 3 || path.includes("distribution"));
  if (Result.isSuccess(resource) || isUncertain || Result.isFailure(decoded)) return NOTHING;
  const derived = derivedWith(decoded.success, surroundings);
  const { failures, warnings } = Result.isFailure(derived)
    ? derived.failure
    : { failures: [], warnings: derived.success.warnings };
  const isApart = ({ path }: { readonly path: FieldPath }) =>
    !wrong.some((other) => other.slice(0, -1).every((step, index) => step === path[index]));
  return { failures: failures.filter(isApart), warnings: warnings.filter(isApart) };
};

const NOTHING: Rejection<never> = { failures: [], warnings: [] };

const together = <A, B>(one: Rejection<A>, other: Rejection<B>): Rejection<A | B> => ({
  failures: [...one.failures, ...other.failures],
  warnings: [...one.warnings, ...other.warnings],
});

/** What the commands read and the API server does not. */
const REJECTED: ReadonlySet<WarningCode> = new Set(["Shorthand"]);

const findingText = (finding: LintFinding, style: Style): string => {
  const place = finding.line === undefined ? "" : `${finding.line}:${finding.column}  `;
  const level = finding.level === "error" ? `${style.error("error")}  ` : style.warning("warning");
  return `${place}${level}  ${sentence(finding)}`;
};

/** With the path in front; the message of a failure has it already. */
const sentence = ({ path, message }: LintFinding): string =>
  path === "" || message.startsWith(`${path}: `) ? message : `${path}: ${message}`;

/** For code scanning services. Source: SARIF 2.1.0 (OASIS), §3.27 and §3.28. */
const sarif = (findings: ReadonlyArray<LintFinding>): JsonObject => ({
  $schema: "https://json.schemastore.org/sarif-2.1.0.json",
  version: "2.1.0",
  runs: [{
    tool: {
      driver: {
        name: "llama-stack-operator",
        rules: [...new Set(findings.map(({ code }) => code))].map((id) => ({ id })),
      },
    },
    results: findings.map((finding) => ({
      ruleId: finding.code,
      level: finding.level,
      message: { text: `${finding.resource}: ${sentence(finding)}` },
      locations: [{
        physicalLocation: {
          artifactLocation: { uri: encodeURI(finding.file) },
          ...(finding.line === undefined
            ? {}
            : { region: { startLine: finding.line, startColumn: finding.column ?? 1 } }),
        },
      }],
    })),
  }],
});

/** Annotations of a pull request. Source: "Workflow commands for GitHub Actions"; the escapes are those of actions/toolkit. */
const githubCommands = (findings: ReadonlyArray<LintFinding>): string =>
  lines(findings.map((finding) => {
    const place = finding.line === undefined ? "" : `,line=${finding.line},col=${finding.column}`;
    const file = commandText(finding.file).replaceAll(":", "%3A").replaceAll(",", "%2C");
    return `::${finding.level} file=${file}${place},title=${finding.code}::${commandText(sentence(finding))}`;
  }));

const commandText = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
