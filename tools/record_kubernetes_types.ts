/**
 * Writes core/api/kubernetes_types.json: the schemas of the Kubernetes types that our API embeds, as a real API server
 * publishes them, in the form that a CRD may hold. With --check nothing is written; 1 when the file is stale.
 */
import { dirname, join } from "node:path";
import { startControlPlane } from "./cluster/control_plane.ts";
import type { StructuralSchema } from "../core/api/structural_check.ts";

/** Each type that `core/api` embeds, everything it refers to written out in place: a CRD has no references. */
export const structuralTypes = (published: PublishedSchemas): Record<string, StructuralSchema> =>
  Object.fromEntries(EMBEDDED_TYPES.map((name) => [name, inlined(published, CORE + name)]));

const EMBEDDED_TYPES = [
  "Affinity",
  "EnvFromSource",
  "EnvVar",
  "LocalObjectReference",
  "PodResourceClaim",
  "PodSecurityContext",
  "ResourceRequirements",
  "SecurityContext",
  "Toleration",
  "TopologySpreadConstraint",
  "Volume",
  "VolumeMount",
];

const FILE = join(import.meta.dirname ?? ".", "..", "core", "api", "kubernetes_types.json");

const CORE = "io.k8s.api.core.v1.";
const MACHINERY = "io.k8s.apimachinery.pkg.";

type PublishedSchemas = Readonly<Record<string, PublishedSchema>>;

interface PublishedSchema {
  readonly $ref?: string;
  readonly allOf?: readonly PublishedSchema[];
  readonly items?: PublishedSchema;
  readonly properties?: Readonly<Record<string, PublishedSchema>>;
  readonly additionalProperties?: PublishedSchema;
  readonly required?: readonly string[];
  readonly [key: string]: unknown;
}

const intOrString = (pattern?: string): StructuralSchema => ({
  anyOf: [{ type: "integer" }, { type: "string" }],
  ...(pattern === undefined ? {} : { pattern }),
  "x-kubernetes-int-or-string": true,
});

const text: StructuralSchema = { type: "string" };

/** Written by hand, because what is published is looser or not structural. */
const BY_HAND: Readonly<Record<string, StructuralSchema>> = {
  [`${MACHINERY}util.intstr.IntOrString`]: intOrString(),
  // The pattern that CRDs made by controller-gen have for a quantity.
  [`${MACHINERY}api.resource.Quantity`]: intOrString(
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  ),
  // Reached only through the claim template of an ephemeral volume, where Kubernetes allows these two alone.
  [`${MACHINERY}apis.meta.v1.ObjectMeta`]: {
    type: "object",
    properties: {
      annotations: { type: "object", description: "Annotations of the claim.", additionalProperties: text },
      labels: { type: "object", description: "Labels of the claim.", additionalProperties: text },
    },
  },
};

/** Enums that leave out the empty word, although the API server (1.36.3) takes it for "not given" in a pod. */
const MAY_BE_EMPTY: Readonly<Record<string, readonly string[]>> = {
  [`${CORE}Toleration`]: ["effect", "operator"],
  [`${CORE}ImageVolumeSource`]: ["pullPolicy"],
};

const KEPT = [
  "type",
  "format",
  "pattern",
  "enum",
  "nullable",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
] as const;

/** Defaults go, because the Deployment gets its own from the API server; the rest CRDs do not know. */
const LEFT_OUT = new Set([
  "description", // Its first sentence is kept.
  "default",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-unions",
]);

const inlined = (published: PublishedSchemas, name: string): StructuralSchema => {
  const byHand = BY_HAND[name];
  if (byHand !== undefined) return byHand;
  const schema = published[name];
  if (schema === undefined) throw new Error(`The API server publishes no schema named ${name}`);
  const result = structural(schema, (reference) => inlined(published, reference));
  const properties = { ...result.properties };
  for (const field of MAY_BE_EMPTY[name] ?? []) {
    const { enum: words, ...rest } = properties[field] ?? {};
    if (words === undefined) throw new Error(`${name} has no enum at ${field} any more`);
    properties[field] = { ...rest, enum: ["", ...words] };
  }
  return result.properties === undefined ? result : { ...result, properties };
};

const structural = (
  { $ref, allOf, items, properties, additionalProperties, ...rest }: PublishedSchema,
  resolve: (name: string) => StructuralSchema,
): StructuralSchema => {
  const into: Record<string, unknown> = {};
  const sentence = typeof rest.description === "string" ? firstSentence(rest.description) : undefined;
  const referred = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
  if (referred !== undefined) Object.assign(into, resolve(referred.slice(referred.lastIndexOf("/") + 1)));
  else if (allOf !== undefined) throw new Error(`allOf of more than a reference: ${JSON.stringify(allOf)}`);
  // What a field says of itself, and not what its type says.
  if (sentence !== undefined) into["description"] = sentence;
  for (const key of KEPT) if (rest[key] !== undefined) into[key] = rest[key];
  for (const key of Object.keys(rest)) {
    if (!LEFT_OUT.has(key) && !KEPT.some((kept) => kept === key)) throw new Error(`No rule for the schema key ${key}`);
  }
  if (items !== undefined) into["items"] = structural(items, resolve);
  if (additionalProperties !== undefined) into["additionalProperties"] = structural(additionalProperties, resolve);
  if (properties !== undefined) {
    const names = Object.keys(properties).sort();
    into["properties"] = Object.fromEntries(
      names.map((name) => [name, structural(properties[name] ?? {}, resolve)]),
    );
  }
  return withServableListType(into);
};

/** One line for `kubectl explain`; undefined for an empty text. */
const firstSentence = (description: string): string | undefined => {
  const line = description.trim().replaceAll(/\s+/g, " ").replace(/^(Required|Optional)[.:] (?=.)/, "")
    .replace(/ (Possible enum values:|More info:|[-*] |Defaults to ").*$/, "");
  const end = /^.*?(?<!\b(?:e\.g|i\.e|etc))[.:](?= [A-Z"*]|$)/.exec(line)?.[0] ?? line;
  return end === "" ? undefined : end.replace(/:$/, ".");
};

/**
 * A CRD refuses a map list whose keys an item may leave out, unless the key has a default, and defaults are gone here.
 * Such a list becomes atomic, as it is for a client that does not know the type. None of today's types has one.
 */
const withServableListType = (schema: StructuralSchema): StructuralSchema => {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (!Array.isArray(keys) || keys.every((key) => schema.items?.required?.includes(key))) return schema;
  const { "x-kubernetes-list-map-keys": _, ...rest } = schema;
  return { ...rest, "x-kubernetes-list-type": "atomic" };
};

const readPublished = async (): Promise<{ readonly version: string; readonly schemas: PublishedSchemas }> => {
  const controlPlane = await startControlPlane();
  try {
    const { gitVersion } = await (await controlPlane.fetch("/version")).json() as { gitVersion: string };
    const document = await (await controlPlane.fetch("/openapi/v3/api/v1")).json() as {
      components: { schemas: PublishedSchemas };
    };
    return { version: gitVersion.replace(/^v/, ""), schemas: document.components.schemas };
  } finally {
    await controlPlane.stop();
  }
};

const record = async (check: boolean): Promise<number> => {
  const { version, schemas } = await readPublished();
  const types = structuralTypes(schemas);
  const wanted = JSON.stringify({ $origin: { kubernetes: version }, ...types }) + "\n";
  if (check) {
    const committed = await Deno.readTextFile(FILE).catch(() => "");
    if (committed === wanted) return 0;
    console.error(`${FILE} is not what Kubernetes ${version} publishes: run tools/record_kubernetes_types.ts`);
    return 1;
  }
  await Deno.mkdir(dirname(FILE), { recursive: true });
  await Deno.writeTextFile(FILE, wanted);
  for (const [name, schema] of Object.entries(types)) console.log(`${JSON.stringify(schema).length}\t${name}`);
  console.log(`${wanted.length}\tall`);
  return 0;
};

if (import.meta.main) Deno.exit(await record(Deno.args.includes("--check")));
