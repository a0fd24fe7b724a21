/** `crds`: prints the definition that `kubectl apply` takes. */
import { Command } from "effect/cli";
import { customResourceDefinition } from "../../../core/api/crd.ts";
import { writeYaml } from "../../../core/data/yaml.ts";
import { say } from "../say.ts";

export const crds = Command.make(
  "crds",
  {},
  () => say({ stdout: writeYaml(customResourceDefinition()), stderr: "", code: 0 }),
)
  .pipe(Command.withDescription("Print the CustomResourceDefinition, ready for kubectl apply -f -"));
