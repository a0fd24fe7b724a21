/** What catalogues and consoles show of the bundles. */
import type { JsonObject } from "../../core/data/json.ts";

/** The oldest version with selectable fields in a CustomResourceDefinition; the oldest on which the tests run. */
export const MIN_KUBERNETES = "1.32.0";

export const FEATURES: JsonObject = Object.fromEntries(
  Object.entries({
    disconnected: true,
    "fips-compliant": false,
    "proxy-aware": false,
    "tls-profiles": false,
    "token-auth-aws": false,
    "token-auth-azure": false,
    "token-auth-gcp": false,
    cnf: false,
    cni: false,
    csi: false,
  }).map(([name, has]) => [`features.operators.openshift.io/${name}`, String(has)]),
);

export const DESCRIPTION =
  `A short \`LlamaStackDistribution\` becomes a running, correctly configured Llama Stack or OGX server: its
\`config.yaml\`, Deployment, Service, storage, TLS and network rules. An invalid edit never affects the running server.

* Named distributions, or any image of your own
* Providers, models, tools and shields as fields, checked before the server starts
* Secrets stay references; a rotated key restarts the pods once
* SQLite, PostgreSQL and Redis; TLS; autoscaling; Ingress and Route
* \`explain\` says in plain words why a server is not ready`;

/** Two layers of a stack under a plain hexagon; drawn for this project. */
export const ICON = btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path fill="#3949ab" d="M32 3 57 17.500v29L32 61 7 46.500v-29z"/>' +
    '<path fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" d="m17 27 15-8 15 8-15 8zM17 37l15 8 15-8"/></svg>',
);
