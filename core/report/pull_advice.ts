/** What may keep a node from pulling an image, beyond the message of its container runtime. */
import { unpublishedSince } from "../config/servers/distribution_table.ts";
import { imageName, namesRegistry, repositoryOf } from "../data/image_reference.ts";
import type { ClusterSnapshot } from "../snapshot/cluster_snapshot.ts";

/** The end of a message: causes that are known, else what to check. */
export const pullAdvice = ({ operator, missingPullSecrets = [] }: ClusterSnapshot, image: string): string => {
  const since = unpublishedSince(image, operator.surroundings.distributions);
  const causes = [
    ...(since === undefined ? [] : [
      `Nobody has published this image since ${since}: name a copy of it in image-overrides of the operator's settings or in ` +
      "spec.distribution.image, or choose another server (docs/upgrade.md)",
    ]),
    ...(namesRegistry(image) ? [] : [
      `The image names no registry, which nodes may require, such as those of OpenShift: write ${
        repositoryOf(imageName(image))
      } if it is on Docker Hub`,
    ]),
    ...(missingPullSecrets.length === 0 ? [] : [
      `Pull Secrets of the resource do not exist: ${missingPullSecrets.map((name) => `"${name}"`).join(", ")}`,
    ]),
  ];
  return causes.length > 0
    ? causes.join(". ")
    : "Check the image name, the registry and spec.workload.overrides.imagePullSecrets";
};
