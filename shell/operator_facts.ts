import { Context } from "effect";
import type { Operator } from "../core/plan/world.ts";

/** The operator itself, for every decision. */
export class OperatorFacts
  extends Context.Service<OperatorFacts, Operator>()("llama-stack-operator/shell/OperatorFacts") {}
