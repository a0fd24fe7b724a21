/**
 * `deno task minors`: installation, CRD, objects and the whole operator on other Kubernetes minor versions, the oldest
 * supported one among them.
 *
 * Their control planes are built with Go into the cache the first time, which takes about five minutes each.
 */
import { MINOR_VARIABLE, OTHER_MINORS } from "./install/go_programs.ts";
import { startedHere } from "./test_parts.ts";

const TESTS = ["installation", "crd", "admission", "objects", "operator", "takeover", "scale"]
  .map((name) => `tests/cluster/${name}_test.ts`);

const main = async (): Promise<number> => {
  let failed = 0;
  for (const minor of OTHER_MINORS) {
    const started = performance.now();
    const { success } = await startedHere({
      args: ["test", "--allow-all", "--quiet", ...TESTS],
      // A folder of programs that is given has one version, not this one.
      env: { [MINOR_VARIABLE]: minor, KUBEBUILDER_ASSETS: "" },
    }).status;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`== Kubernetes ${minor}: ${success ? "ok" : "FAILED"} (${seconds} s)\n`);
    if (!success) failed++;
  }
  return failed === 0 ? 0 : 1;
};

if (import.meta.main) Deno.exit(await main());
