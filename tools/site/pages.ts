/** The pages of the documentation, as the site orders them. Every file of docs/ is one of them; a test checks that. */

export type Section = readonly [title: string, pages: ReadonlyArray<readonly [title: string, file: string]>];

export const SECTIONS: ReadonlyArray<Section> = [
  ["Start", [
    ["Five minutes", "index.md"],
    ["From your config.yaml", "from-config.md"],
    ["Install", "install.md"],
    ["Helm", "helm.md"],
    ["OLM", "olm.md"],
    ["From the Go operator", "go-operator.md"],
  ]],
  ["Tasks", [
    ["Models", "models.md"],
    ["Documents (RAG)", "rag.md"],
    ["Tools and MCP", "tools.md"],
    ["Shields and stored resources", "resources.md"],
    ["Secrets", "secrets.md"],
    ["Storage", "storage.md"],
    ["Scaling", "scaling.md"],
    ["Authentication", "authentication.md"],
    ["TLS", "tls.md"],
    ["Expose a server", "expose.md"],
    ["Upgrade", "upgrade.md"],
    ["Metrics of servers", "monitoring.md"],
    ["Observe", "observability.md"],
    ["Troubleshooting", "troubleshooting.md"],
    ["Runbook", "runbook.md"],
    ["Air gap", "air-gap.md"],
    ["Images with their config", "image-labels.md"],
    ["External providers", "external-providers.md"],
    ["Backup", "backup.md"],
  ]],
  ["Reference", [
    ["API", "api.md"],
    ["Command line", "command-line.md"],
    ["Providers", "providers.md"],
    ["Conditions", "conditions.md"],
    ["Settings", "settings.md"],
    ["Webhooks", "webhooks.md"],
    ["Security", "security.md"],
    ["Promises", "promises.md"],
    ["Server versions", "compatibility.md"],
    ["Changes of server family", "moves.md"],
    ["From v1alpha1", "migration.md"],
    ["Releases and images", "releases.md"],
    ["Measurements", "measurements.md"],
  ]],
];

/** Folders of docs/ whose pages are for developers; the site has them, outside its navigation. */
export const UNLISTED: ReadonlyArray<string> = ["decisions"];
