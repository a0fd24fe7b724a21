/** Objects that are as expensive to convert as the API server lets anybody make them, by their size. */
import type { Json, JsonObject } from "../../core/data/json.ts";

/** Bytes of all annotations of an object that the API server takes, and of an object; a little less, for what stands around. */
export const ANNOTATIONS_BYTES = 240 * 1024;
export const OBJECT_BYTES = 1_450_000;

const MAIN = "llamastack.io/conversion-leftovers";

/** As many entries as make a JSON text of about so many bytes. */
const filling = (bytes: number, make: (index: number) => Json): Array<Json> => {
  const made: Array<Json> = [];
  for (let [index, size] = [0, 0]; size < bytes; index++) {
    const entry = make(index);
    size += JSON.stringify(entry).length + 1;
    made.push(entry);
  }
  return made;
};

const wide = (bytes: number): JsonObject =>
  Object.fromEntries(filling(bytes, (index) => `k${index}: `).map((key) => [String(key).slice(0, -2), 1]));
const path = (length: number): Array<string> => ["spec", ...Array.from({ length }, () => "a")];

const objectOf = (version: "v1alpha1" | "v1alpha2", spec: JsonObject, annotations: JsonObject): JsonObject => ({
  apiVersion: `llamastack.io/${version}`,
  kind: "LlamaStackDistribution",
  metadata: { name: "bad", annotations },
  spec: { ...(version === "v1alpha2" ? { distribution: { name: "starter" } } : {}), ...spec },
});

/** An object of one version with these leftovers of the other one. */
const carrying = (
  of: "v1alpha1" | "v1alpha2",
  make: (index: number) => Json,
  annotationBytes: number,
  spec: JsonObject = {},
): JsonObject =>
  objectOf(of === "v1alpha1" ? "v1alpha2" : "v1alpha1", spec, {
    [MAIN]: JSON.stringify({ [of]: filling(annotationBytes, make) }),
  });

export interface ConversionShape {
  readonly name: string;
  /** `share` of the largest size. */
  readonly object: (share: number) => JsonObject;
}

export const CONVERSION_SHAPES: ReadonlyArray<ConversionShape> = [
  ...(["v1alpha1", "v1alpha2"] as const).flatMap((of): ReadonlyArray<ConversionShape> => {
    const bytes = (share: number) => ANNOTATIONS_BYTES * share;
    /** A place of that version that is open to leftovers. */
    const place = of === "v1alpha1" ? ["spec", "server"] : ["spec", "workload"];
    const shape = (name: string, object: (share: number) => JsonObject): ConversionShape => ({
      name: `leftovers of ${of}: ${name}`,
      object,
    });
    return [
      shape(
        "many fields of spec",
        (share) => carrying(of, (index) => ({ at: ["spec", `a${index}`], to: 1 }), bytes(share)),
      ),
      shape(
        "many fields of one block",
        (share) => carrying(of, (index) => ({ at: [...place, `a${index}`], to: 1 }), bytes(share)),
      ),
      shape("one field again and again", (share) => carrying(of, () => ({ at: ["spec", "a"], to: 1 }), bytes(share))),
      shape(
        "fields that come and go",
        (share) =>
          carrying(
            of,
            (index) => ({ at: ["spec", `a${index >> 1}`], ...(index % 2 === 0 ? { to: 1 } : {}) }),
            bytes(share),
          ),
      ),
      shape("fields beside many others", (share) =>
        carrying(
          of,
          (index) => ({ at: ["spec", `a${index}`], to: 1 }),
          bytes(share),
          wide((OBJECT_BYTES - ANNOTATIONS_BYTES) * share),
        )),
      shape(
        "each within the one before",
        (share) => carrying(of, (index) => ({ at: path(1 + index % 60), to: {} }), bytes(share)),
      ),
      shape(
        "fields of a large block of their own",
        (share) =>
          objectOf(of === "v1alpha1" ? "v1alpha2" : "v1alpha1", {}, {
            [MAIN]: JSON.stringify({
              [of]: [
                { at: ["spec", "a"], to: wide(bytes(share) / 2) },
                ...filling(bytes(share) / 2, (index) => ({ at: ["spec", "a", `b${index}`], to: 1 })),
              ],
            }),
          }),
      ),
      shape("one path of many steps", (share) =>
        objectOf(of === "v1alpha1" ? "v1alpha2" : "v1alpha1", {}, {
          [MAIN]: JSON.stringify({ [of]: [{ at: path(bytes(share) / 4), to: 1 }] }),
        })),
      shape("many paths of 60 steps", (share) => carrying(of, () => ({ at: path(60), to: 1 }), bytes(share))),
      shape("bound to thousands of values", (share) =>
        objectOf(of === "v1alpha1" ? "v1alpha2" : "v1alpha1", {}, {
          [MAIN]: JSON.stringify({
            [of]: [{
              at: ["spec", "a"],
              to: 1,
              while: Object.fromEntries(
                filling(bytes(share), (index) => `spec.a${index}`).map((key) => [String(key), null]),
              ),
            }],
          }),
        })),
      shape(
        "bound to a value of many steps",
        (share) =>
          carrying(of, () => ({ at: ["spec", "a"], to: 1, while: { ["a.".repeat(400)]: null } }), bytes(share)),
      ),
      shape("that were a large value", (share) =>
        carrying(
          of,
          () => ({ at: ["spec"], was: {}, to: {} }),
          bytes(share),
          wide((OBJECT_BYTES - ANNOTATIONS_BYTES) * share),
        )),
      shape("one annotation for each field", (share) =>
        objectOf(
          of === "v1alpha1" ? "v1alpha2" : "v1alpha1",
          {},
          Object.fromEntries(
            filling(bytes(share), (index) => `${of}.leftovers.llamastack.io/spec.a${index} {"to":1}`)
              .map((text) => String(text).split(" ") as [string, string]),
          ),
        )),
      shape("one annotation for each field, of the other version", (share) => {
        const other = of === "v1alpha1" ? "v1alpha2" : "v1alpha1";
        return objectOf(
          other,
          {},
          Object.fromEntries(
            filling(bytes(share), (index) => `${other}.leftovers.llamastack.io/spec.a${index} {"to":1}`)
              .map((text) => String(text).split(" ") as [string, string]),
          ),
        );
      }),
    ];
  }),
  {
    name: "settings of many values",
    object: (share) =>
      objectOf("v1alpha2", {
        providers: {
          inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1", settings: wide(OBJECT_BYTES * share) }],
        },
      }, {}),
  },
  {
    name: "many providers",
    object: (share) =>
      objectOf("v1alpha2", {
        providers: {
          inference: filling(
            OBJECT_BYTES * share,
            (index) => ({ id: `p${index}`, provider: "vllm", endpoint: "http://vllm:8000/v1" }),
          ),
        },
      }, {}),
  },
  {
    name: "many variables in v1alpha1",
    object: (share) =>
      objectOf("v1alpha1", {
        replicas: 1,
        server: {
          distribution: { name: "starter" },
          containerSpec: { env: filling(OBJECT_BYTES * share, (index) => ({ name: `V${index}`, value: "" })) },
        },
      }, {}),
  },
  {
    name: "many variables in v1alpha2",
    object: (share) =>
      objectOf("v1alpha2", {
        workload: {
          overrides: { env: filling(OBJECT_BYTES * share, (index) => ({ name: `V${index}`, value: "" })) },
        },
      }, {}),
  },
  ...(["v1alpha1", "v1alpha2"] as const).map((version): ConversionShape => ({
    name: `an object of ${version} with many fields of no version`,
    object: (share) => objectOf(version, wide(OBJECT_BYTES * share), {}),
  })),
  ...(["v1alpha1", "v1alpha2"] as const).map((version): ConversionShape => ({
    name: `an object of ${version} with many annotations of others`,
    object: (share) =>
      objectOf(
        version,
        wide(ANNOTATIONS_BYTES * share),
        Object.fromEntries(
          filling(ANNOTATIONS_BYTES * share, (index) => `a.example/k${index}`).map((key) => [String(key), ""]),
        ),
      ),
  })),
];
