/** A command of the compiled program on the cluster of a test. */
import type { JsonObject } from "../../core/data/json.ts";
import type { ControlPlane } from "../../tools/cluster/control_plane.ts";
import { compiledOperator } from "../../tools/install/compiled_operator.ts";
import { type Ended, ended } from "../../tools/install/run_program.ts";
import { RUNTIME_ENV } from "../../tools/program_flags.ts";

/** The operator of these tests keeps its key in the default namespace. */
export const cli = async (
  cluster: ControlPlane,
  args: ReadonlyArray<string>,
  stdin: JsonObject | string = "",
): Promise<Ended> =>
  await ended(await compiledOperator(), args, {
    env: {
      ...Deno.env.toObject(),
      ...RUNTIME_ENV,
      LANG: "C",
      KUBECONFIG: cluster.kubeconfig,
      POD_NAMESPACE: "default",
    },
    stdin: typeof stdin === "string" ? stdin : JSON.stringify(stdin),
  });
