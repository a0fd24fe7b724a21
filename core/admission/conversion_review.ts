/** `/convert`: a ConversionReview, answered. Never fails and never judges: a failure here would stop every list and delete. */
import { converted } from "../api/convert.ts";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../json.ts";

/** Objects come back in their order, each in the wanted version; what is no object comes back as it came. */
export const conversionAnswer = (review: Json): JsonObject => {
  const wanted = stringAt(review, "request", "desiredAPIVersion") ?? "";
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: {
      uid: stringAt(review, "request", "uid") ?? "",
      convertedObjects: listAt(review, "request", "objects").map((object) =>
        isObject(object) ? surely(object, wanted) : object
      ),
      result: { status: "Success" },
    },
  };
};

/** A defect of ours would stop every list of resources: then the one object comes back as it came, in name only. */
const surely = (object: JsonObject, wanted: string): JsonObject => {
  try {
    return converted(object, wanted);
  } catch {
    return { ...object, apiVersion: wanted };
  }
};
