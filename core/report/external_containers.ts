/**
 * The end of the containers that install external providers: prepare_providers.py and the copying containers leave a JSON
 * object as their termination message, which may also be the end of a log. It comes from a pod, and is not trusted.
 */
import { EXTERNAL_MESSAGE_CHARACTERS_MAX } from "../data/limits.ts";
import { type JsonObject, listAt, stringAt } from "../data/json.ts";
import { objectIn } from "../data/json_text.ts";
import { onOneLine } from "../data/printable.ts";
import { installedId, PREPARE_CONTAINER } from "../resources/external_containers.ts";
import { endOf, type LiveContainer } from "../snapshot/live_pod.ts";
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

/** Of an init container; undefined while nothing failed, and for containers of other purposes. */
export const externalFailure = (
  container: LiveContainer,
  { text: shown, pull }: Pick<Disclosure, "text" | "pull">,
): ExternalFailure | undefined => {
  const { name, image, state } = container;
  const id = installedId(name);
  if (id === undefined && name !== PREPARE_CONTAINER) return undefined;
  const fit = (text: string) => fitted(shown(text));
  const subject = id === undefined
    ? "The external providers were not installed: "
    : `External provider "${id}" (image ${image}): `;
  const failed = (reason: string, message: string) => ({ id, reason, message: fit(`${subject}${message}`) });
  const { reason: word = "", message: detail = "no reason given" } = state._tag === "Waiting" ? state : {};
  if (PULL_REASONS.includes(word)) {
    return failed("ImagePullFailed", `the image cannot be pulled (${word}): ${detail}. ${pull(image)}`);
  }
  const noShell = () => failed("ShellMissing", "the image has no /bin/sh; use a base image with a shell and cp");
  if (CONFIG_REASONS.includes(word)) {
    return lacksShell(id, detail) ? noShell() : failed("ContainerNotCreated", `${word}: ${detail}`);
  }
  // Also while it runs again: it is only over with a successful end.
  const ended = endOf(container);
  if (ended === undefined || ended.exitCode === 0) return undefined;
  const { exitCode, message: text } = ended;
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
  if (ended.reason === "OOMKilled") {
    return failed("OutOfMemory", "the container ran out of memory; increase spec.workload.resources.limits.memory");
  }
  if (lacksShell(id, text)) return noShell();
  return failed("InstallationFailed", `the container ended with exit code ${exitCode}; see its log (-c ${name})`);
};

/** Of a container that copies: the kubelet reports it now as a container that cannot be created, now as one that ended. */
const lacksShell = (id: string | undefined, text: string): boolean =>
  id !== undefined && text.includes('"/bin/sh"') && text.includes("no such file");

/** Without control characters, and no longer than a message may be. */
export const fitted = (text: string): string => onOneLine(text, EXTERNAL_MESSAGE_CHARACTERS_MAX);

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

/** The versions and warnings that a successful installation reports. */
export interface Installed {
  readonly versions: ReadonlyMap<string, string>;
  readonly warnings: ReadonlyArray<string>;
}

export const installedBy = (prepare: LiveContainer | undefined, shown: (text: string) => string): Installed => {
  const reported = prepare?.state._tag === "Terminated" ? reportIn(prepare.state.message) : undefined;
  return {
    versions: new Map(
      listAt(reported, "providers").map((provider) => [
        stringAt(provider, "id") ?? "",
        fitted(shown(stringAt(provider, "version") ?? "")).slice(0, VERSION_CHARACTERS_MAX),
      ]),
    ),
    warnings: listAt(reported, "warnings").filter((text) => typeof text === "string").slice(0, WARNINGS_MAX)
      .map((text) => fitted(shown(text))),
  };
};

const VERSION_CHARACTERS_MAX = 64;
const WARNINGS_MAX = 8;

const reportIn = (text: string): JsonObject | undefined => text.startsWith("{") ? objectIn(text) : undefined;
