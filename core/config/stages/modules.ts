/** Providers of a config whose code is in a package or a folder that the image does not have. */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import { entriesOf, type Facts } from "../draft.ts";
import { type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { deniedFolder } from "../mounted_files.ts";
import { isOlderMinor } from "../servers/families/families.ts";
import { isStartedByAuthor } from "../source.ts";
import type { EntryFinding } from "./entry_findings.ts";

/**
 * Whoever mounts a volume or starts the server may install it there. Source: get_external_providers_from_module and
 * get_external_providers_from_dir in core/distribution.py.
 */
export const uninstalledProviders = (
  config: JsonObject,
  { environment, valueOf }: KnownVariables,
  { spec, server, folders, isShipped }: Pick<Facts, "spec" | "server" | "folders"> & {
    /** The image is the one that the operator ships for the distribution. */
    readonly isShipped: boolean;
  },
): ReadonlyArray<EntryFinding> =>
  !isShipped || isStartedByAuthor(spec) || (spec.workload?.overrides?.volumeMounts ?? []).length > 0
    ? []
    : [...absentFolder(config, valueOf, { spec, server, folders }), ...absentModules(config, environment, spec)];

const absentFolder = (
  config: JsonObject,
  valueOf: KnownVariables["valueOf"],
  facts: Pick<Facts, "spec" | "server" | "folders">,
): ReadonlyArray<EntryFinding> => {
  const text = stringAt(config, "external_providers_dir") ?? "";
  const folder = readValue(text, valueOf);
  if (typeof folder === "string" && isMade(text, folder, facts)) return [];
  return typeof folder !== "string" || folder === "" || OF_EVERY_IMAGE.test(folder) ? [] : [{
    path: ["external_providers_dir"],
    message:
      `the published image does not have the folder ${quoted(folder)}, and the server does not start without it; ` +
      "remove it and install providers with spec.externalProviders, or mount the folder with " +
      "spec.workload.overrides.volumes and volumeMounts",
    isFatal: false,
    code: "FileNotMounted",
  }];
};

const OF_EVERY_IMAGE =
  /^(~|[/](bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)?)[/]*$/;

/** The command line of 0.2 makes it, by the name that it has before the home folder is expanded. Source: cli/stack/run.py. */
const isMade = (text: string, folder: string, facts: Pick<Facts, "spec" | "server" | "folders">): boolean =>
  isOlderMinor(facts.server.version, "0.3") && !text.startsWith("~") && deniedFolder(folder, facts) === undefined;

const absentModules = (
  config: JsonObject,
  environment: KnownVariables["environment"],
  spec: Spec,
): ReadonlyArray<EntryFinding> =>
  Object.keys(objectAt(config, "providers")).flatMap((api) =>
    entriesOf(config, api).flatMap((entry, index): ReadonlyArray<EntryFinding> => {
      const module = stringAt(entry, "module");
      return module === undefined || stateOf(entry, environment) !== "On" ? [] : [{
        path: ["providers", api, index, "module"],
        message: `the published image does not have ${quoted(module)}, and the server does not start without it; ${
          spec.overrideConfig === undefined
            ? "remove the entry and install the provider with spec.externalProviders, or use an image that has it"
            : "use an image that has it, or spec.baseConfig without the entry, with spec.externalProviders"
        }`,
        isFatal: false,
        code: "ConfigUnfit",
      }];
    })
  );
