/** The images of servers that an installation of the operator names: variables `RELATED_IMAGE_<NAME>` of its Deployment. */
import { type Json, listAt, stringAt } from "../data/json.ts";

const PREFIX = "RELATED_IMAGE_";

/** By variable name; an empty value names no image. */
export const relatedImagesAmong = (
  variables: ReadonlyArray<readonly [name: string, value: string]>,
): ReadonlyMap<string, string> => new Map(variables.filter(([name, value]) => name.startsWith(PREFIX) && value !== ""));

/** Of the operator's own Deployment, for a command that runs elsewhere. Values from other objects are left out. */
export const relatedImagesOf = (deployment: Json): ReadonlyMap<string, string> =>
  relatedImagesAmong(
    listAt(deployment, "spec", "template", "spec", "containers").flatMap((container) =>
      listAt(container, "env").map((variable) =>
        [stringAt(variable, "name") ?? "", stringAt(variable, "value") ?? ""] as const
      )
    ),
  );
