/** Who publishes and where: what a fork or a release changes. Everything here is shown to people and read by no program. */
export const PUBLISHER = {
  displayName: "Llama Stack Operator",
  provider: "Llama Stack operator authors",
  maintainer: { name: "Llama Stack operator authors", email: "maintainers@llama-stack-operator.example" },
  homepage: "https://llama-stack-operator.example",
  /** Of the release, RFC 3339; not the time of a build, so that two builds are equal. */
  createdAt: "2026-11-21T00:00:00Z",
} as const;
