/**
 * What Kubernetes objects and the keys of Secrets and ConfigMaps can be called. A reference of any other form names an object
 * that cannot exist, and its name must not become part of a request path.
 *
 * Source: the Kubernetes documentation, page "Object Names and IDs"; keys: the API validation of ConfigMaps and Secrets.
 */

/** DNS subdomain: Secrets, ConfigMaps, claims, ServiceAccounts. */
export const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/u;
export const OBJECT_NAME_MAX = 253;

/** DNS label: namespaces. */
export const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u;
export const NAMESPACE_NAME_MAX = 63;

/** Key of a Secret or ConfigMap; it is a file name once mounted, so `.` and whatever begins with `..` are excluded. */
export const DATA_KEY = /^([-_a-zA-Z0-9]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$/u;
export const DATA_KEY_MAX = 253;

export const isObjectName = (name: string): boolean => name.length <= OBJECT_NAME_MAX && OBJECT_NAME.test(name);

export const isNamespaceName = (name: string): boolean =>
  name.length <= NAMESPACE_NAME_MAX && NAMESPACE_NAME.test(name);

export const isDataKey = (key: string): boolean => key.length <= DATA_KEY_MAX && DATA_KEY.test(key);
