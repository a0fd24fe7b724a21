/** `version`: the program and the servers that it knows. */
import { Command } from "effect/cli";
import { SUPPORTED_SERVERS } from "../../../core/config/servers/families/families.ts";
import { OPERATOR_VERSION } from "../../../core/operator/version.ts";
import { print } from "../print.ts";

export const version = Command.make("version", {}, () =>
  print({
    stdout: `llama-stack-operator ${OPERATOR_VERSION}\nservers: ${SUPPORTED_SERVERS.join(", ")}\n`,
    stderr: "",
    code: 0,
  })).pipe(Command.withDescription("Print the version and the supported servers"));
