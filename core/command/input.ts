/** Input of the commands: manifest files with one or more documents, of which only LlamaStackDistributions are used. */
import * as Result from "effect/Result";
import { type DecodeFailure, decodeResource, identityFindings, type Resource } from "../api/decode.ts";
import { inV1alpha1Paths, v1alpha1Path } from "../api/convert/v1alpha1_paths.ts";
import { readV1alpha1 } from "../api/read_v1alpha1.ts";
import { withoutNulls } from "../api/nulls.ts";
import { documentHint, shapedFor } from "../api/hints.ts";
import { expandShorthand } from "../api/shorthand.ts";
import { V1ALPHA1 } from "../api/v1alpha1.ts";
import { API_VERSION, GROUP, KIND } from "../api/v1alpha2.ts";
import { SchemaMismatch } from "../failure/failures.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { NAMESPACE_DEFAULT } from "../data/namespace.ts";
import { configMapsOf } from "../plan/given_config_maps.ts";
import { type ConfigMaps, contentOf } from "../config/config_map_content.ts";
import { shortWord } from "../data/printable.ts";
import { type Rejection, rejection } from "../failure/rejection.ts";
import { type Warning, warning } from "../failure/warning.ts";
import { unusedWarnings } from "../api/change_rules.ts";
import { readManifests } from "../data/yaml.ts";
import { type Place, placesIn } from "../data/yaml_places.ts";

/** One file, or standard input under the name `-`. */
export interface InputFile {
  readonly name: string;
  readonly text: string;
}

/** One document of kind LlamaStackDistribution, decoded or with all of its errors. */
export interface InputResource {
  /** File and resource for messages, e.g. `samples/vllm.yaml: my-llama`. */
  readonly label: string;
  readonly file: string;
  /** As it was written, the early shorthand in its list form. */
  readonly document: Json;
  /** The same in v1alpha2. */
  readonly current: Json;
  /** From `current`, or why it could not be converted. */
  readonly resource: Result.Result<Resource, Rejection<DecodeFailure>>;
  readonly warnings: ReadonlyArray<Warning>;
  /** True if it was written in v1alpha1 and could be converted. */
  readonly isConverted: boolean;
  /** Those beside it: of two with one name, the one in its own file, else the last. */
  readonly configMaps: ConfigMaps;
  /** A failure or warning, with the field paths of the version that the author wrote. */
  readonly located: (finding: Located) => Shown;
}

export interface Located {
  readonly path: FieldPath;
  readonly message: string;
}

export interface Shown {
  readonly path: string;
  readonly message: string;
  /** In the file; undefined for a file that cannot be read. */
  readonly place: Place | undefined;
}

export interface Inputs {
  /** Every document in its order; `other` is one of another kind. */
  readonly documents: ReadonlyArray<InputResource | { readonly other: Json }>;
  readonly resources: ReadonlyArray<InputResource>;
  /** Remarks on documents of other kinds, which are ignored. */
  readonly skipped: ReadonlyArray<string>;
  /** Lines about documents of v1alpha1. */
  readonly converted: ReadonlyArray<string>;
  /** That there is no resource, where there is none. */
  readonly none: ReadonlyArray<string>;
}

export const readInputs = (files: ReadonlyArray<InputFile>): Inputs => {
  const parts = files.map(readFile);
  const read = withDuplicates(parts.flatMap((part) => part.documents));
  const named = new Set(read.flatMap((item) => "label" in item ? namedConfigMaps(item) : []));
  const others = parts.flatMap((part) => part.others);
  const maps = others.flatMap(({ file, document }) => {
    const id = configMapId(document) ?? "";
    return named.has(id) ? [{ file, id, content: contentOf(document) }] : [];
  });
  const besides = (file: string): ConfigMaps =>
    new Map([...maps, ...maps.filter((map) => map.file === file)].map(({ id, content }) => [id, content]));
  const documents = read.map((item) => "label" in item ? { ...item, configMaps: besides(item.file) } : item);
  const resources = documents.filter((item) => "label" in item);
  return {
    documents,
    resources,
    skipped: [
      ...parts.flatMap(({ skipped }) => skipped),
      ...others.filter(({ document }) => !named.has(configMapId(document) ?? ""))
        .map(({ file, document }) =>
          `${file}: ${shortWord(stringAt(document, "kind") ?? "a document without kind")} ignored`
        ),
    ],
    converted: parts.flatMap(({ converted }) => converted),
    none: resources.length > 0 ? [] : [`no LlamaStackDistribution in ${files.map(({ name }) => name).join(", ")}`],
  };
};

/** `namespace/name`; undefined for other kinds. */
const configMapId = (document: Json): string | undefined => {
  const name = stringAt(document, "kind") === "ConfigMap" ? stringAt(document, "metadata", "name") : undefined;
  return name === undefined ? undefined : `${stringAt(document, "metadata", "namespace") ?? NAMESPACE_DEFAULT}/${name}`;
};

/** Why a document cannot be compared with a cluster; undefined if it can. */
export const notComparable = (document: JsonObject): string | undefined =>
  stringAt(document, "metadata", "name") === undefined
    ? "metadata.name: required field is missing; a name that is made of generateName exists only after kubectl create"
    : undefined;

const namedConfigMaps = ({ resource }: InputResource): ReadonlyArray<string> =>
  Result.isFailure(resource) ? [] : configMapsOf(resource.success);

/** Of two resources with one name, `kubectl apply` keeps the last one; the second one has a warning. */
const withDuplicates = (documents: Inputs["documents"]): Inputs["documents"] => {
  const seen = new Map<string, string>();
  return documents.map((item) => {
    const name = "label" in item ? stringAt(item.current, "metadata", "name") : undefined;
    if (!("label" in item) || name === undefined) return item;
    const key = `${stringAt(item.current, "metadata", "namespace") ?? ""}/${name}`;
    const first = seen.get(key);
    seen.set(key, item.label);
    const message = `the same name and namespace as ${first}, which it replaces when applied; rename one of them`;
    return first === undefined
      ? item
      : { ...item, warnings: [...item.warnings, warning("DuplicateResource", ["metadata", "name"], message)] };
  });
};

/** What one file contains. */
interface Part extends Pick<Inputs, "documents" | "skipped" | "converted"> {
  /** Documents of other kinds. */
  readonly others: ReadonlyArray<{ readonly file: string; readonly document: Json }>;
}

const readFile = ({ name, text }: InputFile): Part => {
  const documents = readManifests(text);
  if (Result.isFailure(documents)) {
    const failure = new SchemaMismatch({
      path: [],
      // Actions of a template: `{{ .Values.name }}`, `{{- if … }}`.
      detail: /\{\{-?\s*[a-z.$/]/.test(text)
        ? "a Helm template; check what `helm template` prints"
        : documents.failure.message,
    });
    const unreadable: InputResource = {
      label: name,
      file: name,
      document: null,
      current: null,
      resource: Result.fail(rejection(failure)),
      warnings: [],
      configMaps: new Map(),
      isConverted: false,
      located: ({ path, message }) => ({ path: formatPath(path), message, place: undefined }),
    };
    return {
      documents: [unreadable],
      others: [],
      skipped: [],
      converted: [],
    };
  }
  const all = documents.success.flatMap((document, index): ReadonlyArray<Found> =>
    stringAt(document, "kind") === "List"
      ? listAt(document, "items").map((item, at) => ({ document: item, root: [index, "items", at] }))
      : [{ document, root: [index] }]
  );
  const foreign = all.filter(({ document }) => !isOurs(document));
  const placeOf = placesIn(text);
  const labelOf = (document: Json) => {
    const metadata = (field: string) => {
      const text = stringAt(document, "metadata", field);
      return text === undefined ? undefined : shortWord(text);
    };
    const [namespace, prefix] = [metadata("namespace"), metadata("generateName")];
    const own = metadata("name") ?? (prefix === undefined ? "(no name)" : `${prefix}…`);
    return `${name}: ${namespace === undefined ? own : `${namespace}/${own}`}`;
  };
  const read = all.map(({ document, root }) =>
    isOurs(document)
      ? inputOf({ file: name, label: labelOf(document) }, document, (path) => placeOf([...root, ...path]))
      : { other: document }
  );
  return {
    documents: read,
    others: text.trim() === "" ? [] : foreign.map(({ document }) => ({ file: name, document })),
    skipped: text.trim() === "" ? [`${name}: the file is empty`] : [],
    converted: read.flatMap((item) =>
      "label" in item && item.isConverted
        ? [
          `${item.label}: ${V1ALPHA1} was converted to ${API_VERSION}; ` +
          `\`llama-stack-operator convert -f FILE\` prints the file in that version`,
        ]
        : []
    ),
  };
};

/** One document, or one item of a List; `root` leads to it from the beginning of its file. */
interface Found {
  readonly document: Json;
  readonly root: FieldPath;
}

const inputOf = (
  place: { readonly file: string; readonly label: string },
  written: Json,
  placeOf: (path: FieldPath) => Place,
): InputResource => {
  const { resource: expanded, warnings } = expandShorthand(written);
  const document = withoutNulls(expanded);
  const wrongVersion = versionFinding(document);
  // The fields are judged as well, in the version that they are of.
  const meant = wrongVersion.length > 0 && isObject(document)
    ? { ...document, apiVersion: shapedFor(document) }
    : document;
  const old = readV1alpha1(meant);
  const failed = old !== undefined && old.failures.length > 0;
  const resource: Result.Result<Resource, ReadonlyArray<DecodeFailure>> = failed
    ? Result.fail(old.failures)
    : decodeResource(old?.resource ?? meant, "strict");
  // Failures of the schema of v1alpha1 have its paths already.
  const inOldPaths = new Set<Located>([...old?.failures ?? [], ...wrongVersion]);
  return {
    ...place,
    document,
    current: old?.resource ?? meant,
    resource: wrongVersion.length > 0
      ? Result.fail(rejection(...wrongVersion, ...(Result.isFailure(resource) ? resource.failure : [])))
      : Result.mapError(resource, (failures) => rejection(...failures)),
    configMaps: new Map(),
    warnings: old === undefined ? warnings : [...warnings, ...unusedWarnings(document)],
    isConverted: old !== undefined && !failed,
    located: (finding) => {
      const isOwn = old === undefined || inOldPaths.has(finding);
      const path = isOwn ? finding.path : v1alpha1Path(finding.path);
      const message = isOwn ? finding.message : inV1alpha1Paths(finding.message);
      return { path: formatPath(path), message, place: placeOf(path) };
    },
  };
};

/** Of a document of this kind whose version the operator does not have. */
const versionFinding = (document: Json): ReadonlyArray<DecodeFailure> =>
  stringAt(document, "kind") !== KIND || stringAt(document, "apiVersion") === V1ALPHA1
    ? []
    : identityFindings(document).filter(({ path }) => path[0] === "apiVersion");

/** Matches by kind or by group, so that a typo in one of the two is reported and not skipped; also what was written for another operator. */
const isOurs = (document: Json): boolean =>
  documentHint(document) !== undefined || stringAt(document, "kind") === KIND ||
  (stringAt(document, "apiVersion") ?? "").startsWith(`${GROUP}/`);
