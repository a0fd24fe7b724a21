/** What a rule between fields is, and the forms that several of them have. Read next: rules.ts. */
import { type JsonObject, stringAt } from "../data/json.ts";

export interface Rule {
  /** Where the rule stands, e.g. `spec.storage.kv`; `[]` after a list means each item; empty means the whole object. */
  readonly at: string;
  readonly cel: string;
  readonly message: string;
  /** CEL that makes the message from the value (Kubernetes 1.27 and newer); `message` is the fallback. */
  readonly messageExpression?: string;
  /** The field that a client marks, relative to `at`, e.g. `.endpoint`. */
  readonly fieldPath?: string;
  /** Not FieldValueDuplicate: the API server would then report "Duplicate value" instead of this message. */
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired";
  /** Checked on creation only, so that older objects stay writable. */
  readonly onCreate?: boolean;
  /**
   * Set where v1alpha1 accepts what breaks the rule, and servers run with it: what then applies. Stored resources only get a
   * warning; whoever writes it now is rejected.
   */
  readonly tolerated?: string;
  /** Undefined when the rule holds, else the message. */
  readonly broken: (self: JsonObject) => string | undefined;
}

export const exclusive = (at: string, one: string, other: string): Rule => ({
  at,
  cel: `!(has(self.${one}) && has(self.${other}))`,
  message: `${one} and ${other} are mutually exclusive`,
  reason: "FieldValueForbidden",
  fieldPath: `.${other}`,
  broken: (self) =>
    Object.hasOwn(self, one) && Object.hasOwn(self, other) ? `${one} and ${other} are mutually exclusive` : undefined,
});

/** `field` is needed exactly when `self.<by>` has the value `word`; the two directions are two rows with two messages. */
export const tiedTo = (
  at: string,
  field: string,
  by: string,
  words: ReadonlyArray<string>,
  needed: string,
  only: string,
) => {
  const isOn = `has(self.${by}) && self.${by} in [${words.map((word) => `'${word}'`).join(", ")}]`;
  const on = (self: JsonObject) => words.includes(stringAt(self, by) ?? "");
  const rows: Record<"needed" | "only", Rule> = {
    needed: {
      at,
      cel: `!(${isOn}) || has(self.${field})`,
      message: needed,
      reason: "FieldValueRequired",
      fieldPath: `.${field}`,
      broken: (self) => on(self) && !Object.hasOwn(self, field) ? needed : undefined,
    },
    only: {
      at,
      cel: `!has(self.${field}) || (${isOn})`,
      message: only,
      reason: "FieldValueForbidden",
      fieldPath: `.${field}`,
      broken: (self) => Object.hasOwn(self, field) && !on(self) ? only : undefined,
    },
  };
  return rows;
};
