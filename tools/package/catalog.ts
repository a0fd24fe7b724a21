/**
 * A file-based catalog: what a Subscription can install, and which version may be upgraded to which. A release appends its
 * bundles to the catalog of the last one, so that what was published before never changes.
 */
import { type Json, type JsonObject, listAt, objectAt, stringAt } from "../../core/data/json.ts";
import { CHANNEL } from "./olm_metadata.ts";

/** The annotation of a ClusterServiceVersion that says which versions it may replace, as a range. */
export const SKIP_RANGE = "olm.skipRange";

/** A bundle that is published. */
export interface PublishedBundle {
  /** Of the image that contains it; a release names it by digest. */
  readonly image: string;
  /** Everything below its folder `manifests`. */
  readonly manifests: ReadonlyArray<JsonObject>;
}

/** The blobs of the catalog with one bundle more, which becomes the head of its package's channel. */
export const withBundle = (catalog: ReadonlyArray<JsonObject>, bundle: PublishedBundle): ReadonlyArray<JsonObject> => {
  const csv = bundle.manifests.find(({ kind }) => kind === "ClusterServiceVersion");
  if (csv === undefined) throw new Error(`${bundle.image} has no ClusterServiceVersion`);
  const name = stringAt(csv, "metadata", "name") ?? "";
  const version = stringAt(csv, "spec", "version") ?? "";
  const packageName = name.slice(0, -`.v${version}`.length);
  const [ours, others] = [
    catalog.filter((blob) => isOf(blob, packageName)),
    catalog.filter((blob) => !isOf(blob, packageName)),
  ];
  if (ours.some((blob) => blob.schema === "olm.bundle" && blob.name === name)) {
    throw new Error(`${name} is in the catalog already, and a version is published only once`);
  }
  const entries = ours.filter(({ schema }) => schema === "olm.channel").flatMap((channel) =>
    listAt(channel, "entries")
  );
  const last = stringAt(entries.at(-1), "name");
  const skipRange = stringAt(csv, "metadata", "annotations", SKIP_RANGE);
  return [
    ...others,
    packageBlob(packageName, csv),
    {
      schema: "olm.channel",
      package: packageName,
      name: CHANNEL,
      entries: [
        ...entries,
        {
          name,
          ...(last === undefined ? {} : { replaces: last }),
          ...(skipRange === undefined ? {} : { skipRange }),
        },
      ],
    },
    ...ours.filter(({ schema }) => schema !== "olm.package" && schema !== "olm.channel"),
    bundleBlob(name, packageName, version, csv, bundle),
  ];
};

/** As `opm` reads it: one JSON document after the other. */
export const catalogText = (catalog: ReadonlyArray<JsonObject>): string =>
  catalog.map((blob) => `${JSON.stringify(blob, null, 2)}\n`).join("");

/** The blobs of such a text. */
export const readCatalog = (text: string): ReadonlyArray<JsonObject> =>
  // Only a blob as a whole begins with a brace at the beginning of a line.
  text.split(/^(?=\{)/m).filter((blob) => blob !== "").map((blob): JsonObject => JSON.parse(blob));

const isOf = (blob: JsonObject, packageName: string): boolean =>
  (blob.schema === "olm.package" ? blob.name : blob.package) === packageName;

const packageBlob = (name: string, csv: JsonObject): JsonObject => {
  const [icon] = listAt(csv, "spec", "icon");
  return {
    schema: "olm.package",
    name,
    defaultChannel: CHANNEL,
    description: stringAt(csv, "spec", "description") ?? "",
    ...(icon === undefined ? {} : { icon }),
  };
};

const bundleBlob = (
  name: string,
  packageName: string,
  version: string,
  csv: JsonObject,
  { image, manifests }: PublishedBundle,
): JsonObject => ({
  schema: "olm.bundle",
  name,
  package: packageName,
  image,
  properties: [
    { type: "olm.package", value: { packageName, version } },
    ...manifests.filter(({ kind }) => kind === "CustomResourceDefinition").flatMap(kindsOf)
      .map((value) => ({ type: "olm.gvk", value })),
    { type: "olm.csv.metadata", value: shown(csv) },
  ],
  relatedImages: [{ name: "", image }, ...listAt(csv, "spec", "relatedImages")],
});

/** Versions that are not served too, as `opm` does. */
const kindsOf = (definition: JsonObject): ReadonlyArray<JsonObject> => {
  const group = stringAt(definition, "spec", "group") ?? "";
  const kind = stringAt(definition, "spec", "names", "kind") ?? "";
  return listAt(definition, "spec", "versions")
    .map((version) => ({ group, kind, version: stringAt(version, "name") ?? "" }));
};

/** What consoles show before anything is installed. The bundle itself is unpacked from its image. */
const shown = (csv: JsonObject): JsonObject => {
  const spec = objectAt(csv, "spec");
  const fields: ReadonlyArray<readonly [string, Json | undefined]> = [
    ["annotations", objectAt(csv, "metadata", "annotations")],
    ["labels", objectAt(csv, "metadata", "labels")],
    ["apiServiceDefinitions", {}],
    ["crdDescriptions", spec.customresourcedefinitions],
    ...SHOWN.map((field) => [field, spec[field]] as const),
  ];
  return Object.fromEntries(fields.filter((field): field is [string, Json] => field[1] !== undefined));
};

const SHOWN = [
  "description",
  "displayName",
  "installModes",
  "keywords",
  "links",
  "maintainers",
  "maturity",
  "minKubeVersion",
  "provider",
];
