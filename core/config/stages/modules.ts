/** Providers of a config whose code is in a package or a folder that the image does not have. */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import { entriesOf } from "../draft.ts";
import { type KnownVariables, readValue, stateOf } from "../known_environment.ts";
import { isStartedByAuthor } from "../source.ts";
import type { EntryFinding } from "./entry_findings.ts";

/**
 * Whoever mounts a volume or starts the server may install it there. Source: get_external_providers_from_module and
 * get_external_providers_from_dir in core/distribution.py.
 */
export const uninstalledProviders = (
  config: JsonObject,
  { environment, valueOf }: KnownVariables,
  { spec, isShipped }: {
    readonly spec: Spec;
    /** The image is the one that the operator ships for the distribution. */
    readonly isShipped: boolean;
  },
): ReadonlyArray<EntryFinding> =>
  !isShipped || isStartedByAuthor(spec) || (spec.workload?.overrides?.volumeMounts ?? []).length > 0
    ? []
    : [...absentFolder(config, valueOf), ...absentModules(config, environment, spec)];

const absentFolder = (config: JsonObject, valueOf: KnownVariables["valueOf"]): ReadonlyArray<EntryFinding> => {
  const text = stringAt(config, "external_providers_dir") ?? "";
  const folder = readValue(text, valueOf);
  return typeof folder !== "string" || folder === "" || /^[/~][^/]*$/.test(folder) ? [] : [{
    path: ["external_providers_dir"],
    message:
      `the published image does not have the folder ${quoted(folder)}, and the server does not start without it; ` +
      "remove it and install providers with spec.externalProviders, or mount the folder with " +
      "spec.workload.overrides.volumes and volumeMounts",
    isFatal: false,
    code: "FileNotMounted",
  }];
};

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
