/** The setting by which Argo CD knows the health of a resource. */
import { writeYaml } from "../../core/data/yaml.ts";
import { KIND } from "../../core/api/v1alpha2.ts";

/** A patch of the ConfigMap `argocd-cm`. */
export const argocdPatch = (script: string): string =>
  writeYaml({ data: { [`resource.customizations.health.llamastack.io_${KIND}`]: script } });
