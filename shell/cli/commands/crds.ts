/** `crds`: prints the definition that `kubectl apply` takes. */
import { Command } from "effect/cli";
import { customResourceDefinition } from "../../../core/api/crd.ts";
import { writeYaml } from "../../../core/data/yaml.ts";
import { manifestOutput } from "../flags.ts";
import { print } from "../print.ts";

export const crds = Command.make("crds", { output: manifestOutput }, ({ output }) => {
  const definition = customResourceDefinition();
  const stdout = output === "json" ? `${JSON.stringify(definition, null, 2)}\n` : writeYaml(definition);
  return print({ stdout, stderr: "", code: 0 });
}).pipe(Command.withDescription("Print the CustomResourceDefinition, ready for kubectl apply -f -"));
