/** docs/migration.md: where each field of v1alpha1 stands in v1alpha2, from the table that converts them. */
import { lines } from "../../core/command/outcome.ts";
import { FIELD_PAIRS } from "../../core/api/convert/spec.ts";

/** Converted by code of their own. */
const FURTHER: ReadonlyArray<readonly [old: string, now: string, note: string]> = [
  ["spec.network.exposeRoute", "spec.networking.expose", "`true` becomes `{}`; `false` is left out"],
  ["spec.network.allowedFrom", "spec.networking.allowedFrom", "empty names are left out"],
];

/** Fields that v1alpha2 lacks: kept in an annotation, so that a way back restores them. */
const LEFT: ReadonlyArray<readonly [old: string, note: string]> = [
  ["spec.server.containerSpec.name", "the container is always called `llama-stack`"],
  ["spec.server.userConfig.configMapNamespace", "the ConfigMap is read from the namespace of the resource"],
];

const row = (old: string, now: string, note = ""): string => `| \`${old}\` | \`${now}\` | ${note} |`;

export const migrationPage = (): string =>
  lines([
    "<!-- Made by deno task gen from core/api/convert/spec.ts; do not edit. -->",
    "",
    "# From v1alpha1 to v1alpha2",
    "",
    "To rewrite manifests, run `llama-stack-operator convert -f old.yaml > new.yaml`. Stored resources need no rewrite: the",
    "API server converts them, in both directions and without loss.",
    "",
    "| v1alpha1 | v1alpha2 | |",
    "| --- | --- | --- |",
    ...[
      ...FIELD_PAIRS.map(({ old, now }) => row(`spec.${old.join(".")}`, `spec.${now.join(".")}`)),
      ...FURTHER.map(([old, now, note]) => row(old, now, note)),
    ].sort(),
    "",
    "These have no place in v1alpha2. An annotation keeps them for the way back:",
    "",
    "| v1alpha1 | what the operator does |",
    "| --- | --- |",
    ...LEFT.map(([old, note]) => `| \`${old}\` | ${note} |`),
  ]);
