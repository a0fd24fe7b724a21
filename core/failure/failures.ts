/**
 * Every failure of a reconciliation: one class each, with its message. What follows from it is in report/failure_table.ts.
 *
 * It is over 300 lines so that all messages are in one place.
 *
 * A message names the field, the value and what to do. No field of a failure ever holds a secret value.
 */
import * as Data from "effect/Data";
import { didYouMean } from "../data/closest.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";
import { quoted } from "../data/printable.ts";
import { IMAGE_DIGEST_ANNOTATION } from "../data/image_digest_annotation.ts";

const list = (words: ReadonlyArray<string>): string => words.length === 0 ? "none" : words.join(", ");
const quotedAll = (words: ReadonlyArray<string>): string => words.map(quoted).join(" and ");

/** One field does not match the schema. */
export class SchemaMismatch extends Data.TaggedError("SchemaMismatch")<{
  readonly path: FieldPath;
  /** What was expected and what to do; quotes the value only where it cannot be a secret. */
  readonly detail: string;
}> {
  override get message(): string {
    // Of a file that cannot be read, nothing has a path.
    return this.path.length === 0 ? this.detail : `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** A rule between fields is violated (rules.ts). */
export class RuleBroken extends Data.TaggedError("RuleBroken")<{
  readonly path: FieldPath;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** `metadata.name` is too long or malformed for the names of the objects. */
export class InvalidName extends Data.TaggedError("InvalidName")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `metadata.name: invalid name ${quoted(this.name)}: ${this.detail}`;
  }
}

/** `spec.distribution.name` is not a known distribution. */
export class UnknownDistribution extends Data.TaggedError("UnknownDistribution")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly available: ReadonlyArray<string>;
}> {
  override get message(): string {
    const near = didYouMean(this.name, this.available);
    return `${formatPath(this.path)}: unknown distribution "${this.name}"${near === "" ? "; a" : `${near} A`}` +
      `vailable distributions: ${
        list(this.available)
      }. For other images, set spec.distribution.image instead of name; ` +
      `or an administrator adds an image for "${this.name}" to image-overrides of the operator's settings`;
  }
}

/** A config has to be generated for an image without a known base config. */
export class BaseConfigRequired extends Data.TaggedError("BaseConfigRequired")<{
  readonly path: FieldPath;
  readonly image: string;
  /** The fields that cause generation, e.g. `spec.providers`. */
  readonly causes: ReadonlyArray<string>;
  /** Why the labels of the image do not contain one; undefined if they were not read. */
  readonly labels: string | undefined;
  /** The operator reads the labels of the image, which are not known here. */
  readonly mayBeLabelled: boolean;
  /** The image is a copy of a published one, whose base config follows from its version. */
  readonly lacksVersion?: boolean;
  /** The ConfigMap of `spec.baseConfig`, if that is what contains it and is not known here. */
  readonly configMap?: string;
}> {
  /** Whether the operator finds it where it has not been looked for yet. */
  get isReadLater(): boolean {
    return this.mayBeLabelled || this.configMap !== undefined;
  }

  override get message(): string {
    if (this.configMap !== undefined) {
      return `${
        formatPath(this.path)
      }: the base config is in ConfigMap "${this.configMap}", which the operator reads (offline: put it into a file ` +
        "beside the resource, or use --base FILE)";
    }
    if (this.mayBeLabelled) {
      return `${formatPath(this.path)}: the base config of image "${this.image}", as is needed for ${
        list(this.causes)
      }, must be in its labels, which the operator reads (offline: --image-labels FILE or --base FILE)${
        this.lacksVersion === true ? "; or set spec.distribution.serverVersion to the version of its server" : ""
      }`;
    }
    return `${formatPath(this.path)}: image "${this.image}" has no known base config, as is needed for ${
      list(this.causes)
    }${this.labels === undefined ? "" : ` (${this.labels})`}; ${
      this.lacksVersion === true ? "set spec.distribution.serverVersion to the version of its server, " : ""
    }use spec.distribution.name, a base config with spec.baseConfig, or a complete config.yaml with spec.overrideConfig (offline: --base FILE)`;
  }
}

/** The base config is in labels that the registry has not sent yet. */
export class ImageLabelsAwaited extends Data.TaggedError("ImageLabelsAwaited")<{
  readonly path: FieldPath;
  readonly image: string;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: the operator is reading the labels of image "${this.image}", which may contain its ` +
      "base config";
  }
}

/** The labels are needed for a server that runs on them, or for a requested digest, and cannot be used. */
export class ImageLabelsUnread extends Data.TaggedError("ImageLabelsUnread")<{
  readonly path: FieldPath;
  /** With the digest. */
  readonly image: string;
  readonly detail: string;
  /** The ConfigMap that contained them, if it does not exist any more. */
  readonly missing: string | undefined;
  /** The annotation of the resource asks for this digest. */
  readonly isRequested: boolean;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${
      this.missing === undefined ? "" : `ConfigMap "${this.missing}" with the config of the server is missing, and `
    }the labels of image ${this.image} cannot be used: ${this.detail}${
      requestedHint(this.isRequested)
    }. The running Deployment is unchanged`;
  }
}

/** Labels of the image of an external provider show that it cannot be installed. */
export class ExternalProviderUnfit extends Data.TaggedError("ExternalProviderUnfit")<{
  /** Of the entry in its list. */
  readonly path: FieldPath;
  readonly id: string;
  readonly image: string;
  /** As the installation in a pod would report it, e.g. `ProviderApiMismatch`. */
  readonly reason: string;
  readonly detail: string;
  readonly serverVersion: string;
}> {
  /** Ends like the message of a failed installation in a pod. */
  override get message(): string {
    return `${
      formatPath(this.path)
    }: External provider "${this.id}" (image ${this.image}), according to its labels: ${this.detail}`;
  }
}

/** The labels of the image name a version of the server that is not supported. */
export class UnsupportedImageVersion extends Data.TaggedError("UnsupportedImageVersion")<{
  readonly path: FieldPath;
  readonly image: string;
  readonly version: string;
  readonly supported: ReadonlyArray<string>;
  /** The annotation of the resource asks for this digest. */
  readonly isRequested: boolean;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: the labels of image ${this.image} (${VERSION_LABELS}) name server version ${this.version}, which is ` +
      `not supported; use an image with a supported version (${list(this.supported)}), or provide a complete config ` +
      `with spec.overrideConfig${requestedHint(this.isRequested)}`;
  }
}

/** Which name the version of the server, if they have a dot. */
const VERSION_LABELS = "com.ogx.distribution.version or io.llamastack.config.version";

/** How to leave a requested digest. */
const requestedHint = (isRequested: boolean): string =>
  isRequested
    ? `; the annotation ${IMAGE_DIGEST_ANNOTATION} requests this digest: ` +
      "`llama-stack-operator rollout NAME --image-digest sha256:DIGEST` requests another one"
    : "";

/** The server version is unknown or not supported. */
export class UnsupportedServer extends Data.TaggedError("UnsupportedServer")<{
  readonly path: FieldPath;
  /** The version, or undefined where it is unknown. */
  readonly version: string | undefined;
  readonly supported: ReadonlyArray<string>;
  /** The config is from labels of the image, which do not name the version. */
  readonly isLabelled?: boolean;
}> {
  override get message(): string {
    const unknown = this.isLabelled === true
      ? `unknown server version: the labels of the image do not name it (${VERSION_LABELS}, such as 1.4.1; a whole number ` +
        "is the version of the config's format)"
      : "unknown server version";
    const what = this.version === undefined ? unknown : `unsupported server version ${this.version}`;
    return `${formatPath(this.path)}: ${what}; set spec.distribution.serverVersion to a supported version ` +
      `(${list(this.supported)}), or provide a complete config with spec.overrideConfig`;
  }
}

/** A new resource names a distribution of which no image is published any more. */
export class ImageNotPublished extends Data.TaggedError("ImageNotPublished")<{
  readonly path: FieldPath;
  readonly distribution: string;
  readonly image: string;
  /** Month, e.g. `2026-06`. */
  readonly since: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: no image of distribution "${this.distribution}" is published: ` +
      `${this.image} was removed in ${this.since}; use distribution "starter" with a remote provider, or name a copy of ` +
      "the image in spec.distribution.image or in image-overrides of the operator's settings";
  }
}

/** `image-overrides` names an image of another server family than the distribution's own. */
export class OverrideForOtherServerFamily extends Data.TaggedError("OverrideForOtherServerFamily")<{
  readonly path: FieldPath;
  readonly distribution: string;
  readonly image: string;
  readonly pinned: string;
  /** The annotation of the resource asks for the digest whose labels say so. */
  readonly isRequested?: boolean;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the operator's image override "${this.image}" for distribution ` +
      `"${this.distribution}" belongs to another server family than ${this.pinned}, so the config would not match; use an ` +
      `image of the same family, or spec.distribution.image with spec.distribution.serverVersion${
        requestedHint(this.isRequested === true)
      }`;
  }
}

/** The base config cannot be read. */
export class BaseUnreadable extends Data.TaggedError("BaseUnreadable")<{
  readonly path: FieldPath;
  /** The source of the base config, e.g. `embedded base starter`. */
  readonly origin: string;
  readonly detail: string;
  /** The annotation of the resource asks for the image that has it. */
  readonly isRequested?: boolean;
}> {
  override get message(): string {
    return `Cannot read the base config (${this.origin}): ${this.detail}${requestedHint(this.isRequested === true)}`;
  }
}

/** The base config has a format that this server does not read. */
export class UnsupportedConfigVersion extends Data.TaggedError("UnsupportedConfigVersion")<{
  readonly path: FieldPath;
  readonly version: string;
  readonly origin: string;
  /** What the server would reject, e.g. `Llama Stack 0.7.1 has no API agents`. */
  readonly contradictions: ReadonlyArray<string>;
  /** The annotation of the resource asks for the image that has it. */
  readonly isRequested?: boolean;
  /** What helps instead of a change of the base config, each as the end of "or …"; unset if that is not known. */
  readonly ways?: ReadonlyArray<string>;
}> {
  override get message(): string {
    const hint = requestedHint(this.isRequested === true);
    return this.contradictions.length === 0
      ? `Unsupported version ${this.version} of config.yaml in the base config (${this.origin}); every server reads ` +
        `version 2: write version: 2, and its sections as that version has them${hint}`
      : `The base config (${this.origin}) does not fit the server: ${this.contradictions.join("; ")}; ${
        ["remove that from it", ...(this.ways ?? [])].join(", or ")
      }${hint}`;
  }
}

/** A provider type that the server does not have. */
export class UnknownProviderType extends Data.TaggedError("UnknownProviderType")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly api: string;
  readonly server: string;
  /** Sorted types of this API on this server. */
  readonly offered: ReadonlyArray<string>;
}> {
  override get message(): string {
    const near = didYouMean(this.type, this.offered);
    const all = near === "" ? `; supported types: ${list(this.offered)}` : near;
    return `${formatPath(this.path)}: unsupported ${this.api} provider type "${this.type}" for ${this.server}${all}`;
  }
}

/** A registered resource, or a default of vector stores, names a provider that is neither declared nor in the base. */
export class UnknownProvider extends Data.TaggedError("UnknownProvider")<{
  readonly path: FieldPath;
  readonly id: string;
  readonly known: ReadonlyArray<string>;
  /** The entry of `spec.disabled` for all providers of the API that the resource does not declare, or for this one. */
  readonly disabledBy?: string | undefined;
}> {
  override get message(): string {
    const removed = this.disabledBy === undefined
      ? ""
      : `; spec.disabled has ${quoted(this.disabledBy)}, which removes it from the base config`;
    return `${formatPath(this.path)}: provider ${quoted(this.id)} not found${didYouMean(this.id, this.known)}; ` +
      `available providers: ${list(this.known)}${removed}`;
  }
}

/** A provider of the base config that the resource names is off, because a variable is not set. */
export class ProviderSwitchedOff extends Data.TaggedError("ProviderSwitchedOff")<{
  readonly path: FieldPath;
  readonly id: string;
  /** The variable that would switch it on. */
  readonly variable: string;
  /** The list of `spec.providers` in which it can be declared. */
  readonly field: string;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: provider "${this.id}" is disabled unless ${this.variable} is set; set ${this.variable} ` +
      `in spec.workload.overrides.env, or declare the provider in spec.providers.${this.field}`;
  }
}

/** A default model of vector stores that neither the resource nor the base config has. */
export class UnknownModel extends Data.TaggedError("UnknownModel")<{
  readonly path: FieldPath;
  readonly id: string;
  readonly type: "embedding" | "rerank";
  /** Ids of the models of this type, as clients write them. */
  readonly known: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.type} model ${quoted(this.id)} not found${
      didYouMean(this.id, this.known)
    }; add it to spec.resources.models with modelType ${this.type}${
      this.known.length === 0 ? "" : `, or name one of: ${list(this.known)}`
    }`;
  }
}

/** The config refers to an environment variable that nothing sets. */
export class VariableNotSet extends Data.TaggedError("VariableNotSet")<{
  readonly path: FieldPath;
  readonly variable: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: environment variable "${this.variable}" is not set; set it in ` +
      `spec.workload.overrides.env, or write a default as in \${env.${this.variable}:=default}`;
  }
}

/** No provider can serve the models, tools or shields. */
export class MissingProviderForResource extends Data.TaggedError("MissingProviderForResource")<{
  readonly path: FieldPath;
  /** The list of `spec.resources`. */
  readonly resource: string;
  /** The list of `spec.providers` that lacks a provider. */
  readonly field: string;
  /** The entry that lacks a provider, with the types that could serve it; undefined if there is no provider at all. */
  readonly entry?: { readonly name: string; readonly types: ReadonlyArray<string> };
}> {
  override get message(): string {
    const general =
      `spec.resources.${this.resource} requires at least one ${this.field} provider to be configured; add one ` +
      `to spec.providers.${this.field}, and do not disable that API in spec.disabled`;
    return this.entry === undefined
      ? general
      : `${formatPath(this.path)}: "${this.entry.name}" needs a ${this.field} provider of type ` +
        `${this.entry.types.join(" or ")}; add one to spec.providers.${this.field}`;
  }
}

/** A tool group that no provider of the server offers. */
export class UnknownToolGroup extends Data.TaggedError("UnknownToolGroup")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly server: string;
  readonly known: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: unknown tool group for ${this.server}: "${this.name}"${
      didYouMean(this.name, this.known)
    }; known tool groups: ${list(this.known)}`;
  }
}

/** Two references to Secrets would share one environment variable. */
export class EnvNameCollision extends Data.TaggedError("EnvNameCollision")<{
  readonly path: FieldPath;
  readonly name: string;
  /** Both field paths as text, in the order of the resource. */
  readonly paths: ReadonlyArray<string>;
  /** The ids of the two providers, where that is what makes the names equal. */
  readonly ids?: ReadonlyArray<string>;
}> {
  override get message(): string {
    if (this.ids !== undefined) {
      return `${this.paths.join(" and ")}: these provider ids map to the same environment variable ${this.name}: ` +
        `${quotedAll(this.ids)}; change one of the ids`;
    }
    return `${
      this.paths.join(" and ")
    }: both need the environment variable ${this.name}; remove one of them, or change ` +
      `the id of one provider`;
  }
}

/** The server does not have the feature. */
export class NotSupportedByServer extends Data.TaggedError("NotSupportedByServer")<{
  readonly path: FieldPath;
  readonly what: string;
  readonly server: string;
  readonly instead: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: not supported by ${this.server}: ${this.what}; ${this.instead}`;
  }
}

/** A setting of the operator forbids it. */
export class NotAllowed extends Data.TaggedError("NotAllowed")<{
  readonly path: FieldPath;
  /** The subject of the message. */
  readonly what: string;
  /** The setting that would allow it. */
  readonly setting: string;
  /** Whether the field is unset, and allowed with some value. */
  readonly isUnset?: boolean;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.what} is not allowed by the operator's setting ${this.setting}; ${
      this.isUnset === true ? "set the field to an allowed value" : "remove the field"
    }, or ask the administrator to allow it`;
  }
}

/** A setting without which the server does not start. */
export class MissingSetting extends Data.TaggedError("MissingSetting")<{
  readonly path: FieldPath;
  readonly type: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: required by provider type "${this.type}"; set it`;
  }
}

/** A setting because of which the server would reject the whole config. */
export class ForbiddenSetting extends Data.TaggedError("ForbiddenSetting")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly known: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: unknown field for provider type "${this.type}"; allowed fields: ${
      list(this.known)
    }`;
  }
}

/** A setting whose value the server would reject, or would not understand. */
export class SettingInvalid extends Data.TaggedError("SettingInvalid")<{
  readonly path: FieldPath;
  /** What is wrong and how to fix it; never the value. */
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** The server could not use the address. */
export class UnusableEndpoint extends Data.TaggedError("UnusableEndpoint")<{
  readonly path: FieldPath;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** Two entries are the same model to the server. */
export class ModelConflict extends Data.TaggedError("ModelConflict")<{
  readonly path: FieldPath;
  /** The id of both on the server, `<provider>/<model>`. */
  readonly id: string;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: duplicate model "${this.id}"; change the name, provider or providerModelId of one of the ` +
      `entries`;
  }
}

/** A declared provider needs an API that is disabled or has no provider. */
export class MissingApi extends Data.TaggedError("MissingApi")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly missing: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: provider type "${this.type}" requires the API ${
      quotedAll(this.missing)
    }, which is ` +
      `disabled or has no provider; remove it from spec.disabled, or remove this provider`;
  }
}

/** The value of a referenced Secret key would not reach the server unchanged, or is no certificate or key. */
export class SecretValueUnusable extends Data.TaggedError("SecretValueUnusable")<{
  readonly path: FieldPath;
  /** Secret and key, e.g. `pg/dsn`; never the value. */
  readonly key: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: invalid value in Secret key ${this.key}: ${this.detail}`;
  }
}

/** The generated file does not fit into one ConfigMap. */
export class ConfigTooLarge extends Data.TaggedError("ConfigTooLarge")<{
  readonly path: FieldPath;
  readonly bytes: number;
  readonly bytesMax: number;
}> {
  override get message(): string {
    return `The generated config.yaml is at least ${this.bytes} bytes; at most ${this.bytesMax} bytes are supported; remove settings or models`;
  }
}

const andOthers = (count = 0): string => count === 0 ? "" : ` and ${count} other field${count === 1 ? "" : "s"}`;

/** A referenced Secret does not exist. */
export class SecretNotFound extends Data.TaggedError("SecretNotFound")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  /** Further fields that reference it. */
  readonly others?: number;
}> {
  override get message(): string {
    return `Secret "${this.name}" not found in namespace "${this.namespace}"; referenced by ${formatPath(this.path)}${
      andOthers(this.others)
    }`;
  }
}

/** A referenced Secret lacks the key. */
export class SecretKeyMissing extends Data.TaggedError("SecretKeyMissing")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}> {
  override get message(): string {
    return `Key "${this.key}" not found in Secret "${this.namespace}/${this.name}"; referenced by ${
      formatPath(this.path)
    }`;
  }
}

/** A referenced ConfigMap does not exist. */
export class ConfigMapNotFound extends Data.TaggedError("ConfigMapNotFound")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  /** Further fields that reference it. */
  readonly others?: number;
}> {
  override get message(): string {
    return `ConfigMap "${this.name}" not found in namespace "${this.namespace}"; referenced by ${
      formatPath(this.path)
    }${andOthers(this.others)}`;
  }
}

/** A referenced ConfigMap lacks the key. */
export class ConfigMapKeyMissing extends Data.TaggedError("ConfigMapKeyMissing")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}> {
  override get message(): string {
    return `Key "${this.key}" not found in ConfigMap "${this.namespace}/${this.name}"; referenced by ${
      formatPath(this.path)
    }`;
  }
}

/** The resource references too many Secrets and ConfigMaps. */
export class TooManyReferences extends Data.TaggedError("TooManyReferences")<{
  readonly path: FieldPath;
  readonly count: number;
  readonly max: number;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: references ${this.count} Secrets and ConfigMaps; at most ${this.max} are supported, ` +
      `so put several keys into one Secret`;
  }
}

/** The Secrets or ConfigMaps that the resource uses are too large. */
export class ReferenceTooLarge extends Data.TaggedError("ReferenceTooLarge")<{
  readonly path: FieldPath;
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  readonly namespace: string;
  readonly bytesMax: number;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: ${this.kind} "${this.name}" in namespace "${this.namespace}" is too large; the keys ` +
      `that this resource uses of its ${this.kind}s may have at most ${this.bytesMax} bytes in total`;
  }
}

/** The user-provided config is not valid. */
export class OverrideConfigInvalid extends Data.TaggedError("OverrideConfigInvalid")<{
  readonly path: FieldPath;
  /** ConfigMap and key, e.g. `my-config/config.yaml`. */
  readonly key: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.key} is not a valid Llama Stack config: ${this.detail}`;
  }
}

/** The bundle of certificates cannot be used. */
export class CaBundleInvalid extends Data.TaggedError("CaBundleInvalid")<{
  readonly path: FieldPath;
  /** ConfigMap and key. */
  readonly key: string;
  readonly detail: string;
  /** The resource names no bundle; the one that is distributed to its namespace counts. */
  readonly isOfNamespace?: boolean;
}> {
  override get message(): string {
    const found = `${formatPath(this.path)}: invalid certificates in ${this.key}: ${this.detail}`;
    return this.isOfNamespace !== true ? found : (
      `${found}; the field is not set, so that the server trusts this ConfigMap of its namespace: correct it there, name ` +
      "a bundle in the field, or disable it with the setting namespaceCaBundle: Ignore of the operator"
    );
  }
}

/** An edit would replace a server that another operator rolled out by an older one, which nobody asked for. */
export class OlderServer extends Data.TaggedError("OlderServer")<{
  readonly path: FieldPath;
  readonly distribution: string;
  /** The running server and its image. */
  readonly running: string;
  readonly image: string;
  /** The server of the distribution, and its version alone. */
  readonly ours: string;
  readonly version: string;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: this operator's "${this.distribution}" is ${this.ours}, but ${this.running} is running. To keep ` +
      `it, set spec.distribution.image to "${this.image}"; to change to the older server, set ` +
      `spec.distribution.serverVersion to "${this.version}"`;
  }
}

/** An object with a required name is not managed by this resource. */
export class OwnershipConflict extends Data.TaggedError("OwnershipConflict")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** Its controller, e.g. `Deployment other`; undefined when it has none. */
  readonly owner: string | undefined;
  /** It has the operator's labels, and yet it is not what the operator would write: its content, or the privileges of its pods. */
  readonly differs?: "content" | "privileges";
}> {
  override get message(): string {
    if (this.differs === "content") {
      return `${this.kind} "${this.name}" already exists with another content than the config that its name is a digest of, ` +
        "so that the server is not started on it. It is left unchanged; delete it, and the operator creates it again";
    }
    if (this.differs === "privileges") {
      return `${this.kind} "${this.name}" already exists without an owner, and its pod template has more privileges ` +
        "than this resource allows: access to the node, privileges, or another ServiceAccount. It is left unchanged; delete it, or " +
        "rename this resource";
    }
    return `${this.kind} "${this.name}" already exists and ${
      this.owner === undefined ? "is not managed by this resource" : `belongs to ${this.owner}`
    }. It is left unchanged; rename this resource, or delete the object if it is unused`;
  }
}

/** An object with a name that the resource needs is being deleted, or belongs to a deleted resource of the same name. */
export class DeletionPending extends Data.TaggedError("DeletionPending")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
}> {
  override get message(): string {
    return `${this.kind} "${this.name}" of a deleted resource still exists; waiting until Kubernetes has removed it`;
  }
}

/** The API server, or a webhook that it calls, fails to process a write. */
export class WriteFailed extends Data.TaggedError("WriteFailed")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** Status code and message of the API server. */
  readonly detail: string;
  /** Whether the Deployment needs it, so that it is not written either. */
  readonly blocks: boolean;
}> {
  override get message(): string {
    return `Failed to write ${this.kind} "${this.name}": ${this.detail}`;
  }
}

/** The new server would not find data that the current one has stored. */
export class ServerFamilyChangeLosesData extends Data.TaggedError("ServerFamilyChangeLosesData")<{
  readonly path: FieldPath;
  /** Servers for people, e.g. `Llama Stack 0.7`. */
  readonly from: string;
  readonly to: string;
  readonly losses: ReadonlyArray<string>;
  /** The annotation that accepts the change, as a line of YAML. */
  readonly accept: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: changing from ${this.from} to ${this.to} would lose: ${
      this.losses.join("; ")
    }. ` +
      `The running server is unchanged. Keep the distribution, create a new resource for the new server, or accept the ` +
      `loss with the annotation ${this.accept}`;
  }
}

/** A stored model or shield was changed in a way that the server rejects when it starts. */
export class RegistryConflict extends Data.TaggedError("RegistryConflict")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly id: string;
  /** What differs, under the names of the resource. */
  readonly changed: ReadonlyArray<string>;
  /** What to do, as an imperative that ends the message. */
  readonly way: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the server has stored ${this.kind} "${this.id}" with another ${
      this.changed.join(" and ")
    } and would fail to start; ${this.way}, or revert the change`;
  }
}

/** The API server, or a webhook that it calls, does not let the operator delete an object that the resource no longer requires. */
export class DeletionRefused extends Data.TaggedError("DeletionRefused")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** Status code and message of the API server. */
  readonly detail: string;
}> {
  /** The Deployment does not need it to be gone. */
  readonly blocks = false;

  override get message(): string {
    return `The API server does not let the operator delete ${this.kind} "${this.name}", which the resource no longer ` +
      `requires: ${this.detail}`;
  }
}

/** A write that failed. */
export type Unwritten = DeletionRefused | ObjectRefused | WriteFailed;

/** The API server rejects an object: quota, admission, an immutable field. */
export class ObjectRefused extends Data.TaggedError("ObjectRefused")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** The message of the API server. */
  readonly detail: string;
  /** Fields of the resource that the rejected ones of the object were taken from. */
  readonly setBy: ReadonlyArray<string>;
  /** Whether the Deployment needs it, so that it is not written either. */
  readonly blocks: boolean;
}> {
  override get message(): string {
    const fields = this.setBy.length === 0 ? "" : ` because of ${this.setBy.join(", ")}`;
    return `The API server rejected ${this.kind} "${this.name}"${fields}: ${this.detail}`;
  }
}
