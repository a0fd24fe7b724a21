/** Providers of a config whose code is in a package that the image does not have. */
import { type JsonObject, objectAt, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import type { Spec } from "../../api/v1alpha2.ts";
import { entriesOf } from "../draft.ts";
import { type KnownEnvironment, stateOf } from "../known_environment.ts";
import { isStartedByAuthor } from "../source.ts";
import type { EntryFinding } from "./entry_findings.ts";

/** Whoever mounts a volume or starts the server may install it there. Source: get_external_providers_from_module in core/distribution.py. */
export const uninstalledModules = (
  config: JsonObject,
  environment: KnownEnvironment,
  { spec, isShipped }: {
    readonly spec: Spec;
    /** The image is the one that the operator ships for the distribution. */
    readonly isShipped: boolean;
  },
): ReadonlyArray<EntryFinding> =>
  !isShipped || isStartedByAuthor(spec) || (spec.workload?.overrides?.volumeMounts ?? []).length > 0
    ? []
    : Object.keys(objectAt(config, "providers")).flatMap((api) =>
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
