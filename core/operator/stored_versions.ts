/** Which versions of the resource the database may still hold, and whether they can be left behind. */
import { CRD_NAME } from "../api/crd.ts";
import { isObject, isSameValue, type JsonObject, listAt, put, stringAt } from "../data/json.ts";

export const CRD_PATH = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;

/** The version in which the API server writes now. */
const storageVersion = (crd: JsonObject): string | undefined =>
  stringAt(listAt(crd, "spec", "versions").filter(isObject).find(({ storage }) => storage === true) ?? null, "name");

/** Former storage versions; resources that were not written since are stored in them. */
export const versionsLeft = (crd: JsonObject): ReadonlyArray<string> =>
  listAt(crd, "status", "storedVersions").map(String).filter((text) => text !== storageVersion(crd));

/** Whether two definitions have the same versions. */
export const hasSameVersions = (crd: JsonObject, other: JsonObject): boolean =>
  isSameValue(listAt(crd, "spec", "versions"), listAt(other, "spec", "versions"));

/** The definition once every resource was written anew. */
export const onlyStorageVersion = (crd: JsonObject): JsonObject =>
  put(crd, ["status", "storedVersions"], [storageVersion(crd) ?? ""]) as JsonObject;
