/** `lint`: all errors and warnings of resources, without a cluster. */
import * as Result from "effect/Result";
import { withChangeFindings } from "../admission/change_rules.ts";
import { derive, type Surroundings, warningsOf } from "../config/derive.ts";
import { reasonOf } from "../failure/table.ts";
import type { Warning } from "../failure/warning.ts";
import { type InputFile, type InputResource, readInputs } from "./input.ts";
import { lines, type Outcome, type Style } from "./outcome.ts";

export interface LintOptions {
  readonly format: "text" | "json";
  readonly style: Style;
}

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
}

export const lintCommand = (
  files: ReadonlyArray<InputFile>,
  surroundings: Surroundings,
  { format, style }: LintOptions,
): Outcome => {
  const { resources, skipped, converted } = readInputs(files);
  const found = resources.map((input) => ({ label: input.label, own: findingsOf(input, surroundings) }));
  const findings = found.flatMap(({ own }) => own);
  const errors = findings.filter(({ level }) => level === "error").length;
  const warnings = findings.length - errors;
  const empty = resources.length === 0;
  const code = errors > 0 || empty ? 1 : 0;
  if (format === "json") {
    const report = { resources: resources.length, errors, warnings, findings };
    return { stdout: `${JSON.stringify(report, null, 2)}\n`, stderr: lines([...skipped, ...converted]), code };
  }
  const text = found.flatMap(({ label, own }) => {
    return own.length === 0 ? [] : [style.name(label), ...own.map((finding) => `  ${findingText(finding, style)}`)];
  });
  const total = empty
    ? `no LlamaStackDistribution in ${files.map(({ name }) => name).join(", ")}`
    : `${count(errors, "error")}, ${count(warnings, "warning")} in ${count(resources.length, "resource")}`;
  return { stdout: lines([...text, total]), stderr: lines([...skipped, ...converted]), code };
};

/** Errors first, in the order of the resource as far as it is known, then warnings. */
const findingsOf = (
  { label, current, resource, warnings, located }: InputResource,
  surroundings: Surroundings,
): ReadonlyArray<LintFinding> => {
  const derived = withChangeFindings(current, Result.flatMap(resource, (decoded) => derive(decoded, surroundings)));
  const refused = Result.isFailure(derived) ? derived.failure : { failures: [], warnings: [] };
  const { failures } = refused;
  const own = Result.isSuccess(derived) ? warningsOf(derived.success) : refused.warnings;
  return [
    ...failures.map((failure): LintFinding => ({
      resource: label,
      ...(failure._tag === "BaseConfigRequired" && failure.mayBeLabelled
        ? { level: "warning", code: "ImageLabelsUnread" }
        : { level: "error", code: failure._tag, reason: reasonOf(failure) }),
      ...located(failure),
    })),
    ...[...warnings, ...own].map((warning: Warning): LintFinding => ({
      resource: label,
      level: "warning",
      code: warning.code,
      ...located(warning),
    })),
  ];
};

const findingText = ({ level, path, message }: LintFinding, style: Style): string =>
  level === "error"
    ? `${style.error("error")}    ${message}`
    // The message of a failure has its path already.
    : `${style.warning("warning")}  ${message.startsWith(`${path}: `) ? message : `${path}: ${message}`}`;

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
