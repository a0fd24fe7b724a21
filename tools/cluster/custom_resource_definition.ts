import type { ControlPlane } from "./control_plane.ts";

/** The parts of a definition that are looked at here. */
export interface Definition {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly DefinitionCondition[] | null };
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** Applies a definition and returns it as stored, once objects of its kind can be written. */
export const installDefinition = async (
  controlPlane: Pick<ControlPlane, "fetch">,
  definition: Definition,
): Promise<Definition> => {
  const path = pathOf(definition.metadata.name);
  const applied = await controlPlane.fetch(`${path}?fieldManager=test&force=true&fieldValidation=Strict`, {
    method: "PATCH",
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(definition),
  });
  await objectOf(applied);
  return await establishedDefinition(controlPlane, definition.metadata.name);
};

/** Not by `kubectl wait`, which fails on a definition so new that it has no conditions yet. */
export const establishedDefinition = async (
  controlPlane: Pick<ControlPlane, "fetch">,
  name: string,
): Promise<Definition> => {
  const path = pathOf(name);
  let stored = await objectOf(await controlPlane.fetch(path));
  for (let looks = 0; looks < LOOKS; looks++) {
    const conditions = stored.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === "Established" && status === "True")) return stored;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    stored = await objectOf(await controlPlane.fetch(path));
  }
  throw new Error(`${name} is not established: ${JSON.stringify(stored.status)}`);
};

const pathOf = (name: string): string => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;

const LOOK_EVERY_MS = 50;
/** Five minutes, on a machine that is busy. */
const LOOKS = 6000;

const objectOf = async (answer: Response): Promise<Definition> => {
  const body = await answer.json();
  if (!answer.ok) throw new Error(`The API server rejected the definition: ${body.message}`);
  return body;
};
