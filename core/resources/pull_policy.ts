/** When the image of a container is pulled. */
import { type PullPolicy, pullPolicyDefault } from "../data/image_reference.ts";

/** Without the policy that Kubernetes chooses for the image anyway: who writes it has not changed the pod. */
export const pulled = (
  image: string,
  policy: PullPolicy | undefined,
): { readonly imagePullPolicy?: PullPolicy } =>
  policy === undefined || policy === pullPolicyDefault(image) ? {} : { imagePullPolicy: policy };
