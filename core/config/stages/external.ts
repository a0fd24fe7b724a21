/** External providers. Rejected with a clear message until they are supported, never ignored. */
import { NotSupportedYet } from "../../failure/failures.ts";
import { type Stage, stage } from "../stage.ts";

export const addExternalProviders: Stage<NotSupportedYet> = stage((draft, { spec }) => ({
  draft,
  failures: Object.entries(spec.externalProviders ?? {}).filter(([, list]) => (list ?? []).length > 0).map(([api]) =>
    new NotSupportedYet({
      path: ["spec", "externalProviders", api],
      instead: "use an image that contains the provider (spec.distribution.image), or remove the field",
    })
  ),
}));
