/** The certificates of `networking.tls.caBundle`: taken from the author's ConfigMaps, checked, sorted, without doubles. */
import { Result } from "effect";
import { isCertificate } from "../digest.ts";
import { CaBundleInvalid } from "../failure.ts";
import type { Reference } from "./references.ts";
import type { ConfigMapContent } from "./world.ts";

/** Bytes of PEM in one bundle; a ConfigMap holds 1 MiB, some of which its metadata needs. */
export const CA_BUNDLE_BYTES_MAX = 1000 * 1024;

/** Undefined when the resource names no bundle, or none of its keys is there (that is told elsewhere). */
export const bundled = (
  references: ReadonlyArray<Reference>,
  maps: ReadonlyMap<string, ConfigMapContent>,
  ownNamespace: string,
): Result.Result<string | undefined, CaBundleInvalid> => {
  const found: Array<string> = [];
  for (const { name, namespace = ownNamespace, key = "", path } of references) {
    const text = maps.get(`${namespace}/${name}`)?.data[key];
    if (text === undefined) continue;
    const refuse = (detail: string) => Result.fail(new CaBundleInvalid({ path, key: `${name}/${key}`, detail }));
    const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)].map(([block]) =>
      block
    );
    // Blank content is an empty bundle, as the cluster's own injectors leave it before they have run.
    if (blocks.length === 0 && text.trim() !== "") return refuse("there is no BEGIN CERTIFICATE in it");
    const broken = blocks.findIndex((block) => !isCertificate(block));
    if (broken >= 0) return refuse(`certificate ${broken + 1} of ${blocks.length} is not readable`);
    found.push(...blocks.map((block) => block.replaceAll("\r\n", "\n")));
  }
  if (references.length === 0) return Result.succeed(undefined);
  const pem = [...new Set(found)].sort().map((block) => `${block}\n`).join("");
  const [{ path, name } = { path: [], name: "" }] = references;
  return pem.length > CA_BUNDLE_BYTES_MAX
    ? Result.fail(
      new CaBundleInvalid({ path, key: name, detail: `${pem.length} bytes, a ConfigMap takes ${CA_BUNDLE_BYTES_MAX}` }),
    )
    : Result.succeed(pem === "" ? undefined : pem);
};
