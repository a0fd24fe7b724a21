/** The bundles by the judgement of OLM's own library. */
import { fileURLToPath } from "node:url";
import { deepStrictEqual } from "node:assert/strict";
import { installControlPlane } from "../../tools/install/control_plane.ts";

/**
 * A rule of a Role names a group and no version; the library takes events.k8s.io, autoscaling and policy for the beta versions
 * that Kubernetes 1.25 and 1.26 removed. The operator asks for none of those.
 */
const EXPLAINED = /this bundle is using APIs which were deprecated and removed in v1\.2[56]\. .*Permissions/;

for (const folder of ["olm", "olm-namespaced"]) {
  Deno.test(`OLM's validators find nothing in the bundle of deploy/${folder}`, async () => {
    const { "bundle-validator": program } = await installControlPlane(["bundle-validator"]);
    const bundle = fileURLToPath(new URL(`../../deploy/${folder}/manifests`, import.meta.url));
    const { stdout } = await new Deno.Command(program, { args: [bundle], stderr: "null" }).output();
    const findings = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
    deepStrictEqual(findings.filter((line) => !EXPLAINED.test(line)), []);
  });
}
