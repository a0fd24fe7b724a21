/** What is known without settings, flags and a cluster. */
import { ALLOWANCES_DEFAULT } from "../operator/allowances.ts";
import { REGISTRIES_DEFAULT } from "../operator/registries.ts";
import type { Surroundings } from "./derive.ts";
import { NO_OVERRIDES } from "./servers/distribution.ts";
import { EMBEDDED_DISTRIBUTIONS } from "./servers/distributions.ts";

export const DEFAULT_SURROUNDINGS: Surroundings = {
  distributions: EMBEDDED_DISTRIBUTIONS,
  overrides: NO_OVERRIDES,
  allow: ALLOWANCES_DEFAULT,
  registries: REGISTRIES_DEFAULT,
};
