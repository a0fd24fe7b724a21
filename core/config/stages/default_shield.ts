/** The shield that the section `safety` of a config names. */
import { type JsonObject, stringAt } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { type KnownVariables, readValue, variablesIn } from "../known_environment.ts";
import type { Server } from "../servers/families/families.ts";
import { isRouted } from "./api_findings.ts";
import type { EntryFinding } from "./entry_findings.ts";
import { hasProvider, mayBeLeftOut, registeredIn } from "./registering.ts";

/** The server does not start if shields are registered, and not this one. Source: validate_safety_config in core/stack.py, 0.4 to 0.8. */
export const orphanedShield = (
  config: JsonObject,
  { family, catalogue: { models, config: { class: whole } } }: Server,
  known: KnownVariables,
): ReadonlyArray<EntryFinding> => {
  if (models[whole]?.fields.safety === undefined) return [];
  const name = readValue(stringAt(config, "safety", "default_shield_id"), known.valueOf) ?? null;
  if (!isRouted(config, "safety")) {
    return name === null || name === "" ? [] : [{
      path: ["safety", "default_shield_id"],
      message: "needs the API safety, which apis does not list; add it there, or remove the section",
      isFatal: true,
    }];
  }
  const shields = registeredIn(config, family, "shields", known).map(({ resource }) => resource).filter(hasProvider);
  const ids = shields.map((shield) => stringAt(shield, "shield_id") ?? "");
  const isOpen = shields.some((shield) => mayBeLeftOut(shield, known)) ||
    ids.some((id) => variablesIn(id).length > 0);
  return name === null || name === "" || ids.length === 0 || isOpen || ids.includes(String(name)) ? [] : [{
    path: ["safety", "default_shield_id"],
    message: `not a shield that is registered; write ${ids.map(quoted).join(" or ")}`,
    isFatal: true,
  }];
};
