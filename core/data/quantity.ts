/** Quantities of Kubernetes, such as 500m or 2Gi. */
import type { Json } from "./json.ts";

const FACTORS: Readonly<Record<string, number>> = {
  "n": 1e-9,
  "u": 1e-6,
  "m": 1e-3,
  "": 1,
  "k": 1e3,
  "M": 1e6,
  "G": 1e9,
  "T": 1e12,
  "P": 1e15,
  "E": 1e18,
  "Ki": 2 ** 10,
  "Mi": 2 ** 20,
  "Gi": 2 ** 30,
  "Ti": 2 ** 40,
  "Pi": 2 ** 50,
  "Ei": 2 ** 60,
};

/** A quantity as a number; undefined for what is none. */
export const amount = (value: Json | undefined): number | undefined => {
  const found = /^([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(String(value ?? ""));
  return found === null ? undefined : Number(found[1]) * (FACTORS[found[2] ?? ""] ?? Number.NaN);
};
