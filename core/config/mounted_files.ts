/** Which files the server can read, of those that the resource names. */
import type { Facts } from "./draft.ts";
import { CA_BUNDLE_FILE } from "./environment.ts";
import { TLS_FOLDER } from "./stages/server.ts";

/** Public authorities, where images of Debian, Red Hat and Alpine have them. */
export const PUBLIC_AUTHORITIES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

/** Whether a volume of the pod may contain the file with this absolute path, or most images have it. */
export const mayExist = (file: string, { spec, folders }: Pick<Facts, "spec" | "folders">): boolean => {
  const { tls } = spec.networking ?? {};
  const mounted = [
    folders.mount,
    ...(tls?.enabled === true ? [TLS_FOLDER] : []),
    ...(spec.workload?.overrides?.volumeMounts ?? []).map(({ mountPath }) => mountPath),
  ];
  return PUBLIC_AUTHORITIES.includes(file) || tls?.caBundle !== undefined && file === CA_BUNDLE_FILE ||
    mounted.some((path) => file === path || file.startsWith(`${path.replace(/\/+$/, "")}/`));
};
