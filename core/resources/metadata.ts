/** Names, labels and owner of every object of a resource. */
import { API_VERSION, KIND } from "../api/v1alpha2.ts";
import { MANAGED_BY } from "./names.ts";
import type { Blueprint } from "./blueprint.ts";

/** What pods carry and what Services, policies and budgets select by; a Deployment's selector can never change. */
export const selectorOf = (name: string): Readonly<Record<string, string>> => ({
  app: "llama-stack",
  "app.kubernetes.io/instance": name,
});

/** Whose objects they are. */
export type Owner = Pick<Blueprint, "name" | "namespace" | "uid">;

/** Metadata with our labels; without an owner the object outlives the resource. */
export const metadataOf = (
  owner: Owner,
  name: string,
  more: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly owned?: boolean;
    readonly component?: string;
  } = {},
) => ({
  name,
  namespace: owner.namespace,
  labels: {
    ...(more.component === undefined ? {} : { "app.kubernetes.io/component": more.component }),
    "app.kubernetes.io/instance": owner.name,
    "app.kubernetes.io/managed-by": MANAGED_BY,
    "app.kubernetes.io/name": "llama-stack",
    "app.kubernetes.io/part-of": "llama-stack",
  },
  ...(more.annotations === undefined || Object.keys(more.annotations).length === 0
    ? {}
    : { annotations: more.annotations }),
  ...(more.owned === false || owner.uid === undefined ? {} : { ownerReferences: [ownerReference(owner, owner.uid)] }),
});

const ownerReference = ({ name }: Owner, uid: string) => ({
  apiVersion: API_VERSION,
  kind: KIND,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
