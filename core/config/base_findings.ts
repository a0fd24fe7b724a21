/** What is wrong with a base config that came with an image or a file, and not with the operator. */
import * as Result from "effect/Result";
import { PROVIDER_LISTS } from "../api/api_names.ts";
import { effectiveId } from "../api/rules.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { formatPath } from "../data/field_path.ts";
import type { Json, JsonObject } from "../data/json.ts";
import { OWN_CONFIG_MESSAGE_CHARACTERS_MAX, OWN_CONFIG_WARNINGS_MAX } from "../data/limits.ts";
import { onOneLine } from "../data/printable.ts";
import { RuleBroken } from "../failure/failures.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { unreadSections } from "./base_config.ts";
import type { DataFolders } from "./data_folders.ts";
import { entryOf, factsOf } from "./draft.ts";
import { knownEnvironment, knownValues } from "./known_environment.ts";
import { pathOf, readBase } from "./servers/base.ts";
import type { BaseSource } from "../image/image_labels.ts";
import type { Generated } from "./pipeline.ts";
import { apiOn, type Server } from "./servers/families/families.ts";
import { type EntryFinding, entryFindings } from "./stages/entry_findings.ts";
import { orphanedDefaults, orphanedEmbeddings, orphanedResources } from "./stages/orphaned_resources.ts";

/** A base config that is not the operator's own. */
interface GivenBase {
  readonly base: BaseSource;
  /** That of `spec.baseConfig`. */
  readonly isOwn: boolean;
  /** What was made of it. */
  readonly generated: Generated;
}

/** What the author wrote is not rolled out over a server that runs; what an image has runs in it already. */
export const baseFindings = (
  spec: Spec,
  server: Server,
  folders: DataFolders,
  { base, isOwn, generated }: GivenBase,
): { readonly failures: ReadonlyArray<RuleBroken>; readonly warnings: ReadonlyArray<Warning> } => {
  const tree = Result.getOrElse(readBase(base, server), () => ({}));
  const problems = entryProblems(spec, server, folders, tree, generated);
  const path = pathOf(base);
  const { fatal = [], others = [] } = Object.groupBy(problems, ({ isFatal }) => isFatal ? "fatal" : "others");
  const shown = fatal.slice(0, OWN_CONFIG_WARNINGS_MAX).map((problem) =>
    sentence(problem, "; the server does not start")
  );
  return {
    failures: isOwn ? shown.map((detail) => new RuleBroken({ path, detail })) : [],
    warnings: [
      ...(isOwn ? [] : shown.map((message) => warning("ConfigUnfit", path, message))),
      ...others.slice(0, OWN_CONFIG_WARNINGS_MAX).map((problem) => warning("UnknownSetting", path, sentence(problem))),
      ...(isOwn ? unreadSections(tree, spec) : []),
    ],
  };
};

const sentence = ({ path, message }: EntryFinding, end = ""): string =>
  onOneLine(`in the base config, ${formatPath(path)}: ${message}${end}`, OWN_CONFIG_MESSAGE_CHARACTERS_MAX);

/** What is wrong with its entries, unless the resource replaces or removes them. */
const entryProblems = (
  spec: Spec,
  server: Server,
  folders: DataFolders,
  tree: JsonObject,
  generated: Generated,
): ReadonlyArray<EntryFinding> => {
  const environment = knownEnvironment({ spec, server, folders }, generated.env);
  const valueOf = knownValues(environment, { spec });
  const known = { environment, valueOf };
  const replaced = new Set(
    PROVIDER_LISTS.flatMap(({ field, api }) =>
      (spec.providers?.[field] ?? []).map((provider) =>
        `${apiOn(server, api) ?? api} ${effectiveId(provider as unknown as Json)}`
      )
    ),
  );
  const isReplaced = (api: string, id: string | undefined) => replaced.has(`${api} ${id}`);
  return [
    ...entryFindings(
      tree,
      factsOf("", spec, server, folders),
      environment,
      valueOf,
      (api, id) => isReplaced(api, id) || entryOf(generated.tree, api, id ?? "") === undefined,
    ),
    ...orphanedResources(generated.tree, server, known),
    ...orphanedEmbeddings(generated.tree, server, known),
    ...orphanedDefaults(generated.tree, server, known),
  ];
};
