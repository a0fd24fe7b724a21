/** Every Event of the operator, in one file. */
import { cutToBytes } from "../data/cut_to_bytes.ts";
import { NOTE_BYTES_MAX } from "../data/limits.ts";

/** For the owner of the resource: what changed, and why. */
export interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** The machine-readable action of events.k8s.io. */
  readonly action: string;
  /** At most 1,024 characters. */
  readonly note: string;
}

const cut = (text: string): string => cutToBytes(text, NOTE_BYTES_MAX);

const normal = (reason: string, action: string, note: string): Note => ({
  type: "Normal",
  reason,
  action,
  note: cut(note),
});
const warn = (reason: string, action: string, note: string): Note => ({
  type: "Warning",
  reason,
  action,
  note: cut(note),
});

/** `generated`: what a config of new content contains; undefined if the config is the same as before or not generated. */
export const deploymentUpdated = (
  image: string,
  config: string | undefined,
  generated: { readonly providers: number; readonly models: number } | undefined,
): Note =>
  normal(
    "DeploymentUpdated",
    "Apply",
    [
      `Updated the Deployment to ${image}`,
      ...(config === undefined ? [] : [` with config ${config}`]),
      ...(generated === undefined
        ? []
        : [`, generated with ${counted(generated.providers, "provider")} and ${counted(generated.models, "model")}`]),
    ].join(""),
  );

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const configGenerationFailed = (sentence: string): Note => warn("ConfigGenerationFailed", "Generate", sentence);

export const upgradeConfigFailed = (sentence: string): Note => warn("UpgradeConfigFailure", "Generate", sentence);

export const secretResolutionFailed = (sentence: string): Note => warn("SecretResolutionFailed", "Resolve", sentence);

export const externalProviderFailed = (sentence: string): Note => warn("ExternalProviderFailed", "Install", sentence);

export const ownershipConflict = (sentence: string): Note => warn("OwnershipConflict", "Apply", sentence);

export const objectRefused = (sentence: string): Note => warn("ObjectRefused", "Apply", sentence);

export const deletionRefused = (sentence: string): Note => warn("DeletionRefused", "Delete", sentence);

export const writeFailed = (sentence: string): Note => warn("WriteFailed", "Apply", sentence);

export const adopted = (objects: ReadonlyArray<string>): Note =>
  normal("Adopted", "Apply", `Adopted ${objects.join(", ")}: managed by this resource, but without an owner`);

export const takeOverRefused = (sentence: string): Note => warn("TakeOverRefused", "Apply", sentence);

export const contested = (fields: ReadonlyArray<string>): Note =>
  warn(
    "Contested",
    "Apply",
    `Repaired fields that are repeatedly overwritten, with increasing delay: ${fields.join("; ")}`,
  );

export const rolledBack = (sentence: string): Note =>
  warn("RolledBack", "Undo", `Rolled back to the previous revision: ${sentence}`);

export const upgradeStopped = (sentence: string): Note => warn("UpgradeStopped", "Apply", sentence);

/** What a change means for data that the server stored. */
export const storedData = (sentence: string): Note => warn("StoredData", "Apply", sentence);

/** On the operator's own ConfigMap. */
export const settingsUnreadable = (sentence: string): Note => warn("SettingsUnreadable", "Read", sentence);

/** On the ConfigMap of the settings. */
export const defaultInstanceCreated = (key: string): Note =>
  normal("DefaultInstanceCreated", "Create", `Created the default instance ${key}`);
export const defaultInstanceFailed = (key: string, detail: string): Note =>
  warn("DefaultInstanceFailed", "Create", `Failed to create the default instance ${key}: ${detail}`);

/** On the ConfigMap that was created. */
export const settingsCopied = (source: string): Note =>
  normal("SettingsCopied", "Create", `Copied image-overrides and featureFlags of the Go operator from ${source}`);

/** On the operator's own Secret. */
export const authorityReplaced = (sentence: string): Note =>
  warn("AuthorityReplaced", "Create", `Created a new certificate authority for the webhooks: ${sentence}`);
