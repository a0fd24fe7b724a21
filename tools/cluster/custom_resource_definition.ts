import type { ControlPlane } from "./control_plane.ts";

/** The parts of a definition that are looked at here. */
export interface Definition {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly DefinitionCondition[] | null };
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/**
 * Applies a definition and returns it as stored, once objects of its kind can be written. Not by `kubectl wait`, which
 * fails on a definition so new that it has no conditions yet.
 */
export const installDefinition = async (
  controlPlane: Pick<ControlPlane, "fetch">,
  definition: Definition,
): Promise<Definition> => {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  const applied = await controlPlane.fetch(`${path}?fieldManager=test&force=true&fieldValidation=Strict`, {
    method: "PATCH",
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(definition),
  });
  let stored = await objectOf(applied);
  for (let looks = 0; looks < LOOKS; looks++) {
    const conditions = stored.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === "Established" && status === "True")) return stored;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    stored = await objectOf(await controlPlane.fetch(path));
  }
  throw new Error(`${definition.metadata.name} is not established: ${JSON.stringify(stored.status)}`);
};

const LOOK_EVERY_MS = 50;
/** 20 s. */
const LOOKS = 400;

const objectOf = async (answer: Response): Promise<Definition> => {
  const body = await answer.json();
  if (!answer.ok) throw new Error(`The API server rejected the definition: ${body.message}`);
  return body;
};
