/** A reference to a key of a Secret, the only way in which the API takes secret values. */
import { dataKey, objectName, struct } from "./fields.ts";

export const SecretKeyRef = struct("SecretKeyRef selects a key of a Secret in the namespace of this resource.", {
  secretKeyRef: struct("secretKeyRef selects the Secret and the key.", {
    name: objectName("name of the Secret."),
    key: dataKey("key is the key within the Secret."),
  }),
});
export type SecretKeyRef = typeof SecretKeyRef.Type;
