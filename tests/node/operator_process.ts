/** The operator beside the tests, in a process of its own, so that its log can be looked at. */
import { relatedImageVariable } from "../../core/config/distribution.ts";
import { IMAGES } from "../../tools/cluster/real_node/images.ts";
import { startOperator } from "../cluster/operator.ts";
import { joinCluster } from "./cluster.ts";

const running = await startOperator(joinCluster(), {
  // As in a pod: servers are asked by the names of their Services.
  route: "Direct",
  relatedImages: new Map([
    [relatedImageVariable("starter"), IMAGES.starter],
    [relatedImageVariable("ogx-starter"), IMAGES.ogxStarter],
  ]),
});
Deno.addSignalListener("SIGTERM", () => void running.stop().then(() => Deno.exit(0)));
