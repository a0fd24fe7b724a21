/** START HERE: what an installation consists of, in the order in which it is applied. */
import type { JsonObject } from "../../core/data/json.ts";
import { certManagerObjects, definition, webhookConfiguration } from "./admission.ts";
import type { Choices } from "./choices.ts";
import { permissionsFor } from "./permissions.ts";
import { networkPolicy } from "./network_policy.ts";
import { deployment, disruptionBudget, metricsService, namespace, serviceAccount, webhookService } from "./program.ts";
import { roles } from "./roles.ts";

export const installation = (choices: Choices): ReadonlyArray<JsonObject> => [
  namespace(),
  definition(choices),
  serviceAccount(),
  ...roles(choices.watched, permissionsFor(choices)),
  metricsService(),
  ...(choices.webhooks ? [webhookService(choices)] : []),
  ...(choices.webhooks && choices.certificates === "cert-manager" ? certManagerObjects() : []),
  networkPolicy(choices),
  disruptionBudget(),
  deployment(choices),
  // Last: until the operator answers, admission would only make every write wait.
  ...(choices.webhooks ? [webhookConfiguration(choices)] : []),
];
