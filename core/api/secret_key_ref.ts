/** A reference to a key of a Secret, the only way in which the API takes secret values. */
import { dataKey, objectName, struct } from "./fields.ts";

export const SecretKeyRef = struct("SecretKeyRef selects a key of a Secret.", {
  secretKeyRef: struct("secretKeyRef is in this namespace.", {
    name: objectName("name of the Secret."),
    key: dataKey("key of the Secret."),
  }),
});
export type SecretKeyRef = typeof SecretKeyRef.Type;
