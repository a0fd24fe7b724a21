/** Settings that restrict what authors of resources may do, and the typing errors that people make in them. */
export const RESTRICTIONS = {
  featureFlags: "enableNetworkPolicy: {enabled: true}",
  "allow.ingressHosts": '["*.apps.example.com"]',
  "allow.serviceAccounts": '["llama-*"]',
};

/** In YAML, an unquoted star begins an alias. */
export const TYPOS = {
  featureFlags: "enableNetworkPolicy: {enabled: maybe}",
  "allow.ingressHosts": "[*.apps.example.com]",
  "allow.serviceAccounts": "[*llama]",
};
