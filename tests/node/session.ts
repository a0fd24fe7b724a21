/** What the processes of one run share, in a file that `SESSION` names: where the cluster is, and where things are kept. */
export interface Session {
  readonly url: string;
  readonly adminToken: string;
  readonly caPem: string;
  readonly kubeconfig: string;
  readonly kubectlPath: string;
}

export const SESSION = "LLAMA_STACK_OPERATOR_NODE_SESSION";

export const readSession = (): Session => {
  const file = Deno.env.get(SESSION);
  if (file === undefined) throw new Error("These tests need the real node that `deno task node` puts around them.");
  return JSON.parse(Deno.readTextFileSync(file));
};
