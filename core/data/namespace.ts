/** Where kubectl creates what names no namespace, unless its context says otherwise. */
export const NAMESPACE_DEFAULT = "default";
