/**
 * The TLS profile of an OpenShift cluster, as far as the listeners of the operator can follow it. Source: `spec.tlsSecurityProfile` of
 * `apiservers.config.openshift.io`.
 */
import { type Json, listAt, objectAt, stringAt } from "../data/json.ts";

/** The group of that object; clusters without it have no profile. */
export const PROFILE_GROUP = "config.openshift.io";

export type TlsVersion = "TLSv1.2" | "TLSv1.3";

export interface TlsProfile {
  readonly minVersion: TlsVersion;
  /** What the operator does otherwise; undefined if nothing. */
  readonly deviation?: string;
}

/** Of a cluster without a profile, and of one whose profile nobody has read. */
export const TLS_DEFAULT: TlsProfile = { minVersion: "TLSv1.2" };

const OLDER_VERSIONS: ReadonlyArray<string> = ["VersionTLS10", "VersionTLS11"];
const VERSIONS: Readonly<Record<string, TlsVersion>> = { VersionTLS12: "TLSv1.2", VersionTLS13: "TLSv1.3" };

const NOT_OLDER = "TLS 1.0 and 1.1 are not offered: TLS 1.2 and newer alone";

/** `apiServer` is the object `cluster`. */
export const tlsProfileOf = (apiServer: Json): TlsProfile => {
  const profile = objectAt(apiServer, "spec", "tlsSecurityProfile");
  switch (stringAt(profile, "type") ?? "") {
    case "":
    case "Intermediate":
      return TLS_DEFAULT;
    case "Modern":
      return { minVersion: "TLSv1.3" };
    case "Old":
      return { minVersion: "TLSv1.2", deviation: NOT_OLDER };
    case "Custom":
      return customProfile(profile.custom ?? null);
    default:
      return { ...TLS_DEFAULT, deviation: "the profile is not known, and Intermediate is taken for it" };
  }
};

const customProfile = (custom: Json): TlsProfile => {
  const version = stringAt(custom, "minTLSVersion") ?? "";
  const minVersion = Object.hasOwn(VERSIONS, version) ? VERSIONS[version] : undefined;
  const deviations = [
    ...(OLDER_VERSIONS.includes(version) ? [NOT_OLDER] : []),
    ...(minVersion === undefined && !OLDER_VERSIONS.includes(version)
      ? ["the profile names no version that is known, and that of Intermediate is taken"]
      : []),
    // Those of TLS 1.3 are not chosen by profiles.
    ...(minVersion !== "TLSv1.3" && listAt(custom, "ciphers").length > 0
      ? ["the list of ciphers has no effect: the runtime offers those of Intermediate"]
      : []),
  ];
  return {
    minVersion: minVersion ?? TLS_DEFAULT.minVersion,
    ...(deviations.length === 0 ? {} : { deviation: deviations.join("; ") }),
  };
};
