/** The bundle by the judgement of OLM's own library. */
import { deepStrictEqual } from "node:assert/strict";
import { installControlPlane } from "../../tools/install/control_plane.ts";

const BUNDLE = new URL("../../deploy/olm/manifests", import.meta.url).pathname;

/**
 * A rule of a Role names a group and no version; the library takes events.k8s.io, autoscaling and policy for the beta versions
 * that Kubernetes 1.25 and 1.26 removed. The operator asks for none of those.
 */
const EXPLAINED = /this bundle is using APIs which were deprecated and removed in v1\.2[56]\. .*ClusterPermissions/;

Deno.test("OLM's validators find nothing in the bundle", async () => {
  const { "bundle-validator": program } = await installControlPlane(["bundle-validator"]);
  const { stdout } = await new Deno.Command(program, { args: [BUNDLE], stderr: "null" }).output();
  const said = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
  deepStrictEqual(said.filter((line) => !EXPLAINED.test(line)), []);
});
