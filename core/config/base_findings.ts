/** What is wrong with a base config that came with an image or a file, and not with the operator. */
import * as Result from "effect/Result";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import { effectiveId } from "../api/rules.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { doubledSentence } from "../data/doubled_keys.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { at, isSameValue, type Json, type JsonObject, listAt } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { RuleBroken } from "../failure/failures.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { unreadSections } from "./base_config.ts";
import { configProblems, type Remains } from "./config_problems.ts";
import type { DataFolders } from "./data_folders.ts";
import { entriesOf, entryOf, type Facts, factsOf } from "./draft.ts";
import { externalProviders } from "./external_providers.ts";
import { knownEnvironment, knownValues } from "./known_environment.ts";
import { authenticationWarnings } from "./own_config_warnings.ts";
import { baseId, doubledIn, pathOf, readBase, writtenIn } from "./servers/base.ts";
import type { BaseSource } from "./servers/image_labels.ts";
import type { Generated } from "./pipeline.ts";
import { apiOn, type Server } from "./servers/families/families.ts";
import type { EntryFinding } from "./stages/entry_findings.ts";

/** A base config that is not the operator's own. */
interface GivenBase {
  readonly base: BaseSource;
  /** That of `spec.baseConfig`. */
  readonly isOwn: boolean;
  /** The image is the one that the operator ships for the distribution. */
  readonly isShipped: boolean;
  /** What was made of it. */
  readonly generated: Generated;
}

/** What the author wrote is not rolled out over a server that runs; what an image has runs in it already. */
export const baseFindings = (
  spec: Spec,
  server: Server,
  folders: DataFolders,
  given: GivenBase,
): { readonly failures: ReadonlyArray<RuleBroken>; readonly warnings: ReadonlyArray<Warning> } => {
  const { base, generated, isOwn, isShipped } = given;
  const tree = Result.getOrElse(readBase(base, server), () => ({}));
  const facts = factsOf("", spec, server, folders);
  const environment = knownEnvironment(facts, generated.env);
  const valueOf = knownValues(environment, facts);
  const problems = configProblems(
    {
      written: writtenIn(base),
      tree,
      generated: generated.tree,
      remains: leftBy(facts, tree, generated.tree),
      image: isOwn ? { isShipped } : undefined,
    },
    facts,
    { environment, valueOf },
  );
  const path = pathOf(base);
  const { fatal = [], others = [] } = Object.groupBy(problems, ({ isFatal }) => isFatal ? "fatal" : "others");
  const shown = fatal.slice(0, OWN_CONFIG_WARNINGS_MAX).map((problem) =>
    sentence(problem, "; the server does not start")
  );
  return {
    failures: isOwn ? shown.map((detail) => new RuleBroken({ path, detail })) : [],
    warnings: [
      ...(isOwn ? [] : shown.map((message) => warning("ConfigUnfit", path, message))),
      ...doubledIn(base).slice(0, OWN_CONFIG_WARNINGS_MAX)
        .map((key) => warning("SettingOverruled", path, `in the base config, ${doubledSentence(key)}`)),
      ...others.slice(0, OWN_CONFIG_WARNINGS_MAX)
        .map((problem) => warning(problem.code ?? "UnknownSetting", path, sentence(problem))),
      ...(isOwn ? unreadSections(tree, spec, valueOf) : []),
      ...(isOwn && spec.auth === undefined ? authenticationWarnings(generated.tree, environment, server) : [])
        .map(({ code, message }) => warning(code, path, `in the base config, ${message}`)),
    ],
  };
};

const sentence = ({ path, message }: EntryFinding, end = ""): string =>
  onOneLine(`in the base config, ${formatPath(path)}: ${message}${end}`, OWN_CONFIG_MESSAGE_CHARACTERS_MAX);

const leftBy = (
  { spec, server }: Pick<Facts, "spec" | "server">,
  tree: JsonObject,
  generated: JsonObject,
): Remains => {
  const key = (api: string, id: string | undefined) => `${apiOn(server, api) ?? api} ${id}`;
  const replaced = new Set([
    ...PROVIDER_LISTS.flatMap(({ field, api }) =>
      (spec.providers?.[field] ?? []).map((provider) => key(api, effectiveId(provider as unknown as Json)))
    ),
    ...externalProviders(spec).map(({ api, provider }) => key(api, provider.providerId)),
  ]);
  const isGone = (api: string, id: string | undefined): boolean =>
    replaced.has(`${api} ${id}`) || entryOf(generated, api, id ?? "") === undefined;
  return {
    isGone,
    isUsed: (path: FieldPath): boolean => {
      const [first, api, index] = path;
      const keys = path.map(String);
      if (first !== "providers") {
        // A host that is left out says nothing: the type beside it tells whether it is the same database.
        const beside = [...keys.slice(0, -1), "type"];
        return [keys, beside].every((place) => at(generated, ...place) === at(tree, ...place));
      }
      return !isGone(String(api), baseId(entriesOf(tree, String(api))[Number(index)] ?? {}));
    },
    /** Items of lists have other indexes there, and a store is one thing. */
    isKept: (path: FieldPath): boolean => {
      const index = path.findIndex((step) => typeof step === "number");
      const list = path.slice(0, index).map(String);
      const place = path.slice(0, path[0] === "storage" ? 3 : path.length).map(String);
      return index < 0
        ? isSameValue(at(tree, ...place), at(generated, ...place))
        : listAt(generated, ...list).some((item) => isSameValue(item, listAt(tree, ...list)[Number(path[index])]));
    },
    ofBase: (finding: EntryFinding): ReadonlyArray<EntryFinding> => {
      const step = finding.path.findIndex((part) => typeof part === "number");
      if (step < 0) return [finding];
      const list = finding.path.slice(0, step);
      const [from, to] = [generated, tree].map((config) => listAt(config, ...list.map(String)));
      const index = to?.findLastIndex((item) => isSameValue(item, from?.[Number(finding.path[step])])) ?? -1;
      return index < 0 ? [] : [{ ...finding, path: [...list, index, ...finding.path.slice(step + 1)] }];
    },
  };
};
