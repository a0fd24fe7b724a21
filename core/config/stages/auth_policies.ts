/** Rules of `spec.auth` that the server refuses, or under which nothing falls. */
import type { Auth } from "../../api/auth.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { didYouMean } from "../../data/closest.ts";
import { quoted } from "../../data/printable.ts";
import { RuleBroken } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { isPattern } from "./python_patterns.ts";

export const AUTH_PATH: FieldPath = ["spec", "auth"];

export const inAuth = (...path: FieldPath): FieldPath => [...AUTH_PATH, ...path];

export const UNOWNED = "resource is unowned";

/** Every server has this parser, and ends at its start for any other condition. Source: access_control/conditions.py. */
const VALUE = "[^\\s\\p{Cc}]+";
const CONDITION = new RegExp(
  `^(user is( not)? owner|user with ${VALUE}( not)? in ${VALUE}|user( not)? in owners ${VALUE}|${UNOWNED})$`,
  "u",
);

export const unknownConditions = (auth: Auth): ReadonlyArray<RuleBroken> =>
  conditionsOf(auth).filter(({ condition }) => !CONDITION.test(condition)).map(({ path, condition }) =>
    new RuleBroken({
      path,
      detail:
        `unknown condition ${quoted(condition)}; write "user is [not] owner", "user with VALUE [not] in ATTRIBUTE", ` +
        `"user [not] in owners ATTRIBUTE" or "${UNOWNED}", with one space between words`,
    })
  );

export const conditionsOf = (auth: Auth): ReadonlyArray<{ readonly condition: string; readonly path: FieldPath }> =>
  (["accessPolicy", "routePolicy"] as const).flatMap((policy) =>
    (auth[policy] ?? []).flatMap((rule, index) =>
      (["when", "unless"] as const).flatMap((field) =>
        (rule[field] ?? []).map((condition, place) => ({
          condition,
          path: inAuth(policy, index, field, place),
        }))
      )
    )
  );

const REGEX = "regex:";

/** What a rule of accessPolicy is for, as the author wrote it. */
const scopesOf = (auth: Auth): ReadonlyArray<{ readonly text: string; readonly path: FieldPath }> =>
  (auth.accessPolicy ?? []).flatMap((rule, index) =>
    (["permit", "forbid"] as const).map((effect) => ({
      text: rule[effect]?.resource ?? "",
      path: inAuth("accessPolicy", index, effect, "resource"),
    }))
  );

/** Paths of routePolicy, as the author wrote them. */
const routesOf = (auth: Auth): ReadonlyArray<{ readonly text: string; readonly path: FieldPath }> =>
  (auth.routePolicy ?? []).flatMap((rule, index) =>
    (["permit", "forbid"] as const).flatMap((effect) =>
      (rule[effect]?.paths ?? []).map((text, place) => ({
        text,
        path: inAuth("routePolicy", index, effect, "paths", place),
      }))
    )
  );

/** Regular expressions of both policies, without their prefix. */
export const patternsOf = (auth: Auth): ReadonlyArray<{ readonly pattern: string; readonly path: FieldPath }> =>
  [...scopesOf(auth), ...routesOf(auth)].filter(({ text }) => text.startsWith(REGEX))
    .map(({ text, path }) => ({ pattern: text.slice(REGEX.length), path }));

/** The server would go on without the rule, and permit what it forbids. */
export const brokenProhibitions = (auth: Auth): ReadonlyArray<RuleBroken> =>
  patternsOf(auth).filter(({ pattern, path }) => path.includes("forbid") && !isPattern(pattern)).map(({ path }) =>
    new RuleBroken({
      path,
      detail: "not a regular expression; the server would ignore the rule and forbid nothing",
    })
  );

/** The server only logs it, and treats the rule as one for nothing. */
export const policyPatterns = (auth: Auth): ReadonlyArray<Warning> =>
  patternsOf(auth).filter(({ pattern, path }) => !path.includes("forbid") && !isPattern(pattern)).map(({ path }) =>
    warning(
      "PatternInvalid",
      path,
      "this does not look like a regular expression of Python; the server ignores a rule whose expression is invalid",
    )
  );

/** Source: ResourceType in resource.py of the servers, and SqlRecord in authorized_sqlstore.py. */
const RESOURCE_TYPES = [
  ...["model", "shield", "vector_store", "dataset", "scoring_function", "benchmark", "tool", "tool_group", "prompt"],
  "sql_record",
];

/** Of an agent. Source: persistence.py of the agents of 0.2 and 0.3. */
const SESSION = "session";

interface DeadScope {
  readonly path: FieldPath;
  readonly code: "ResourceTypeUnknown" | "PatternInvalid";
  readonly detail: string;
}

/**
 * The server compares texts: nothing has another type, and `*` stands for the rest of a path at its end alone. Source:
 * matches_resource in access_control.py, and route_access.py.
 */
export const deadScopes = (auth: Auth, version: string): ReadonlyArray<DeadScope> => [
  ...scopesOf(auth).flatMap(({ text, path }): ReadonlyArray<DeadScope> => {
    const [type = ""] = text.split("::");
    const isKnown = RESOURCE_TYPES.includes(type) || type === SESSION && isOlderMinor(version, "0.4");
    if (text === "" || text.startsWith(REGEX) || isKnown) return [];
    const way = didYouMean(type, RESOURCE_TYPES) || `; write one of ${RESOURCE_TYPES.join(", ")}`;
    return [{ path, code: "ResourceTypeUnknown", detail: `no resource has the type "${type}"${way}` }];
  }),
  ...routesOf(auth).flatMap(({ text, path }): ReadonlyArray<DeadScope> =>
    text.startsWith(REGEX) || !text.slice(0, -1).includes("*") ? [] : [{
      path,
      code: "PatternInvalid",
      detail: `* stands for the rest of a path, and only at its end; write ${quoted(`${REGEX}EXPRESSION`)} instead`,
    }]
  ),
];
