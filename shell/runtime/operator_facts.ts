import * as Context from "effect/Context";
import type { Operator } from "../../core/snapshot/operator.ts";

/** The operator itself, for every decision. */
export class OperatorFacts
  extends Context.Service<OperatorFacts, Operator>()("llama-stack-operator/shell/OperatorFacts") {}
