/** A remark for the author although the config was generated: a code, the field, and a message with the fix. */
import { type FieldPath, formatPath } from "../data/field_path.ts";

export interface Warning {
  /** One word that tools can match, e.g. `UnknownSetting`. */
  readonly code: WarningCode;
  readonly path: FieldPath;
  /** Without the path, and never with a secret value. */
  readonly message: string;
}

export type WarningCode =
  | "AcceptedBefore"
  | "AmountInBytes"
  | "ApiNotDisabled"
  | "AutoscalerMinimum"
  | "AutoscalerWithoutRequest"
  | "AutoscalerWithoutRoom"
  | "CaBundleEmpty"
  | "AuthenticationOff"
  | "ClaimGrows"
  | "ClaimKept"
  | "ConfigUnfit"
  | "CredentialInEndpoint"
  | "CredentialInEnvironment"
  | "CredentialInSettings"
  | "CredentialsMissing"
  | "DataNotKept"
  | "DefaultChosen"
  | "DefaultMissing"
  | "DisabledDependency"
  | "DuplicateResource"
  | "EndpointCompleted"
  | "EndpointIncomplete"
  | "EndpointOfPod"
  | "EndpointOfRequest"
  | "FieldNotRead"
  | "FileNotMounted"
  | "ImageLabelsUnread"
  | "ImageNotPublished"
  | "GatewayCannotVerify"
  | "GatewayNotNamed"
  | "ImageLabelsHeld"
  | "ImageWithoutRegistry"
  | "IngressNotAllowed"
  | "KeyNotReadable"
  | "MetricsUnavailable"
  | "ModelTypeNotServed"
  | "NewerServer"
  | "NotYetRestricted"
  | "ModelNameWithProvider"
  | "ModelNotAllowed"
  | "OneProviderOnly"
  | "OperatorVariable"
  | "OtherServer"
  | "OverriddenCommand"
  | "PatternInvalid"
  | "PortNameUnknown"
  | "ProviderChosen"
  | "ProviderNotChecked"
  | "ProviderReplaced"
  | "ResourceNotRegistered"
  | "ResourceTypeUnknown"
  | "SectionDropped"
  | "SectionIgnored"
  | "ServerDefect"
  | "ServerLogsHost"
  | "ServerStays"
  | "SettingOverruled"
  | "SharedClaim"
  | "SharedSqlite"
  | "EveryoneTrusted"
  | "Exposed"
  | "ScraperNotAllowed"
  | "SeveralAutoscalers"
  | "Shorthand"
  | "TelemetrySetting"
  | "TokensInClear"
  | "TokensShared"
  | "ToolNeedsClient"
  | "TooLargeForV1alpha1"
  | "TypeRenamed"
  | "UnknownSetting"
  | "VariableDropped"
  | "VariableNotKnown"
  | "VariableNotSet"
  | "VariableUnfit"
  | "UnroutedShield";

export const warning = (code: WarningCode, path: FieldPath, message: string): Warning => ({ code, path, message });

/** One line for a person. */
export const warningLine = ({ path, message }: Warning): string => `${formatPath(path)}: ${message}`;
