/**
 * The end of the containers that install external providers: prepare_providers.py and the copying containers leave a JSON
 * object as their termination message, which may also be the end of a log. It comes from a pod, and is not trusted.
 */
import { EXTERNAL_MESSAGE_CHARACTERS_MAX } from "../data/limits.ts";
import { type Json, type JsonObject, listAt, member, objectAt, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";
import { onOneLine as shortened } from "../data/printable.ts";
import { installedId, PREPARE_CONTAINER } from "../resources/external_containers.ts";
import type { Disclosure } from "./disclosure.ts";
import { CONFIG_REASONS, PULL_REASONS } from "./container_reasons.ts";

/** Why a container of the installation did not end well. */
export interface ExternalFailure {
  /** The provider; undefined if the failure is not about one of them. */
  readonly id: string | undefined;
  /** A CamelCase word of prepare_providers.py, or of Kubernetes. */
  readonly reason: string;
  readonly message: string;
}

/** Of a status of an init container; undefined while nothing failed, and for containers of other purposes. */
export const externalFailure = (
  status: JsonObject,
  { text: shown, pull }: Pick<Disclosure, "text" | "pull">,
): ExternalFailure | undefined => {
  const name = stringAt(status, "name") ?? "";
  const id = installedId(name);
  if (id === undefined && name !== PREPARE_CONTAINER) return undefined;
  const fit = (text: string) => onOneLine(shown(text));
  const subject = id === undefined
    ? "The external providers were not installed: "
    : `External provider "${id}" (image ${stringAt(status, "image") ?? "?"}): `;
  const failed = (reason: string, message: string) => ({ id, reason, message: fit(`${subject}${message}`) });
  const waiting = objectAt(status, "state", "waiting");
  const word = stringAt(waiting, "reason") ?? "";
  const detail = stringAt(waiting, "message") ?? "no reason given";
  if (PULL_REASONS.includes(word)) {
    return failed(
      "ImagePullFailed",
      `the image cannot be pulled (${word}): ${detail}. ${pull(stringAt(status, "image") ?? "?")}`,
    );
  }
  const noShell = () => failed("ShellMissing", "the image has no /bin/sh; use a base image with a shell and cp");
  if (CONFIG_REASONS.includes(word)) {
    return lacksShell(id, detail) ? noShell() : failed("ContainerNotCreated", `${word}: ${detail}`);
  }
  const ended = unsuccessfulEnd(status);
  if (ended === undefined) return undefined;
  const text = stringAt(ended, "message") ?? "";
  const reported = reportIn(text);
  const message = stringAt(reported, "message");
  if (message !== undefined) {
    return {
      id: id ?? stringAt(reported, "id"),
      reason: REPORTED_REASONS.find((known) => known === stringAt(reported, "reason")) ?? "InstallationFailed",
      // The script names provider and image itself.
      message: fit(id === undefined ? message : `${subject}${message}`),
    };
  }
  if (stringAt(ended, "reason") === "OOMKilled") {
    return failed("OutOfMemory", "the container ran out of memory; increase spec.workload.resources.limits.memory");
  }
  const code = Number(member(ended, "exitCode") ?? 0);
  if (lacksShell(id, text)) return noShell();
  return failed("InstallationFailed", `the container ended with exit code ${code}; see its log (-c ${name})`);
};

/** Of a container that copies: the kubelet reports it now as a container that cannot be created, now as one that ended. */
const lacksShell = (id: string | undefined, text: string): boolean =>
  id !== undefined && text.includes('"/bin/sh"') && text.includes("no such file");

/** Without control characters, and no longer than a message may be. */
export const onOneLine = (text: string): string => shortened(text, EXTERNAL_MESSAGE_CHARACTERS_MAX);

/** Those of prepare_providers.py and of the containers that copy. */
const REPORTED_REASONS = [
  "ProviderApiMismatch",
  "ProviderArchitectureMismatch",
  "ProviderConflict",
  "ProviderCopyFailed",
  "ProviderDependencyMissing",
  "ProviderImportFailed",
  "ProviderMetadataInvalid",
  "ProviderMetadataMissing",
  "ProviderPackagesInvalid",
  "ProviderPackagesMissing",
  "ProviderPythonMismatch",
  "ProviderServerMismatch",
  "ProviderSpecInvalid",
  "ServerUnknown",
] as const;

/** Its present or last end, also while it runs again: it is only over with a successful end. */
const unsuccessfulEnd = (status: JsonObject): Json | undefined => {
  const now = member(objectAt(status, "state"), "terminated");
  const ended = now ?? member(objectAt(status, "lastState"), "terminated");
  return ended === undefined || member(ended, "exitCode") === 0 ? undefined : ended;
};

/** The versions and warnings that a successful installation reports. */
export interface Installed {
  readonly versions: ReadonlyMap<string, string>;
  readonly warnings: ReadonlyArray<string>;
}

export const installedBy = (prepare: JsonObject | undefined, shown: (text: string) => string): Installed => {
  const reported = reportIn(stringAt(prepare, "state", "terminated", "message") ?? "");
  return {
    versions: new Map(
      listAt(reported, "providers").map((provider) => [
        stringAt(provider, "id") ?? "",
        onOneLine(shown(stringAt(provider, "version") ?? "")).slice(0, VERSION_CHARACTERS_MAX),
      ]),
    ),
    warnings: listAt(reported, "warnings").filter((text) => typeof text === "string").slice(0, WARNINGS_MAX)
      .map((text) => onOneLine(shown(text))),
  };
};

const VERSION_CHARACTERS_MAX = 64;
const WARNINGS_MAX = 8;

const reportIn = (text: string): JsonObject | undefined => text.startsWith("{") ? objectIn(text) : undefined;
