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

/**
 * `apiServer` is the object `cluster`. A version that is not known loosens nothing: it leaves `before`, and takes the newest one
 * where nothing was read before.
 */
export const tlsProfileOf = (apiServer: Json, before: TlsVersion = "TLSv1.3"): TlsProfile => {
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
      return customProfile(profile.custom ?? null, before);
    default:
      return { minVersion: before, deviation: `the profile is not known; ${before} stays the oldest version` };
  }
};

/** Without a version it is that of Intermediate, as for the API server itself. */
const customProfile = (custom: Json, before: TlsVersion): TlsProfile => {
  const version = stringAt(custom, "minTLSVersion") ?? "";
  const isOlder = OLDER_VERSIONS.includes(version);
  const isKnown = version === "" || isOlder || Object.hasOwn(VERSIONS, version);
  const minVersion = isKnown ? VERSIONS[version] ?? TLS_DEFAULT.minVersion : before;
  const deviations = [
    ...(isOlder ? [NOT_OLDER] : []),
    ...(version === "" ? ["the profile names no version, and that of Intermediate is taken"] : []),
    ...(isKnown ? [] : [`the profile names a version that is not known; ${before} stays the oldest version`]),
    // Those of TLS 1.3 are not chosen by profiles.
    ...(minVersion !== "TLSv1.3" && listAt(custom, "ciphers").length > 0
      ? ["the list of ciphers has no effect: the runtime offers those of Intermediate"]
      : []),
  ];
  return {
    minVersion,
    ...(deviations.length === 0 ? {} : { deviation: deviations.join("; ") }),
  };
};
