/** The certificates of `networking.tls.caBundle`: read from the user's ConfigMaps, validated, sorted, deduplicated. */
import { CA_BUNDLE_BYTES_MAX, CERTIFICATES_MAX } from "../data/limits.ts";
import * as Result from "effect/Result";
import { isCertificate, sha256Hex } from "../data/digest.ts";
import { CaBundleInvalid } from "../failure/failures.ts";
import type { Reference } from "../snapshot/references.ts";
import type { ConfigMaps } from "../config/config_map_content.ts";
import type { Spec } from "../api/v1alpha2.ts";
import { type Warning, warning } from "../failure/warning.ts";

/**
 * Undefined if the resource has no bundle, or none of its keys exists (which is reported elsewhere); empty if they are blank,
 * as the cluster's own injectors leave them before they have run. `isExclusive`: no other authority is trusted.
 */
export const bundled = (
  references: ReadonlyArray<Reference>,
  maps: ConfigMaps,
  ownNamespace: string,
  isExclusive = false,
): Result.Result<string | undefined, CaBundleInvalid> => {
  const found: Array<string> = [];
  let isRead = false;
  for (const { name, namespace = ownNamespace, key = "", path } of references) {
    const data = maps.get(`${namespace}/${name}`)?.data ?? {};
    const text = Object.hasOwn(data, key) ? data[key] : undefined;
    if (text === undefined) continue;
    const refuse = (detail: string) => Result.fail(new CaBundleInvalid({ path, key: `${name}/${key}`, detail }));
    const blocks = certificatesIn(text);
    if (blocks.length > CERTIFICATES_MAX) return refuse(`more than ${CERTIFICATES_MAX} certificates`);
    if (blocks.length === 0 && (isExclusive || text.trim() !== "")) return refuse("it contains no BEGIN CERTIFICATE");
    isRead = true;
    const broken = blocks.findIndex((block) => !isCertificate(block));
    if (broken >= 0) return refuse(`certificate ${broken + 1} of ${blocks.length} cannot be parsed`);
    found.push(...blocks.map((block) => block.replaceAll("\r\n", "\n")));
  }
  if (found.length > CERTIFICATES_MAX) {
    const [{ path, name } = { path: [], name: "" }] = references;
    return Result.fail(new CaBundleInvalid({ path, key: name, detail: `more than ${CERTIFICATES_MAX} certificates` }));
  }
  if (references.length === 0) return Result.succeed(undefined);
  const pem = [...new Set(found)].sort().map((block) => `${block}\n`).join("");
  const [{ path, name } = { path: [], name: "" }] = references;
  return pem.length > CA_BUNDLE_BYTES_MAX
    ? Result.fail(
      new CaBundleInvalid({
        path,
        key: name,
        detail: `the bundle is ${pem.length} bytes; a ConfigMap holds at most ${CA_BUNDLE_BYTES_MAX}`,
      }),
    )
    : Result.succeed(pem === "" && !isRead ? undefined : pem);
};

const [BEGIN, END] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"] as const;

/** Annotation of the pod template: digest of the CA bundle. */
export const CA_ANNOTATION = "llamastack.io/ca-bundle-digest";

export const bundleDigest = (pem: string | undefined): string | undefined =>
  pem === undefined ? undefined : sha256Hex(pem);

export const bundleAnnotation = (digest: string | undefined): Readonly<Record<string, string>> =>
  digest === undefined ? {} : { [CA_ANNOTATION]: digest };

/** Of the bundle as a whole. */
export const bundleWarnings = (pem: string | undefined): ReadonlyArray<Warning> =>
  pem !== "" ? [] : [
    warning(
      "CaBundleEmpty",
      ["spec", "networking", "tls", "caBundle"],
      "the ConfigMap contains no certificate, so that the server trusts the authorities of its image only",
    ),
  ];

/** The certificates that the resource names, in the ConfigMaps that are known. */
export const caBundleOf = (
  { networking }: Spec,
  references: ReadonlyArray<Reference>,
  maps: ConfigMaps,
  namespace: string,
): Result.Result<string | undefined, CaBundleInvalid> =>
  bundled(
    references.filter(({ path }) => path.includes("caBundle")),
    maps,
    namespace,
    networking?.tls?.caBundle?.exclusive,
  );

/** Each from its first line to its last. Searched forward only: the time grows with the length of the text alone. */
export const certificatesIn = (text: string): ReadonlyArray<string> => {
  const blocks: Array<string> = [];
  for (let from = text.indexOf(BEGIN); from >= 0 && blocks.length <= CERTIFICATES_MAX;) {
    const end = text.indexOf(END, from);
    if (end < 0) break;
    blocks.push(text.slice(from, end + END.length));
    from = text.indexOf(BEGIN, end);
  }
  return blocks;
};
