/** What a failure means for the resource: the one place where a failure becomes a reason and a next move. */
import { Data } from "effect";
import type { ReconcileFailure } from "./reconcile_failure.ts";

/** What happens after a failure. `reason` is the word that conditions and metrics carry (R43). */
export type Verdict = Data.TaggedEnum<{
  /** Nothing changes until the resource or something it names is edited. */
  WaitForEdit: { readonly reason: string };
  /** Something outside failed; try again with growing pauses. */
  BackOff: { readonly reason: string };
  /** Expected to be over soon; look again after a fixed pause. */
  LookAgain: { readonly reason: string };
}>;
export const Verdict = Data.taggedEnum<Verdict>();

export const verdictOn = (failure: ReconcileFailure): Verdict => {
  switch (failure._tag) {
    case "SchemaMismatch":
    case "RuleBroken":
      return Verdict.WaitForEdit({ reason: "InvalidSpec" });
    case "NotBuiltYet":
    case "NotSupportedOnLine":
    case "MissingApi":
      return Verdict.WaitForEdit({ reason: "NotSupportedOnLine" });
    case "UnsupportedServer":
    case "UnsupportedConfigVersion":
    case "BaseUnreadable":
    case "OverrideOfAnotherLine":
      return Verdict.WaitForEdit({ reason: "UnsupportedConfigVersion" });
    case "UnknownProvider":
    case "UnknownProviderType":
      return Verdict.WaitForEdit({ reason: "UnknownProvider" });
    case "MissingSetting":
    case "ForbiddenSetting":
    case "UnusableEndpoint":
    case "ConfigTooLarge":
    case "CaBundleInvalid":
      return Verdict.WaitForEdit({ reason: "ConfigGenerationFailed" });
    case "ModelConflict":
      return Verdict.WaitForEdit({ reason: "RegistryConflict" });
    case "ObjectRefused":
      // A quota may be raised and a webhook mended without an edit of the resource.
      return Verdict.BackOff({ reason: failure.blocks ? "DeploymentUpdateFailed" : "ObjectRefused" });
    case "DeletionPending":
    case "WriteFailed":
      return Verdict.BackOff({ reason: failure._tag });
    case "OwnershipConflict":
      // Objects of others are not watched: nobody tells when the name becomes free.
      return Verdict.BackOff({ reason: failure._tag });
    case "InvalidName":
    case "NotAllowed":
    case "UnknownDistribution":
    case "BaseConfigRequired":
    case "MissingProviderForResource":
    case "EnvNameCollision":
    case "SecretValueUnusable":
    case "SecretNotFound":
    case "SecretKeyMissing":
    case "ConfigMapNotFound":
    case "ConfigMapKeyMissing":
    case "TooManyReferences":
    case "ReferenceTooLarge":
    case "OverrideConfigInvalid":
    case "LineChangeLosesData":
    case "RegistryConflict":
      return Verdict.WaitForEdit({ reason: failure._tag });
  }
};
